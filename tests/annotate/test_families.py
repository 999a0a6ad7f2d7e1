"""One campaign file for several languages, and one release of its campaigns."""

import csv
import io
import json
import tomllib

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.kinds import KINDS, CampaignNotPossible
from annotate.kinds.campaign_files import CampaignFileError, parse_plan
from annotate.kinds.exporting import content_of, extras_of
from annotate.kinds.judgements import described
from annotate.models import (
    Campaign,
    Caption,
    Release,
    ReleasedCaption,
    ReleasedImage,
    Response,
    ResponseStatus,
)
from annotate.services.campaigns import create_campaigns
from qualcontrol.services.releasing import ReleaseRefused, release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    ResponseFactory,
    SelectionFactory,
    WorkerFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

FILE = """
name = "street"
selection = "street"
budget = 20
references = 2
languages = ["en", "de", "pt-BR"]

[translations.de.hit]
title = "Ein Foto in einem Satz beschreiben"

[translations.pt-BR.captions]
least_words = 7
"""
TEXTS = {
    "en": ["A dog runs through the park.", "There runs a brown dog.", "The dog runs on grass."],
    "de": ["Ein Hund läuft im Park.", "Im Park rennt ein Hund.", "Der Hund läuft auf Gras."],
    "pt-BR": ["Um cão corre no parque.", "No parque corre um cão.", "O cão corre na relva."],
}


def plan(text=FILE, **changes):
    values = {**tomllib.loads(text), **changes}
    return parse_plan({key: value for key, value in values.items() if value is not None})


def test_a_file_has_a_campaign_for_each_language():
    family, configs = plan()

    assert family == "street"
    assert [config.name for config in configs] == ["street-en", "street-de", "street-pt-br"]
    assert [config.language for config in configs] == ["en", "de", "pt-BR"]
    assert configs[1].hit.title == "Ein Foto in einem Satz beschreiben"
    assert configs[0].hit.title == configs[2].hit.title == "Describe a photograph in one sentence"
    assert [config.captions.least_words for config in configs] == [8, 8, 7]


def test_each_language_has_its_own_practice_and_its_own_sentence_to_confirm():
    def practice(text):
        return {"captions": [{"image": "1", "text": text, "good": True, "why": "."}]}

    _, configs = plan(
        practice={**practice("A dog."), "pass_mark": 1},
        translations={
            "de": {"practice": practice("Ein Hund."), "writing": {"confirm": "Ich schreibe."}}
        },
    )

    assert [config.practice.captions[0].text for config in configs] == [
        "A dog.", "Ein Hund.", "A dog.",
    ]  # fmt: skip
    assert {config.practice.pass_mark for config in configs} == {1}
    assert [config.writing.confirm for config in configs] == ["", "Ich schreibe.", ""]


def test_a_file_of_one_language_is_as_before():
    family, [config] = plan(languages=None, translations=None, language="de")

    assert (family, config.name, config.language) == ("", "street", "de")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"languages": ["de"]}, "at least two languages"),
        ({"languages": "de, en"}, "at least two languages"),
        ({"languages": None}, "at least two languages"),
        ({"languages": ["de", "de"]}, "each language can be there once"),
        ({"languages": ["pt-BR", "German"]}, "write the tag of a language"),
        ({"languages": ["en", 7]}, "languages: .*7"),
        ({"language": "en"}, "language or languages"),
        ({"translations": {"fr": {}}}, "'fr' is not in languages"),
        (
            {"translations": {"de": {"review": {}}}},
            "the sections hit, captions, instructions, practice, writing",
        ),
        ({"translations": {"de": {"hit": {"titel": "?"}}}}, "hit.titel: there is no such key"),
        ({"translations": 7}, "write sections"),
        ({"kind": "rating"}, "'rating' makes one campaign; use language"),
        ({"name": None}, "name: field required"),
    ],
)
def test_a_file_of_languages_with_impossible_values_is_refused(changes, said):
    with pytest.raises(CampaignFileError, match=said):
        plan(**changes)


