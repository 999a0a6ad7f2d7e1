"""Importing COCO captions files as caption sets."""

import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from accounts.services.teams import first_team
from annotate.models import CaptionSet
from corpora.datasets.coco import read_captions
from corpora.language.tokens import pieces, tokens
from tests.factories import NOON, ImageFactory
from tests.races import while_open

pytestmark = pytest.mark.django_db


@pytest.fixture
def write(tmp_path):
    """Write a captions file with images `(id, open_images_id)` and captions `(id, image_id,
    caption)`."""

    def write(images, captions):
        path = tmp_path / "captions.json"
        content = {
            "images": [
                {"id": number} | ({"open_images_id": key} if key else {}) for number, key in images
            ],
            "annotations": [
                {"id": number, "image_id": image, "caption": text}
                for number, image, text in captions
            ],
        }
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


def take_in(path, name="sentences"):
    call_command("import_coco", path, split="validation", captions=name)


def test_captions_become_a_set_in_the_files_order(write, capsys):
    image = ImageFactory(source="COCO", key="42")

    take_in(write([(42, None)], [(7, 42, " A dog  runs. "), (3, 42, "A cat sleeps.")]))

    found = CaptionSet.objects.get(name="sentences").captions
    assert list(found.values_list("number", "annotation_id", "text", "image")) == [
        (1, 7, "A dog runs.", image.pk),
        (2, 3, "A cat sleeps.", image.pk),
    ]
    assert capsys.readouterr().out == "2 captions in the set sentences.\n"


@pytest.fixture
def own():
    """Own images of the first team: trip/1.jpg and home/2.jpg."""
    return [
        ImageFactory(
            source="OWN", key=f"k{n}", file_name=name, sha256=name, team=first_team(at=NOON)
        )
        for n, name in enumerate(("trip/1.jpg", "home/2.jpg"))
    ]


def test_own_images_go_by_their_file_names_and_not_by_the_numbers_of_the_file(tmp_path, own):
    path = tmp_path / "captions.json"
    images = [{"id": 1, "file_name": "home/2.jpg"}, {"id": 2, "file_name": "trip/1.jpg"}]
    captions = [{"id": n, "image_id": n, "caption": f"Of image {n}."} for n in (1, 2)]
    path.write_text(json.dumps({"images": images, "annotations": captions}))

    take_in(path)

    found = CaptionSet.objects.get().captions.values_list("image__file_name", "text")
    assert set(found) == {("home/2.jpg", "Of image 1."), ("trip/1.jpg", "Of image 2.")}


def test_results_for_own_images_go_by_their_file_names(tmp_path, own):
    path = tmp_path / "results.json"
    names = ["home/2.jpg", "1", "unknown.jpg"]
    path.write_text(json.dumps([{"image_id": name, "caption": "A dog."} for name in names]))

    call_command("import_results", path, name="model", split="validation")

    found = CaptionSet.objects.get().captions.order_by("number")
    assert [caption.image for caption in found] == [own[1], own[0]]


@pytest.mark.parametrize(
    ("tags", "language"),
    [
        (["ar", "ar"], "ar"),
        (["ar", "en"], ""),
        (["ar", None], ""),
        (["Arabic"] * 2, ""),
        (["PT-br", "pt-BR"], "pt-BR"),
        (["ZH-hant-hk", "zh-Hant-HK"], "zh-Hant-HK"),
    ],
)
def test_a_set_has_the_language_that_all_its_captions_name(tmp_path, own, tags, language):
    path = tmp_path / "results.json"
    rows = [{"image_id": "home/2.jpg", "caption": "قط", "language": tag} for tag in tags]
    path.write_text(json.dumps(rows))

    call_command("import_results", path, name="model", split="validation")

    assert CaptionSet.objects.get().language == language


def test_images_go_by_their_open_images_id_where_there_is_one(write):
    image = ImageFactory(key="000a1249af2bc5f0")

    take_in(write([(0, "000a1249af2bc5f0")], [(0, 0, "A dog runs.")]))

    assert CaptionSet.objects.get().captions.get().image == image


def test_captions_of_images_that_are_not_here_are_skipped_and_counted(write, capsys):
    ImageFactory(source="COCO", key="1")

    take_in(write([(1, None), (2, None)], [(1, 1, "A dog."), (2, 2, "A cat.")]))

    assert "1 caption in the set sentences, 1 of unknown images skipped." in capsys.readouterr().out


def test_a_set_is_taken_in_once(write):
    ImageFactory(source="COCO", key="1")
    path = write([(1, None)], [(1, 1, "A dog.")])
    take_in(path)

    with pytest.raises(CommandError, match="already"):
        take_in(path)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_name_that_another_import_takes_meanwhile_is_refused(write):
    ImageFactory(source="COCO", key="1", team=first_team(at=NOON))
    path = write([(1, None)], [(1, 1, "A dog runs.")])

    with pytest.raises(CommandError, match="already exists"):
        while_open(lambda: take_in(path), lambda: take_in(path))

    assert CaptionSet.objects.get().captions.count() == 1


@pytest.mark.parametrize(
    ("images", "captions", "message"),
    [
        ([(1, None)], [(1, 9, "A dog.")], "there is no image 9"),
        ([(1, None)], [(1, 1, "  ")], "caption '  ' is not a text"),
        ([(1, None)], [(1, 1, "\u200b\u200d")], "caption of image 1 has no character that"),
        ([(1, None)], [(1, 1, "A dog."), (1, 1, "A cat.")], "the id was used before"),
        ([(1, "a"), (1, "b")], [], "the id was used before"),
        ([(1, 5)], [], "open_images_id 5 is not a text"),
        ([(2, None)], [(1, 2, "A dog.")], "No caption in"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_fault(write, images, captions, message):
    ImageFactory(source="COCO", key="1")

    with pytest.raises(CommandError, match=message):
        take_in(write(images, captions))

    assert not CaptionSet.objects.exists()


def test_captions_of_regions_are_refused(write):
    path = write([(1, None)], [(1, 1, "A dog.")])
    content = json.loads(path.read_text(encoding="utf-8"))
    content["annotations"][0]["bbox"] = [0, 0, 5, 5]
    path.write_text(json.dumps(content), encoding="utf-8")

    with pytest.raises(CommandError, match="describes a region, not the whole image"):
        take_in(path)


def test_a_name_that_is_not_a_name_is_refused(write):
    with pytest.raises(CommandError, match="cannot be the name of a caption set"):
        take_in(write([(1, None)], [(1, 1, "A dog.")]), name="my set")


def test_a_split_without_images_says_so(write):
    with pytest.raises(CommandError, match="has no images"):
        take_in(write([(1, None)], [(1, 1, "A dog.")]))


def test_the_published_captions_of_nocaps_can_be_read_word_by_word(shared_data):
    captions = read_captions(shared_data / "nocaps" / "nocaps_val_2250_captions.json")

    assert len(captions) == 22_500
    assert len({caption.image for caption in captions}) == 2_250
    assert all(tokens(caption.text) for caption in captions)
    assert all(
        "".join(piece for piece, _ in pieces(caption.text)) == caption.text for caption in captions
    )
