"""Names of classes in other languages: imported, and shown as keywords."""

import json
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotate.models import ClassName
from annotate.queries.keywords import names_in, task_keywords
from annotate.services import imports
from annotate.services.campaigns import create_campaign
from tests.factories import (
    BoxFactory,
    ClassFactory,
    HitFactory,
    HitTypeFactory,
    ImageFactory,
    SelectionFactory,
    TeamFactory,
    config,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def classes():
    """Three classes, of which two have the same name in different datasets."""
    return {
        "dog": ClassFactory(label="/m/0bt9lr", name="Dog"),
        "coco dog": ClassFactory(label="coco:18", name="dog"),
        "sign": ClassFactory(label="/m/01mqdt", name="Traffic sign"),
    }


@pytest.fixture
def imported(tmp_path, capsys):
    """A function that imports a text as a file of names, and returns what the command printed."""

    def run(text, language="de"):
        path = tmp_path / "names.csv"
        path.write_text(text, encoding="utf-8")
        call_command("import_class_names", str(path), "--language", language)
        return capsys.readouterr()

    return run


def campaign_about(images, language):
    selection = SelectionFactory(images=images)
    return create_campaign(
        config=config(selection=selection.name, language=language),
        endpoint="local",
        at=timezone.now(),
    )


def test_names_are_imported_by_label_and_updated(classes, imported):
    first = imported("/m/0bt9lr,Hund\n/m/01mqdt,Schild\n")
    again = imported("LabelName,DisplayName\n/m/0bt9lr,Hund\n/m/01mqdt,Verkehrsschild\n")

    assert "2 names read: 2 new, 0 changed, 0 unchanged." in first.out
    assert "2 names read: 0 new, 1 changed, 1 unchanged." in again.out
    assert names_in("de") == {classes["dog"].pk: "Hund", classes["sign"].pk: "Verkehrsschild"}


def test_an_english_name_finds_each_class_that_has_it(classes, imported):
    imported("class;name\nDOG;Hund\n")

    assert names_in("de") == {classes["dog"].pk: "Hund", classes["coco dog"].pk: "Hund"}


def test_rows_without_content_are_left_out(classes, imported):
    said = imported("class;name\n\nDOG;Hund\n;\n\n")

    assert "2 names read: 2 new" in said.out
    assert names_in("de") == {classes["dog"].pk: "Hund", classes["coco dog"].pk: "Hund"}


@pytest.mark.parametrize("text", ["", "\n", "LabelName,DisplayName\n"])
def test_a_file_without_names_is_refused(classes, imported, text):
    with pytest.raises(CommandError, match=r"names\.csv: the file has no names of classes"):
        imported(text)


def test_names_reach_classes_of_the_same_label_that_a_team_imports_later(
    classes, imported, tmp_path
):
    imported("/m/0bt9lr,Hund\ndog,Hund\n")
    team = TeamFactory()
    table = tmp_path / "classes.csv"
    table.write_text("/m/0bt9lr,Hound\n/m/01mqdt,Sign\n")

    imports.import_classes(path=table, team=team)

    assert names_in("de") == {
        classes["dog"].pk: "Hund",
        classes["coco dog"].pk: "Hund",
        team.object_classes.get(label="/m/0bt9lr").pk: "Hund",
    }


def test_a_number_of_coco_names_no_other_category_of_a_team(classes, imported):
    team = TeamFactory()
    bridge = ClassFactory(label="coco:18", name="bridge", team=team)
    same = ClassFactory(label="coco:18", name="dog", team=TeamFactory())

    imported("coco:18,Hund\n")

    assert names_in("de") == {classes["coco dog"].pk: "Hund", same.pk: "Hund"}
    assert not bridge.names.exists()


@pytest.mark.parametrize(("name", "found"), [("Dog", {"Hund"}), ("bridge", set())])
def test_a_category_of_another_coco_file_has_the_names_of_its_number_if_it_is_called_alike(
    classes, imported, tmp_path, name, found
):
    imported("dog,Hund\n")
    team = TeamFactory()
    file = tmp_path / "coco.json"
    image = {"id": 7, "width": 10, "height": 10, "file_name": "7.jpg"}
    categories = [{"id": 18, "name": name}]
    file.write_text(json.dumps({"images": [image], "categories": categories, "annotations": []}))

    imports.import_coco(path=file, split="own", team=team)

    names = ClassName.objects.filter(object_class__team=team)
    assert set(names.values_list("name", flat=True)) == found


@pytest.mark.parametrize(("name", "found"), [("DOG", {"Hund"}), ("bridge", set())])
def test_a_category_that_is_called_otherwise_loses_the_names_of_the_former_one(
    classes, imported, tmp_path, name, found
):
    imported("coco:18,Hund\n")
    file = tmp_path / "coco.json"
    image = {"id": 7, "width": 10, "height": 10, "file_name": "7.jpg"}
    categories = [{"id": 18, "name": name}]
    file.write_text(json.dumps({"images": [image], "categories": categories, "annotations": []}))

    imports.import_coco(path=file, split="own", team=None)

    names = classes["coco dog"].names.values_list("name", flat=True)
    assert set(names) == found


def test_rows_of_unknown_classes_are_counted(classes, imported):
    printed = imported("/m/0bt9lr,Hund\n/m/0zzzz,Nichts\nUnicorn,Einhorn\n")

    assert "2 rows name no class that was imported" in printed.err
    assert ClassName.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/m/0bt9lr\n", "2 fields are expected, there are 1"),
        ("/m/0bt9lr,Hund\n/m/01mqdt,\n", "names.csv:2: the name of '/m/01mqdt' must have 1 to 100"),
        (f"/m/0bt9lr,{'x' * 101}\n", "must have 1 to 100 characters"),
        ("/m/0bt9lr,Hund\n/m/0bt9lr,Katze\n", "'Hund' before and is 'Katze' here"),
        ("/m/0bt9lr,Hund\ndog,Katze\n", "'Hund' before and is 'Katze' here"),
        (",Hund\n", "the class has no label"),
    ],
)
def test_a_malformed_file_changes_nothing(classes, imported, text, said):
    with pytest.raises(CommandError) as error:
        imported(text)

    assert said in str(error.value)
    assert not ClassName.objects.exists()