@pytest.fixture
def members():
    """The campaigns of two images, without any captions."""
    selection = SelectionFactory(name="street")
    for position in (1, 2):
        selection.selected.create(position=position, image=BoxFactory().image)
    return create_campaigns(plan=plan(), endpoint="local", at=timezone.now())


@pytest.fixture
def complete(members):
    """All captions, each by one of three workers who write in all languages."""
    workers = WorkerFactory.create_batch(3)
    for campaign in members:
        for task in campaign.tasks.order_by("number"):
            texts = TEXTS[campaign.config.language]
            for worker, text in zip(workers, texts, strict=True):
                ResponseFactory(task=task, worker=worker, text=text)
    return members


def together(campaign, name="street-v1", **changes):
    return release_campaign(
        campaign=campaign, name=name, seed=7, at=NOON, in_all_languages=True, **changes
    )


def exported(name, folder):
    call_command("export_captions", name, "--out", str(folder))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_campaigns_are_of_one_family_over_the_same_images(members):
    assert {member.family for member in members} == {"street"}
    assert {member.selection_id for member in members} == {members[0].selection_id}
    assert list(Campaign.objects.family_of(members[2])) == members


def test_a_later_file_of_the_same_name_adds_no_campaigns_to_the_family(members):
    later = plan(languages=["fr", "it"], translations={})

    with pytest.raises(CampaignNotPossible, match="name: another file has made the campaigns"):
        create_campaigns(plan=later, endpoint="local", at=NOON)

    assert list(Campaign.objects.order_by("pk")) == members


def test_no_campaign_is_made_if_one_of_them_cannot_be(members):
    with pytest.raises(Exception, match="name"):
        create_campaigns(
            plan=plan(languages=["fr", "de"], translations={}), endpoint="local", at=NOON
        )

    assert Campaign.objects.count() == 3


def test_one_release_has_the_captions_of_all_languages(complete, tmp_path):
    release = together(complete[1])

    assert release.campaign == complete[0]
    out = exported("street-v1", tmp_path / "o")
    files = {name: json.loads(text) for name, text in out.items() if name.endswith(".json")}
    captions, baseline = files["captions.json"], files["baseline.json"]
    assert release.languages == ["en", "de", "pt-BR"]
    assert [image["id"] for image in captions["images"]] == [1, 2]
    assert [row["id"] for row in captions["annotations"]] == list(range(12))
    assert captions["info"]["description"].startswith("street: 2 reference captions per image in")
    for image in (1, 2):
        for language, texts in TEXTS.items():
            mine = {"image_id": image, "language": language}
            rows = [*captions["annotations"], *baseline]
            found = [row["caption"] for row in rows if mine.items() <= row.items()]
            assert sorted(found) == sorted(texts)
            assert len([row for row in baseline if mine.items() <= row.items()]) == 1
    # The same worker has the same number in all languages.
    numbers = {row["worker"] for row in files["workers.json"]["annotations"]}
    assert numbers <= {1, 2, 3}
    assert {row["language"] for row in files["workers.json"]["baseline"]} == {*TEXTS}


