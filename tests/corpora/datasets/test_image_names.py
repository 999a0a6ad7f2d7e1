"""Finding images by what files call them."""

import pytest

from corpora.datasets.image_names import ImageNames, Named, image_ids_in

OF_CATS = Named("cat", "key1", "cats/001.jpg")
OF_DOGS = Named("dog", "key2", "dogs/001.jpg")


@pytest.mark.parametrize(
    "text", ["dogs/001.jpg", "https://images.example/dogs/001.jpg", "other/cats/002.jpg"]
)
def test_a_name_with_a_folder_means_no_file_in_another_folder(text):
    assert ImageNames([OF_CATS]).find(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "cats/001.jpg",
        "001.jpg",
        "001",
        "./cats/001.jpg",
        "https://images.example/a/cats/001.jpg?x=1",
    ],
)
def test_a_file_in_a_folder_is_found_by_its_path_and_by_its_own_name(text):
    assert ImageNames([OF_CATS]).find(text) == "cat"


def test_of_files_with_one_name_a_path_means_one_and_the_name_none():
    names = ImageNames([OF_CATS, OF_DOGS])

    assert names.find("dogs/001.jpg") == "dog"
    assert names.find("001.jpg") is None
    assert names.is_ambiguous("001.jpg")
    assert not names.is_ambiguous("birds/002.jpg")


def test_a_file_without_a_folder_is_found_wherever_a_file_has_it():
    assert (
        ImageNames([Named("cat", "key1", "001.jpg")]).find("https://images.example/001.jpg")
        == "cat"
    )


@pytest.mark.parametrize(
    ("file_name", "text", "found"),
    [
        ("000004.jpg", "000005.jpg", None),
        ("000004.jpg", "000004.jpg", "five"),
        ("000004.jpg", "5", "five"),
        ("000004.jpg", "https://images.example/5.jpg", "five"),
        ("COCO_val2014_000005.jpg", "000005.jpg", "five"),
        ("", "000005.jpg", "five"),
    ],
)
def test_a_padded_number_is_an_id_unless_the_image_has_another_in_its_name(file_name, text, found):
    assert ImageNames([Named("five", "5", file_name)]).find(text) == found


@pytest.mark.parametrize(
    ("folder", "found"), [("", "cat"), ("my%20trip/", "cat"), ("other%20trip/", None)]
)
def test_an_address_with_escapes_is_that_of_a_file_without(folder, found):
    names = ImageNames([Named("cat", "key1", "my trip/a cat.jpg")])

    assert names.find(f"https://images.example/{folder}a%20cat.jpg") == found


@pytest.mark.parametrize("file_name", [" a cat.jpg", "a cat.jpg ", "my trip/a cat.jpg "])
def test_a_file_whose_name_has_blanks_at_its_ends_is_found_without_them(file_name):
    names = ImageNames([Named("cat", "key1", file_name)])

    assert names.find(file_name.strip()) == names.find(file_name) == "cat"


def test_a_number_sign_in_the_name_of_a_file_belongs_to_it():
    names = ImageNames([Named("first", "key1", "scans/page #1.jpg")])

    assert names.find("page #1.jpg") == "first"
    assert names.find("page #2.jpg") is None


def test_an_id_with_an_unusual_separator_in_it_is_one_id():
    assert image_ids_in("ids.txt", "a\u2028b.jpg\r\n\n c.jpg \rd\x85e.jpg\n") == [
        "a\u2028b.jpg",
        "c.jpg",
        "d\x85e.jpg",
    ]
