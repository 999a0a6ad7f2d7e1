"""Releases and captions files in other languages: exported, scored and reported as such."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)

# Eight words each by ICU's dictionary, without spaces between them.
pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

TEXTS = ["茶色い犬が公園の草の上を走る。", "犬が公園の草の上を走っている。", "公園で犬が走る。"]


def released(language, *, images=2):
    campaign = CampaignFactory(config={"references": 2, "language": language})
    workers = WorkerFactory.create_batch(3)
    for number in range(1, images + 1):
        image = BoxFactory().image
        task = TaskFactory(campaign=campaign, image=image, number=number)
        for worker, text in zip(workers, TEXTS, strict=True):
            ResponseFactory(task=task, worker=worker, text=text)
    return release_campaign(campaign=campaign, name="kouen", seed=7, at=NOON)


def exported(release, folder):
    call_command("export_captions", release.name, "--out", str(folder))
    return {path.name: json.loads(path.read_bytes()) for path in folder.glob("*.json")}


def evaluated(*arguments):
    out = io.StringIO()
    call_command("evaluate", *map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def write(tmp_path):
    def write_content(name, content):
        path = tmp_path / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write_content


@pytest.fixture
def in_two_languages(write):
    """Two images with two captions each in German and in Japanese."""
    texts = {"de": ["Ein Hund läuft im Park.", "Im Park rennt ein Hund."], "ja": TEXTS[:2]}
    return write(
        "both.json",
        {
            "images": [{"id": 1}, {"id": 2}],
            "annotations": [
                {"id": n, "image_id": image, "caption": text, "language": language}
                for n, (image, language, text) in enumerate(
                    (image, language, text)
                    for image in (1, 2)
                    for language, some in texts.items()
                    for text in some
                )
            ],
        },
    )


def test_each_caption_names_its_language(tmp_path):
    files = exported(released("ja"), tmp_path / "out")

    assert {row["language"] for row in files["captions.json"]["annotations"]} == {"ja"}
    assert {row["language"] for row in files["baseline.json"]} == {"ja"}


def test_english_files_have_no_such_key(tmp_path):
    files = exported(released("en"), tmp_path / "out")

    assert files["captions.json"]["annotations"][0].keys() == {"id", "image_id", "caption"}
    assert files["baseline.json"][0].keys() == {"image_id", "caption"}


@pytest.mark.parametrize(("language", "expected"), [("ja", {"ja"}), ("en", {None})])
def test_tables_have_the_language_and_cards_name_it(tmp_path, language, expected):
    released(language)

    call_command("export", "kouen", "--format", "csv", "--out", str(tmp_path / "out"))

    with (tmp_path / "out" / "captions.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert {row.get("language") for row in rows} == expected
    assert f'language:\n- "{language}"\n' in (tmp_path / "out" / "README.md").read_text()


def test_japanese_is_scored_by_our_tokeniser_and_without_english_metrics():
    released("ja")

    found = evaluated("kouen", "--baseline")

    assert (found["language"], found["tokeniser"]) == ("ja", "plain")
    baseline = found["human_baseline"]
    assert baseline["failures"].keys() == {"meteor", "spice"}
    # Without words, the texts would differ as wholes.
    assert 0 < baseline["scores"]["Bleu_2"] < 1


def test_the_official_tokeniser_is_refused_for_japanese():
    released("ja")

    with pytest.raises(CommandError, match="splits English only"):
        evaluated("kouen", "--baseline", "--tokeniser", "ptb")


def test_a_release_knows_its_language():
    released("ja")

    with pytest.raises(CommandError, match="kouen has no captions in de, but in ja"):
        evaluated("kouen", "--baseline", "--language", "de")
    assert evaluated("kouen", "--baseline", "--language", "ja")["language"] == "ja"


def test_of_several_languages_one_is_chosen(in_two_languages, write):
    results = write("results.json", [{"image_id": n, "caption": TEXTS[2]} for n in (1, 2)])

    found = evaluated(in_two_languages, results, "--language", "ja")

    assert (found["language"], found["images"]) == ("ja", 2)
    assert found["references"] == {"fewest": 2, "most": 2}
    assert found["scores"]["Bleu_1"] > 0.1  # 0 if the words were not split


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "captions in de, ja; choose one with --language"),
        (["--language", "fr"], "no captions in fr, but in de, ja"),
        (["--language", "Japanese"], "write the tag of a language"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_a_choice_that_cannot_be_is_one_line(in_two_languages, tmp_path, command, arguments, said):
    rest = ["--out", str(tmp_path / "out")] if command == "report" else ["--leave-one-out"]

    with pytest.raises(CommandError, match=said):
        call_command(command, str(in_two_languages), *rest, *arguments)


def test_a_language_that_is_not_a_tag_is_named(write):
    path = write(
        "odd.json",
        {
            "images": [{"id": 1}],
            "annotations": [{"image_id": 1, "caption": "犬", "language": 7}],
        },
    )

    with pytest.raises(CommandError, match=r"annotations\[0\].*language 7 is no tag"):
        evaluated(path, "--leave-one-out")


def test_the_case_of_a_language_in_a_file_does_not_matter(write):
    texts = ["犬が走る", "犬が公園を走る"]
    captions = [
        {"image_id": 1, "caption": text, "language": tag}
        for text, tag in zip(texts, ("JA", "ja"), strict=True)
    ]
    path = write("odd.json", {"images": [{"id": 1}], "annotations": captions})

    found = evaluated(path, "--leave-one-out", "--metrics", "bleu")

    assert found["language"] == "ja"
    assert found["references"] == {"fewest": 2, "most": 2}


def test_a_report_says_what_is_measured_in_english_only(tmp_path):
    released("ja")

    call_command("report", "kouen", "--out", str(tmp_path / "report"))

    found = json.loads((tmp_path / "report" / "report.json").read_text())
    assert "not in English" in found["absent"]["mentions"]
    assert "English only" in found["diversity"]["absent"]["local_recall"]
    assert "local_recall" not in found["diversity"]["rows"]["baseline"]


def test_a_report_has_the_captions_of_the_chosen_language(in_two_languages, tmp_path):
    out = tmp_path / "report"

    call_command("report", str(in_two_languages), "--out", str(out), "--language", "de")

    found = json.loads((out / "report.json").read_text())
    assert found["per_image"]["words"]["dataset"]["n"] == 4


def test_a_release_is_compared_with_a_file_of_several_languages(in_two_languages, tmp_path):
    released("ja")
    out = tmp_path / "report"
    arguments = ["report", "kouen", "--against", str(in_two_languages), "--out", str(out)]
    with pytest.raises(CommandError, match="captions in de, ja; choose one with --language"):
        call_command(*arguments)

    call_command(*arguments, "--language", "ja")

    found = json.loads((out / "report.json").read_text())
    assert found["against"]["captions"] == 4
