"""The text around an image: from the table of facts to task page, review and release."""

import csv
import json

import pytest
from django.core.management import call_command
from PIL import Image as Picture

from annotate.kinds import KINDS
from annotate.models import Campaign, Image
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.releasing import release_campaign
from tests.factories import NOON, HitFactory, HitTypeFactory, ResponseFactory, UserFactory
from tests.hits.opened_pages import address

pytestmark = pytest.mark.django_db
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
