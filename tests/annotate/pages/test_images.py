"""The pages of images and selections."""

from html import unescape
from uuid import uuid4

import pytest
from bs4 import BeautifulSoup
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.models import Selection
from annotate.pages.images import browser
from annotate.services import selections
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    SelectionFactory,
    UserFactory,
)
from tests.jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def researcher(client):
    client.force_login(UserFactory(is_staff=True, is_superuser=True))


def text(response, status=200):
    assert response.status_code == status
    return response.content.decode()


def own(name, **fields):
    return ImageFactory(source="OWN", file_name=name, sha256=name, **fields)


def test_strangers_are_asked_to_sign_in(client):
    client.logout()

    for address in ("/images/", "/images/selections/", "/images/selections/new/"):
        assert client.get(address).url == f"/sign-in/?next={address}"


def test_without_images_the_page_says_what_to_do(client):
    assert "No images yet" in text(client.get("/images/"))


def test_images_are_listed_by_their_file_names(client):
    own("trip/صورة.jpg")
    ImageFactory(key="0abc")

    page = text(client.get("/images/"))

    assert "trip/صورة.jpg" in page
    assert "0abc" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("name=BEACH", {"beach.jpg"}),
        ("name=holiday", {"titled.jpg"}),
        ("split=other", {"other.jpg"}),
        ("class=dog", {"dog.jpg"}),
        ("class=cat", set()),
        ("license=none", {"beach.jpg", "titled.jpg", "other.jpg"}),
        ("license=https://creativecommons.org/licenses/by/2.0/", {"dog.jpg"}),
        ("class=dog&name=beach", set()),
    ],
)
def test_images_are_found_by_name_class_split_and_licence(client, query, found):
    own("beach.jpg")
    own("titled.jpg", title="Our Holiday")
    own("other.jpg", split="other")
    dog = own("dog.jpg", license_url="https://creativecommons.org/licenses/by/2.0/")
    BoxFactory(image=dog, object_class=ClassFactory(name="Dog"))
    BoxFactory(image=dog, object_class=ClassFactory(name="Cat"), confidence=0)

    page = text(client.get(f"/images/?{query}"))

    names = {"beach.jpg", "titled.jpg", "other.jpg", "dog.jpg"}
    assert {name for name in names if f'alt="{name}"' in page} == found


@pytest.mark.parametrize("split", ["C-2", "<b>"])
def test_an_unknown_split_is_an_empty_list_and_no_broken_form(client, split):
    own("beach.jpg")

    page = text(client.get(f"/images/?split={split}"))

    assert "There is no split called “" in page
    assert "Select a valid choice" not in page
    assert 'alt="beach.jpg"' not in page


def test_more_images_take_no_more_queries(client, django_assert_num_queries):
    def queries():
        with django_assert_num_queries(7):
            return text(client.get("/images/"))

    for _ in range(2):
        own(f"{ImageFactory.create().key}.jpg")
    queries()
    for image in ImageFactory.create_batch(60):
        BoxFactory(image=image)
    assert "Next →" in queries()


def test_an_image_has_its_boxes_and_facts(client):
    image = own("a.jpg", author="Ada", license_url="https://creativecommons.org/licenses/by/4.0/")
    BoxFactory(image=image, object_class=ClassFactory(name="Dog"))
    SelectionFactory(name="trip", images=[image])

    page = text(client.get(f"/images/{image.pk}/"))

    for part in ("a.jpg", "Ada", "CC BY 4.0", "Dog", "<path", "trip", "1,024 × 768"):
        assert part in page


def test_there_is_no_page_of_an_image_that_does_not_exist(client):
    assert client.get("/images/123456/").status_code == 404


# Selections


def tick(client, shown, ticked, **fields):
    data = {"shown": [i.pk for i in shown], "image": [i.pk for i in ticked], "back": "/images/"}
    return client.post("/images/pick/", data | fields)


def make(client, **fields):
    values = {"name": "trip", "procedure": "all", "split": "validation", **fields}
    return client.post("/images/selections/new/", values)


def test_images_ticked_on_several_pages_make_a_selection(client):
    first, second, third = ImageFactory.create_batch(3)
    tick(client, [first, second], [second])
    tick(client, [third], [third])

    answer = make(client, procedure="picked")

    assert answer.url == "/images/selections/of/trip/"
    assert list(Selection.objects.get().selected.values_list("image", flat=True)) == [
        second.pk,
        third.pk,
    ]
    assert "picked_images" not in client.session


def test_a_tick_that_is_removed_unpicks(client):
    first, second = ImageFactory.create_batch(2)
    tick(client, [first, second], [first, second])

    tick(client, [first, second], [second])

    assert client.session["picked_images"] == [second.pk]


def test_all_can_be_unpicked(client):
    image = ImageFactory()
    tick(client, [image], [image])

    tick(client, [], [], clear="1")

    assert "picked_images" not in client.session


def test_unknown_images_are_not_picked(client):
    image = ImageFactory()

    client.post("/images/pick/", {"image": ["x", "-1", "9" * 30, str(image.pk + 1000), "²"]})

    assert client.session.get("picked_images", []) == []


def test_no_more_images_are_picked_than_a_session_can_hold(client, monkeypatch):
    monkeypatch.setattr(browser, "MOST", 2)
    images = ImageFactory.create_batch(3)

    page = client.post(
        "/images/pick/", {"image": [image.pk for image in images], "back": "/images/"}, follow=True
    )

    assert "At most 2 images can be picked by hand." in text(page)


