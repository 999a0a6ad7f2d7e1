"""Generated scenes: their files match what was drawn."""

import csv
import hashlib
import random
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from PIL import Image as Picture
from PIL import ImageChops, ImageDraw, ImageStat

from annotate.models import Box, Image
from annotate.queries.keywords import hidden_classes, keywords
from simulation.scenes.dataset import HIDDEN, LABELS, Dataset, draw_dataset, lying
from simulation.scenes.drawings import DRAWINGS, FIR
from simulation.scenes.pen import Pen, Rect
from simulation.scenes.scene import draw_scene


def drawn(folder: Path, *, count: int, seed: int = 1) -> Dataset:
    dataset = Dataset(folder)
    assert len(list(draw_dataset(dataset, count=count, seed=seed, split="drawn"))) == count
    return dataset


def digest(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


@pytest.mark.parametrize("name", [*sorted(DRAWINGS), "Tree in the snow"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_drawing_fills_its_box_to_each_edge(name, mirrored):
    drawing = DRAWINGS.get(name, FIR)
    background = (1, 2, 3)
    image = Picture.new("RGB", (1200, 500), background)
    height = 300
    frame = Rect(100, 100, 100 + height * drawing.aspect, 100 + height)

    pen = Pen(ImageDraw.Draw(image), frame, mirrored=mirrored)
    drawing.draw(pen, random.Random(4))

    plain = Picture.new("RGB", image.size, background)
    found = ImageChops.difference(image, plain).getbbox()
    assert pen.extent is not None
    expected = (pen.extent.left, pen.extent.top, pen.extent.right, pen.extent.bottom)
    assert found == pytest.approx(expected, abs=3)


def test_the_same_seed_draws_the_same_files(tmp_path):
    first = drawn(tmp_path / "first", count=4, seed=9)
    second = drawn(tmp_path / "second", count=4, seed=9)

    assert len(list(first.files.iterdir())) == len(list(second.files.iterdir())) == 4
    assert digest(tmp_path / "first") == digest(tmp_path / "second")


def test_another_seed_draws_other_scenes(tmp_path):
    first = drawn(tmp_path / "first", count=2, seed=1)
    second = drawn(tmp_path / "second", count=2, seed=2)

    assert not set(digest(first.files).values()) & set(digest(second.files).values())


def test_scenes_have_between_one_and_nine_classes_and_boxes_inside():
    scenes = [draw_scene(random.Random(f"scene {number}")) for number in range(40)]

    counts = [len({box.name for box in scene.boxes} - HIDDEN) for scene in scenes]
    assert min(counts) >= 1
    assert max(counts) >= 6
    for box in (box for scene in scenes for box in scene.boxes):
        assert box.name in LABELS
        assert 0 <= box.left < box.right <= 1
        assert 0 <= box.top < box.bottom <= 1


def test_a_scene_on_its_side_has_its_boxes_on_their_side():
    scene = draw_scene(random.Random(5))

    turned = lying(scene)

    assert turned.image.size == scene.image.size[::-1]
    before, after = scene.boxes[0], turned.boxes[0]
    patch = _cut(scene.image, before).rotate(90, expand=True)
    assert _cut(turned.image, after).size == pytest.approx(patch.size, abs=1)
    middle = patch.getpixel((patch.width // 2, patch.height // 2))
    found = _cut(turned.image, after)
    assert found.getpixel((found.width // 2, found.height // 2)) == pytest.approx(middle, abs=40)


def test_the_rotation_of_a_scene_on_its_side_makes_it_upright(tmp_path, monkeypatch):
    upright = draw_scene(random.Random(5))
    monkeypatch.setattr("simulation.scenes.dataset.draw_scene", lambda _: upright)
    dataset = drawn(tmp_path, count=19)
    *_, row = csv.DictReader(StringIO(dataset.images.read_text(encoding="utf-8")))

    # Open Images states the degrees anticlockwise by which to turn the file.
    with Picture.open(dataset.files / f"{row['ImageID']}.jpg") as file:
        turned = file.rotate(int(row["Rotation"]), expand=True)

    assert row["Rotation"] not in {"", "0"}
    assert max(ImageStat.Stat(ImageChops.difference(turned, upright.image)).mean) < 3


def _cut(image, box):
    return image.crop(
        (
            round(box.left * image.width),
            round(box.top * image.height),
            round(box.right * image.width),
            round(box.bottom * image.height),
        )
    )


def test_names_and_identifiers_are_those_of_open_images(shared_data):
    path = shared_data / "open_images" / "class-descriptions-boxable.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        official = {name: label for label, name in csv.reader(stream)}

    assert {name: official[name] for name in LABELS} == LABELS


@pytest.mark.django_db
def test_a_drawn_dataset_is_imported_selected_and_primed(tmp_path):
    dataset = drawn(tmp_path / "drawn", count=24)

    call_command(
        "import_openimages",
        classes=dataset.classes,
        hierarchy=dataset.hierarchy,
        images=dataset.images,
        boxes=dataset.boxes,
        files=dataset.files,
        split="drawn",
        stdout=StringIO(),
    )
    call_command("select_images", split="drawn", count=12, name="some", seed=1, stdout=StringIO())

    assert Image.objects.filter(split="drawn").exclude(file="").count() == 24
    assert {row.name for row in hidden_classes()} == HIDDEN
    assert Box.objects.filter(object_class__name="Human face").exists()
    chosen = list(Image.objects.filter(selections__name="some"))
    assert len(chosen) == 12
    assert all(image.rotation == 0 for image in chosen)
    assert all(len(keywords(image)) >= 2 for image in chosen)
    assert not {name for image in chosen for name in keywords(image)} & HIDDEN
