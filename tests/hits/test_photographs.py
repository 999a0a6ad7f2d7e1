"""Photographs, and the text around them: imported by commands, captioned on the task page."""

import csv
import json
from urllib.parse import urlencode, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command
from PIL import Image as Picture

from annotate.kinds import KINDS
from annotate.models import Campaign, Image
from hits.models import TaskPage
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.releasing import release_campaign
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER
from tests.factories import NOON, HitFactory, HitTypeFactory, ResponseFactory, UserFactory
from tests.hits.opened_pages import address

pytestmark = pytest.mark.django_db


# What is in each photograph, in names of Open Images.
PHOTOGRAPHS = {
    "astronaut": ["Woman", "Flag", "Rocket"],
    "camera": ["Man", "Camera"],
    "chelsea": ["Cat", "Animal"],
    "clock_motion": ["Clock", "Wall clock"],
    "coffee": ["Coffee cup", "Spoon", "Saucer"],
    "rocket": ["Rocket", "Tower"],
}
SIZES = {"astronaut": (512, 512), "chelsea": (451, 300), "rocket": (640, 427)}
CAMPAIGN = """
name = "photographs"
selection = "photographs"
references = 1
baselines = 1
budget = "10.00"
"""


def write_metadata(folder, labels):
    """Write the photographs' metadata and boxes in the official format; return the paths."""
    images = [
        {"ImageID": key, "Subset": "test", "Author": "As named", "Rotation": "0.0"}
        for key in PHOTOGRAPHS
    ]
    boxes = [
        dict.fromkeys(BOX_HEADER, "0")
        | {"ImageID": key, "Confidence": "1", "LabelName": labels[name], "XMax": "1", "YMax": "1"}
        for key, names in PHOTOGRAPHS.items()
        for name in names
    ]
    paths = []
    for name, header, rows in (("images", IMAGE_HEADER, images), ("boxes", BOX_HEADER, boxes)):
        paths.append(folder / f"{name}.csv")
        with paths[-1].open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, header)
            writer.writeheader()
            writer.writerows(rows)
    return paths


def test_six_photographs_are_imported_selected_and_captioned(client, shared_data, tmp_path, capsys):
    official = shared_data / "open_images"
    classes = official / "class-descriptions-boxable.csv"
    lines = classes.read_text(encoding="utf-8").splitlines()
    labels = {name: label for label, name in csv.reader(lines)}
    images, boxes = write_metadata(tmp_path, labels)
    (tmp_path / "campaign.toml").write_text(CAMPAIGN)

    call_command(
        "import_openimages",
        *("--classes", str(classes)),
        *("--hierarchy", str(official / "bbox_labels_600_hierarchy.json")),
        *("--images", str(images), "--boxes", str(boxes), "--split", "test"),
        *("--files", str(shared_data / "images")),
    )
    call_command("select_images", "--split", "test", "--count", "6", "--name", "photographs")
    call_command("create_campaign", str(tmp_path / "campaign.toml"))
    campaign = Campaign.objects.get()
    HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1")
    pages = [caption_next(client, campaign, number) for number in range(6)]

    assert {key: (i.width, i.height) for key, i in in_bulk().items() if key in SIZES} == SIZES
    assert TaskPage.objects.exclude(answered_at=None).count() == 6
    assert len({page.select_one("[data-task-image]")["src"] for page in pages}) == 6
    for page in pages:
        photograph = client.get(urlsplit(page.select_one("img")["src"]).path)
        assert photograph.status_code == 200
        assert photograph.headers["Content-Type"] == "image/jpeg"
        assert b"Exif" not in photograph.getvalue()
        assert "/media/images/" not in str(page)
        shown = [keyword.text.strip() for keyword in page.select("[data-keywords] li")]
        assert shown in [sorted(names) for names in PHOTOGRAPHS.values()]


def in_bulk():
    return {image.key: image for image in Image.objects.all()}


def caption_next(client, campaign, number):
    """Open the page of a worker's next assignment and write a caption; return the page."""
    parameters = {
        "assignmentId": f"ASSIGNMENT{number}",
        "hitId": "HIT1",
        "workerId": "AWORKER1",
        "turkSubmitTo": "http://127.0.0.1:8001",
    }
    address = f"/task/{campaign.slug}/"
    page = BeautifulSoup(client.get(f"{address}?{urlencode(parameters)}").content, "html.parser")
    fields = {field["name"]: field.get("value", "") for field in page.select("form [name]")}
    name = page.select_one("textarea")["name"]
    sentence = f"This photograph shows what it shows and is number {number} of six."
    stored = client.post(address, {**fields, name: sentence})
    assert BeautifulSoup(stored.content, "html.parser").select_one("form[data-forward]")
    return page


CONTEXT = "Herons leave for the south in <September>."


@pytest.fixture
def campaign(tmp_path, settings):
    """A running campaign with the preset, about two photographs of which one has a context."""
    settings.MEDIA_ROOT = tmp_path / "media"
    folder = tmp_path / "birds"
    folder.mkdir()
    for name, colour in [("heron.png", "grey"), ("gull.png", "white")]:
        Picture.new("RGB", (40, 30), colour).save(folder / name)
    table = tmp_path / "facts.csv"
    with table.open("w") as file:
        csv.writer(file).writerows([["file_name", "context"], ["heron.png", CONTEXT]])
    call_command("import_images", folder, split="birds", table=table)
    call_command("select_images", "--all", split="birds", name="birds")
    file = tmp_path / "birds.toml"
    file.write_text('name = "birds"\npreset = "alt-text"\nselection = "birds"\nbudget = 50\n')
    call_command("create_campaign", file)
    campaign = Campaign.objects.get()
    Campaign.objects.update(status="RUNNING")
    return campaign


def test_workers_reviewers_and_the_release_have_the_context_as_it_was(client, campaign, tmp_path):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), campaign=campaign)
    heron, gull = (campaign.tasks.get(image__file_name=f"{name}.png") for name in ("heron", "gull"))
    preview = client.get(address(hit, assignmentId=None)).content.decode()
    assert ("&lt;September&gt;" in preview) == (heron.number == 1)
    Image.objects.update(context="Changed since.")

    text = "A grey heron stands in shallow water."
    responses = [ResponseFactory(task=task, text=text) for task in (heron, gull)]
    review_submitted(campaign=campaign, responses=responses[:1], at=NOON)
    client.force_login(UserFactory())
    reviewed = client.get(f"/review/{campaign.slug}/").content.decode()
    release = release_campaign(campaign=campaign, name="birds-v1", seed=1, at=NOON, partial=True)
    KINDS["caption"].write(release, tmp_path / "out")

    images = json.loads((tmp_path / "out" / "captions.json").read_text())["images"]
    assert [image.get("context") for image in images] == [
        CONTEXT if number == heron.number else None for number in (1, 2)
    ]
    assert "&lt;September&gt;" in reviewed
    rows = list(KINDS["caption"].tables(release)[0].dicts())
    assert [row["context"] for row in rows] == [image.get("context", "") for image in images]