@pytest.mark.parametrize(
    "back", ["https://elsewhere.example/", "//elsewhere.example/", "account:tokens", "a b"]
)
def test_picking_leads_back_to_a_page_of_this_site_only(client, back):
    assert tick(client, [], [], back=back).url == "/images/"


def test_a_double_click_leads_to_the_selection_that_was_made(client):
    ImageFactory()
    key = str(uuid4())

    answers = [make(client, form_key=key) for _ in range(2)]

    assert [answer.url for answer in answers] == ["/images/selections/of/trip/"] * 2


def test_the_images_of_a_list_make_a_selection(client):
    ImageFactory(key="a")
    ImageFactory(key="b")
    listed = SimpleUploadedFile("list.txt", b"b\nx\n")

    answer = client.post(
        "/images/selections/new/",
        {"name": "trip", "procedure": "listed", "split": "validation", "ids": listed},
        follow=True,
    )

    assert list(Selection.objects.get().images.values_list("key", flat=True)) == ["b"]
    said = unescape(answer.content.decode())
    assert "1 id is not in the split 'validation': 'x'." in said
    assert "by a list of image ids" in said


def test_a_selection_of_all_images_is_made_once(client):
    ImageFactory.create_batch(2)

    assert make(client).status_code == 302
    assert make(client).status_code == 302

    assert Selection.objects.get().count == 2


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": ""}, "This field is required."),
        ({"split": "none"}, "Select a valid choice"),
        ({"split": ""}, "Choose a split."),
        ({"procedure": "random"}, "Say how many images."),
        ({"procedure": "random", "count": "9"}, "which has 2"),
        ({"procedure": "random", "count": "0"}, "greater than or equal to 1"),
        ({"procedure": "nocaps", "count": "9"}, "class hierarchy"),
        ({"procedure": "picked"}, "Select a valid choice"),
        ({"procedure": "listed"}, "Choose a file with the list."),
        ({"procedure": "magic"}, "Select a valid choice"),
    ],
)
def test_a_wrong_form_says_what_is_wrong(client, fields, reason):
    ImageFactory.create_batch(2)

    assert reason in text(make(client, **fields), status=422)
    assert not Selection.objects.exists()


def test_any_name_is_accepted_and_gives_the_address(client):
    ImageFactory()

    make(client, name="My trip: day 1/2")
    make(client, name="旅行", procedure="random", count="1")

    assert {*Selection.objects.values_list("name", flat=True)} == {"my-trip-day-1-2", "selection"}


def test_a_name_is_proposed(client):
    ImageFactory(split="alps")
    SelectionFactory(name="alps-some")

    page = BeautifulSoup(client.get("/images/selections/new/").content, "html.parser")

    assert page.find(id="id_name")["value"] == "alps-some-2"


@pytest.mark.parametrize(
    ("query", "button"),
    [
        ("?split=alps", "New campaign with these 2 images"),
        ("?split=sea", "New campaign with this image"),
        ("?split=alps&name=x", None),
        ("", None),
    ],
)
def test_all_images_of_a_split_begin_a_campaign(client, query, button):
    ImageFactory.create_batch(2, split="alps", file_name="x.jpg")
    ImageFactory(split="sea")

    page = BeautifulSoup(client.get(f"/images/{query}").content, "html.parser")

    form = page.find("form", action="/new/")
    assert (form and form.find("button").text) == button


def test_a_taken_name_is_refused(client):
    ImageFactory()
    SelectionFactory(name="trip")

    assert "already exists" in text(make(client), status=422)


def test_a_random_selection_is_shown_with_its_seed(client):
    ImageFactory.create_batch(5)

    page = text(client.get(make(client, procedure="random", count=3, seed=7).url))

    assert "3 of 5 images" in page
    assert "seed of the random choice: 7" in page


def image_with(classes, **fields):
    image = ImageFactory(source="COCO", **fields)
    for object_class in classes:
        BoxFactory(image=image, object_class=object_class)
    return image


def test_nocaps_procedure_is_shown_with_its_pools_and_what_it_leaves_out(client):
    classes = ClassFactory.create_batch(7)
    for number in (1, 2, 2, 3, 7):
        image_with(classes[:number])
    image_with(classes[:2], rotation=90)

    pools = text(client.get("/images/selections/pools/?split=validation"))
    assert make(client, procedure="nocaps", count=2).url.startswith("/jobs/")
    (job,) = run_jobs()
    made = client.get(job.result_url + "?pools=1")

    assert "4 can be chosen" in pools
    found = {pool.title: (pool.images, pool.chosen) for pool in made.context["pools"].pools}
    assert found["2 classes"] == (2, 1)
    assert found["3 classes"] == (1, 0)
    assert found["more than 6 classes"] == (1, 1)
    assert (made.context["pools"].poor, made.context["pools"].turned) == (1, 1)


def test_a_selection_names_its_campaigns(client):
    selection = SelectionFactory(name="trip", images=2)
    CampaignFactory(slug="first-trip", selection=selection)

    assert "first-trip" in text(client.get("/images/selections/of/trip/"))
    assert "trip" in text(client.get("/images/selections/"))


def test_a_large_selection_is_shown_in_parts(client, django_assert_max_num_queries):
    SelectionFactory(name="trip", images=60)

    with django_assert_max_num_queries(8):
        page = text(client.get("/images/selections/of/trip/"))

    assert page.count('class="thumbnail"') == 48
    assert "Next →" in page


def test_selections_are_listed_with_how_they_were_made(client):
    ImageFactory()
    selections.select_all(name="every", split="validation", at=NOON)

    assert "all images of the split" in text(client.get("/images/selections/"))