def test_files_follow_the_settings_of_every_language(complete, tmp_path):
    """A draft can be changed by itself."""
    first, member, _ = complete
    first.config_json |= {"references": 3, "baselines": 0}
    first.save()
    for key, value in {"cannot_describe": ["too dark"], "remarks": True, "rate_first": "x"}.items():
        member.config_json["captions"][key] = value
    member.save()
    response = member.tasks.get(number=1).responses.first()
    Response.objects.filter(pk=response.pk).update(cannot_describe="too dark")
    Caption.objects.filter(pk=response.pk).update(remark="No light.", ratings={"1": {"quality": 4}})
    member.tasks.update(payload={"rate_first": ["A street."]})
    release = together(member)

    files = {name: text.decode() for name, text in exported("street-v1", tmp_path / "o").items()}
    content = content_of(release, extras_of(release))

    assert "at most 3 reference captions per image in" in files["captions.json"]
    images = json.loads(files["captions.json"])["images"]
    assert [image["cannot_describe"] for image in images] == [{"too dark": 1}, {}]
    assert "too dark" in files["vizwiz.json"]
    assert "A street." in files["ratings.json"]
    own = {name: "".join(text) for name, text in content.own_files()}
    assert own.keys() >= {*KINDS["caption"].files, "remarks.json"}
    assert "No light." in own["remarks.json"]
    tables = {table.name: table for table in content.tables}
    assert [*tables["reasons"].values("reason", "remark")] == [("too dark", "No light.")]
    assert [*tables["ratings"].values("rating")] == [(4,)]


def test_a_language_has_in_both_releases_the_same_captions(complete, tmp_path):
    release_campaign(campaign=complete[1], name="de-v1", seed=7, at=NOON)
    together(complete[0])

    alone = json.loads(exported("de-v1", tmp_path / "a")["captions.json"])
    both = json.loads(exported("street-v1", tmp_path / "b")["captions.json"])

    def german(file):
        rows = file["annotations"]
        return [(row["image_id"], row["caption"]) for row in rows if row["language"] == "de"]

    assert german(alone) == german(both)


def test_tables_and_card_name_the_languages(complete, tmp_path):
    together(complete[0])

    call_command("export", "street-v1", "--format", "csv", "--out", str(tmp_path / "out"))

    for name, rows in (("captions", 12), ("baselines", 6)):
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            found = [row["language"] for row in csv.DictReader(file)]
        assert (len(found), {*found}) == (rows, {*TEXTS})
    card = (tmp_path / "out" / "README.md").read_text()
    assert 'language:\n- "en"\n- "de"\n- "pt"\n' in card
    assert "| language of the captions | en de pt-BR |" in card
    assert "Campaigns `street`" in card


def test_it_is_scored_and_reported_by_language(complete, tmp_path):
    together(complete[0])
    out = io.StringIO()

    call_command("evaluate", "street-v1", "--baseline", "--language", "de", "--json", stdout=out)
    call_command("report", "street-v1", "--language", "de", "--out", str(tmp_path / "report"))

    found = json.loads(out.getvalue())
    assert (found["language"], found["images"]) == ("de", 2)
    assert found["references"] == {"fewest": 2, "most": 2}
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report["per_image"]["words"]["dataset"]["n"] == 6
    for command in (["evaluate"], ["report", "--out", str(tmp_path / "x")]):
        with pytest.raises(CommandError, match="captions in en, de, pt-BR; choose one"):
            call_command(command[0], "street-v1", *command[1:])
        with pytest.raises(CommandError, match="no captions in fr"):
            call_command(command[0], "street-v1", *command[1:], "--language", "fr")


def test_it_waits_for_every_language_and_says_which(complete):
    response = complete[2].tasks.get(number=2).responses.first()
    type(response).objects.filter(pk=response.pk).update(status=ResponseStatus.DISCARDED)

    with pytest.raises(ReleaseRefused, match="street-pt-br: image .* has 2 of 3 captions"):
        together(complete[0])
    release = together(complete[0], partial=True)

    rows = ReleasedCaption.objects.filter(image__release=release)
    counts = {
        (number, tag): rows.filter(image__number=number, language=tag).count()
        for number in (1, 2)
        for tag in TEXTS
    }
    assert counts == {
        **dict.fromkeys([(n, tag) for n in (1, 2) for tag in TEXTS], 3),
        (2, "pt-BR"): 0,
    }