@pytest.mark.parametrize(
    ("language", "said"),
    [("german", "write the tag of a language"), ("en", "come with the classes themselves")],
)
def test_the_language_is_a_tag_of_another_language(classes, imported, language, said):
    with pytest.raises(CommandError, match=said):
        imported("/m/0bt9lr,Hund\n", language)


def test_a_narrower_language_has_the_names_of_the_wider_one(classes, imported):
    imported("/m/0bt9lr,Cão\n/m/01mqdt,Sinal de trânsito\n", "pt")
    imported("/m/0bt9lr,Cachorro\n", "pt-BR")

    assert set(names_in("pt-BR").values()) == {"Cachorro", "Sinal de trânsito"}
    assert set(names_in("pt-PT").values()) == {"Cão", "Sinal de trânsito"}
    assert names_in("de") == {}


def test_keywords_are_in_the_campaign_language_and_mark_what_is_in_english(
    classes, imported, client
):
    image = ImageFactory()
    for name in ("dog", "sign"):
        BoxFactory(image=image, object_class=classes[name])
    imported("/m/0bt9lr,Hund\n")
    campaign = campaign_about([image], "de")
    HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1")
    parameters = {
        "assignmentId": "ASSIGNMENT1",
        "hitId": "HIT1",
        "workerId": "AWORKER1",
        "turkSubmitTo": "http://127.0.0.1:8001",
    }

    page = client.get(f"/task/{campaign.slug}/?{urlencode(parameters)}")

    shown = BeautifulSoup(page.content, "html.parser").select("[data-keywords] li")
    assert [word.get_text(" ", strip=True) for word in shown] == ["Hund", "Traffic sign (Englisch)"]
    assert [word.get("lang") for word in shown] == [None, "en"]


def test_keywords_of_a_campaign_stay_when_names_change(classes, imported):
    image = ImageFactory()
    BoxFactory(image=image, object_class=classes["dog"])
    before = campaign_about([image], "de")
    imported("/m/0bt9lr,Hund\n")

    assert task_keywords(before.tasks.get()) == ["Dog"]


def test_english_campaigns_mark_nothing(classes):
    image = ImageFactory()
    BoxFactory(image=image, object_class=classes["dog"])

    assert campaign_about([image], "en").tasks.get().payload == {"keywords": ["Dog"]}
