"""The option --team says which team owns what a command creates."""

import json

import pytest
from django.core.management import CommandError
from PIL import Image as Picture

from annotate.models import Campaign, CaptionSet, Image, Selection
from tests.commands import output_of
from tests.factories import ImageFactory, SelectionFactory, TeamFactory

pytestmark = pytest.mark.django_db

SELECT = ("select_images", "--split=validation", "--name=scenes", "--all")


@pytest.fixture
def team():
    return TeamFactory(slug="lab")


def test_a_selection_and_a_campaign_of_a_team(tmp_path, team):
    ImageFactory.create_batch(2)
    file = tmp_path / "pilot.toml"
    file.write_text('name = "pilot"\npreset = "nocaps"\nselection = "scenes"\nbudget = 10\n')

    output_of(*SELECT, "--team=lab")
    output_of("create_campaign", file, "--team=lab")

    assert Selection.objects.get().team == team
    assert Campaign.objects.get().team == team


def test_a_campaign_takes_no_selection_of_another_team(tmp_path, team):
    SelectionFactory(name="scenes", images=1)
    file = tmp_path / "pilot.toml"
    file.write_text('name = "pilot"\npreset = "nocaps"\nselection = "scenes"\nbudget = 10\n')

    with pytest.raises(CommandError, match="scenes"):
        output_of("create_campaign", file, "--team=lab")


def test_only_the_team_sees_the_photographs_that_are_imported_for_it(tmp_path, team):
    folder = tmp_path / "photos"
    folder.mkdir()
    Picture.new("RGB", (60, 40), "teal").save(folder / "sea.jpg")

    output_of("import_images", folder, "--split=own", "--team=lab")

    assert Image.objects.get().team == team
    with pytest.raises(CommandError, match="no images"):
        output_of("select_images", "--split=own", "--name=scenes", "--all")


def test_a_caption_set_of_a_team(tmp_path, team):
    ImageFactory(source="COCO", key="7")
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"image_id": 7, "caption": "A calm sea at noon."}]))
    captions = tmp_path / "captions.json"
    entry = {"id": 1, "image_id": 7, "caption": "A calm sea at noon."}
    captions.write_text(json.dumps({"images": [{"id": 7}], "annotations": [entry]}))

    output_of("import_results", results, "--name=a", "--split=validation", "--team=lab")
    output_of("import_coco", captions, "--captions=b", "--split=validation", "--team=lab")

    assert {made.team for made in CaptionSet.objects.all()} == {team}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*SELECT, "--team=nobody"), "no team 'nobody'. Existing names: (default, )?lab"),
        (("import_coco", "x.json", "--split=v", "--team=none"), "no team 'none'"),
    ],
)
def test_the_commands_say_what_is_wrong(team, arguments, message):
    with pytest.raises(CommandError, match=message):
        output_of(*arguments)