def test_results_for_all_images_of_a_partial_release_are_scored(complete, tmp_path):
    complete[2].tasks.get(number=2).responses.all().delete()
    together(complete[0], partial=True)
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{"image_id": n, "caption": "um cachorro"} for n in (1, 2)]))
    out = io.StringIO()

    call_command(
        "evaluate", "street-v1", results, "--baseline", "--language", "pt-BR", "--json", stdout=out
    )

    assert json.loads(out.getvalue())["images"] == 1


def test_campaigns_of_other_images_make_no_release(complete):
    task = complete[2].tasks.get(number=2)
    task.image = BoxFactory().image
    task.save()

    with pytest.raises(ReleaseRefused, match="street-pt-br has other images than street-en"):
        together(complete[0])


def test_two_campaigns_of_one_language_make_no_release(complete):
    other = complete[2]
    other.config_json = {**other.config_json, "language": "de"}
    other.save()

    with pytest.raises(ReleaseRefused, match="are in one language: en, de, de"):
        together(complete[0])


def test_a_campaign_without_a_family_has_no_release_of_languages(complete):
    Campaign.objects.update(family="")

    with pytest.raises(ReleaseRefused, match="no campaigns in other languages"):
        together(Campaign.objects.get(slug="street-de"))


def test_hidden_images_are_hidden_in_all_languages(complete, tmp_path):
    release = together(complete[0], hidden={"share": 0.5})

    rows = json.loads(exported("street-v1", tmp_path / "out")["captions.json"])["annotations"]
    hidden = ReleasedImage.objects.get(release=release, is_hidden=True).number
    assert {row["image_id"] for row in rows} == {1, 2} - {hidden}
    assert [row["id"] for row in rows] == list(range(6))


@pytest.mark.database
def test_the_numbers_of_captions_are_kept_by_language(complete):
    release = together(complete[0])
    baseline = ReleasedCaption.objects.filter(image__release=release, role="BASELINE").first()

    def again(**changes):
        values = {
            "image": baseline.image,
            "worker_number": 99,
            "role": "REFERENCE",
            "text": "A dog.",
            "language": baseline.language,
            "response": ResponseFactory(),
        }
        with transaction.atomic():
            ReleasedCaption.objects.create(**{**values, **changes})

    again()
    with pytest.raises(IntegrityError):
        again(role="BASELINE", worker_number=98)
    with pytest.raises(IntegrityError):
        again()
    again(language="fr", role="BASELINE")


def test_all_campaigns_list_the_release(complete):
    release_campaign(campaign=complete[1], name="de-v1", seed=7, at=NOON)
    together(complete[2])

    def names(campaign):
        return {release.name for release in Release.objects.of_campaign(campaign)}

    assert [names(member) for member in complete] == [
        {"street-v1"},
        {"street-v1", "de-v1"},
        {"street-v1"},
    ]


def test_the_commands_make_campaigns_and_their_release(complete, tmp_path, capsys):
    path = tmp_path / "more.toml"
    path.write_text(FILE.replace('name = "street"', 'name = "more"'))

    call_command("create_campaign", str(path))
    call_command("release", "street-de", "--name", "street-v1", "--in-all-languages", "--seed", "7")

    said = capsys.readouterr().out
    assert [line.partition(":")[0] for line in said.splitlines()[:3]] == [
        "more-en",
        "more-de",
        "more-pt-br",
    ]
    assert Release.objects.get().languages == ["en", "de", "pt-BR"]


def test_images_with_references_in_another_language_alone_are_not_described(members):
    workers = WorkerFactory.create_batch(3)
    for campaign, number in zip(members, (1, 2), strict=False):
        texts = TEXTS[campaign.config.language]
        for worker, text in zip(workers, texts, strict=True):
            ResponseFactory(task=campaign.tasks.get(number=number), worker=worker, text=text)
    about = {"in_all_languages": True, "partial": True, "seed": 1, "at": NOON}
    release = release_campaign(campaign=members[0], name="v1", **about)

    assert described(release, "en") is None
