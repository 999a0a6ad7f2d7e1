"""The stored numbers of the page *Pools* agree with the boxes after every import."""

import json

import pytest

from annotate.models import Image, SplitPools
from annotate.queries.images import RICH, count_by_classes, pools_of
from annotate.services import imports
from annotate.services.selections import ignored_names
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER
from tests.factories import BoxFactory, ClassFactory, ImageFactory

pytestmark = pytest.mark.django_db

SPLIT = "validation"
ANIMALS = [["/m/0bt9lr", "Dog"], ["/m/01yrx", "Cat"], ["/m/0ch", "Head"], ["/m/0wh", "Wheel"]]


def stored(split=SPLIT):
    """The stored numbers, which are those of the boxes."""
    row = SplitPools.objects.get(split=split)
    found = {int(n): number for n, number in row.by_classes.items()}
    images = Image.objects.filter(split=split)
    assert row.ignored_classes == ignored_names()
    assert found == count_by_classes(images, ignored_names())
    return {n: number for n, number in found.items() if number}


@pytest.fixture
def classes(write_csv):
    """Imports classes under these names."""
    return lambda rows: imports.import_classes(path=write_csv("classes.csv", [], rows))


@pytest.fixture
def images(write_csv, image_row):
    """Imports two upright images and others with these rotations."""

    def run(*rotations):
        rows = [image_row("0001"), image_row("0002")]
        rows += [image_row(f"1{n:03}", Rotation=given) for n, given in enumerate(rotations)]
        path = write_csv("images.csv", IMAGE_HEADER, rows)
        return imports.import_images(path=path, split=SPLIT)

    return run


@pytest.fixture
def boxes(write_csv, box_row):
    """Imports a box for each of these pairs of an image and a class."""

    def run(*pairs):
        path = write_csv("boxes.csv", BOX_HEADER, [box_row(*pair) for pair in pairs])
        return imports.import_boxes(path=path, split=SPLIT)

    return run


@pytest.fixture
def with_two_pools(classes, images, boxes):
    classes(ANIMALS)
    images("90.0", "")
    boxes(
        *(("0001", label) for label, _ in ANIMALS[:3]),
        *(("0002", label) for label, _ in ANIMALS[:2]),
        *(("1000", label) for label, _ in ANIMALS[:2]),
    )


@pytest.mark.usefixtures("with_two_pools")
def test_boxes_are_counted_when_they_are_imported(boxes):
    assert stored() == {2: 1, 3: 1}

    boxes(*(("0002", label) for label, _ in ANIMALS))

    assert stored() == {3: 1, 4: 1}


@pytest.mark.usefixtures("with_two_pools")
def test_an_image_that_turns_out_to_be_upright_is_counted(images):
    images("0.0")

    assert stored() == {2: 2, 3: 1}


@pytest.mark.usefixtures("with_two_pools")
def test_a_hierarchy_with_new_parts_changes_the_numbers(tmp_path):
    part = {"LabelName": "/m/0ch"}
    root = {"LabelName": "/m/0bl9f", "Subcategory": [{"LabelName": "/m/0bt9lr", "Part": [part]}]}
    path = tmp_path / "hierarchy.json"
    path.write_text(json.dumps(root))

    imports.import_hierarchy(path=path)

    assert stored() == {2: 2}


@pytest.mark.usefixtures("with_two_pools")
def test_a_class_with_a_new_name_changes_the_numbers(classes):
    classes([*ANIMALS[:2], ["/m/0ch", "Auto part"]])

    assert stored() == {2: 2}


def test_the_boxes_of_a_coco_file_are_counted(tmp_path):
    edges = [10, 10, 20, 20]
    content = {
        "images": [{"id": 1, "width": 64, "height": 48, "file_name": "1.jpg"}],
        "categories": [{"id": n, "name": f"thing {n}"} for n in range(1, 10)],
        "annotations": [
            {"id": n, "image_id": 1, "category_id": n, "bbox": edges} for n in range(1, 10)
        ],
    }
    path = tmp_path / "instances.json"
    path.write_text(json.dumps(content))

    imports.import_coco(path=path, split="val2017")

    assert stored("val2017") == {RICH: 1}


@pytest.mark.usefixtures("with_two_pools")
def test_an_import_that_changes_nothing_counts_what_was_never_counted(boxes):
    SplitPools.objects.all().delete()

    boxes(("0001", "/m/0bt9lr"))

    assert stored() == {2: 1, 3: 1}


def test_every_import_of_a_dataset_is_tried_above():
    assert {name for name in vars(imports) if name.startswith("import_")} == {
        "import_classes",
        "import_hierarchy",
        "import_images",
        "import_boxes",
        "import_coco",
    }


@pytest.mark.usefixtures("with_two_pools")
def test_the_page_reads_the_stored_numbers(django_assert_num_queries):
    ignored = ignored_names()

    with django_assert_num_queries(2):
        found = pools_of(SPLIT, Image.objects.all(), ignored)

    assert [pool.images for pool in found.pools] == [1, 1, 0, 0, 0, 0]
    assert (found.images, found.available, found.turned, found.poor) == (4, 2, 2, 0)


@pytest.mark.usefixtures("with_two_pools")
def test_the_page_counts_for_itself_if_other_classes_are_ignored():
    found = pools_of(SPLIT, Image.objects.all(), [*ignored_names(), "Dog"])

    assert [pool.images for pool in found.pools] == [1, 0, 0, 0, 0, 0]


@pytest.mark.usefixtures("with_two_pools")
def test_numbers_of_a_split_are_not_shown_to_those_who_see_none_of_its_images():
    found = pools_of(SPLIT, Image.objects.none(), ignored_names())

    assert (found.images, found.available) == (0, 0)


def test_own_files_are_counted_for_the_page():
    image = ImageFactory(source="OWN", split="trip")
    for object_class in ClassFactory.create_batch(2):
        BoxFactory(image=image, object_class=object_class)

    found = pools_of("trip", Image.objects.all(), ignored_names())

    assert found.available == 1
    assert not SplitPools.objects.exists()


@pytest.mark.parametrize(("query", "said"), [("", "No split is chosen."), ("?split=x", "no split")])
def test_a_page_without_pools_leads_to_the_splits(admin_client, query, said):
    page = admin_client.get(f"/images/selections/pools/{query}").content.decode()

    assert said in page
    assert 'href="/images/selections/new/"' in page
