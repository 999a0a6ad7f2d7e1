"""The command on a release of ratings: systems, references, and one line on an error."""

import csv
import gzip
import io
import json
from functools import partial

import pytest
from django.core.management import CommandError, call_command

from annotate.kinds import KINDS
from annotate.kinds.campaign_files import parse_config
from annotate.models import Release, ReleasedCaption, Response, Task
from annotate.services.campaigns import create_campaign
from corpora.__main__ import main
from qualcontrol.services.releasing import release_campaign
from tests.commands import output_of
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.one_database

IMAGES = 6
# People find a system the better, the fewer of its words are missing.
WORDS = {"good": 7, "fair": 5, "poor": 2}


def sentence(image: int, words: int = 7) -> str:
    every = f"a brown dog {image} runs over grass{image}".split()
    return " ".join([*every[:words], *["thing"] * (7 - words)])


@pytest.fixture
def people(db) -> Release:
    """A release with two references of each image."""
    campaign = CampaignFactory(selection=SelectionFactory(images=IMAGES), config={"references": 2})
    # The numbers of the images differ from those in the ratings.
    images = campaign.selection.images.order_by("pk")
    for number, image in enumerate(reversed(images), start=1):
        task = TaskFactory(campaign=campaign, image=image, number=number)
        for n in range(3):
            ResponseFactory(task=task, text=f"{sentence(IMAGES + 1 - number)} {n}")
    return release_campaign(campaign=campaign, name="people", seed=1, at=NOON)


@pytest.fixture
def results(people, tmp_path):
    """The results file of each system, by the release's numbers."""
    paths = {}
    for name, words in WORDS.items():
        paths[name] = tmp_path / f"{name}.json"
        rows = [
            {"image_id": number, "caption": sentence(IMAGES + 1 - number, words)}
            for number in range(1, IMAGES + 1)
        ]
        paths[name].write_text(json.dumps(rows))
        call_command(
            "import_results", paths[name], name=name, release="people", stdout=io.StringIO()
        )
    return paths


@pytest.fixture
def judged(people, results) -> Release:
    """A release of three people's ratings of the systems and of a reference."""
    sources = [{"name": name, "caption_set": name} for name in WORDS]
    values = {
        "name": "judge",
        "kind": "rating",
        "selection": people.campaign.selection.name,
        "budget": "50.00",
        "responses": 3,
        "rating": {"sources": [{"name": "person", "release": "people"}, *sources]},
    }
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    workers = WorkerFactory.create_batch(3)
    for task in campaign.tasks.all():
        for strict, worker in enumerate(workers):
            answer = {
                str(number): {"true": max(1, rating(caption["sources"]) - strict % 2), "fluent": 3}
                for number, caption in enumerate(task.payload["captions"], start=1)
            }
            response = Response.objects.create(
                campaign=campaign, task=task, worker=worker, submitted_at=NOON
            )
            KINDS["rating"].store([(response, answer)])
    return release_campaign(campaign=campaign, name="judged", seed=1, at=NOON)


def rating(sources) -> int:
    return {"good": 5, "fair": 4, "poor": 1}.get(next(iter(sources)), 5)


run = partial(output_of, "correlate", "--tokeniser", "plain")


def test_the_metrics_order_systems_as_people_do(judged):
    found = json.loads(run("judged", "--resamples", 50, "--json"))

    true = found["criteria"]["true"]
    assert (found["images"], found["captions"]) == (IMAGES, 4 * IMAGES)
    assert true["people"]["good"] == pytest.approx(14 / 3)
    assert true["people"]["poor"] == 1
    assert true["figures"]["CIDEr"]["fair"] > true["figures"]["CIDEr"]["poor"]
    for figure in ("CIDEr", "Bleu_1", "ROUGE_L"):
        assert true["systems"][figure]["accuracy"]["value"] >= 0.9, figure
        assert true["captions"][figure]["tau_b"]["value"] > 0.7, figure
        low, high = true["captions"][figure]["tau_b"]["interval"] or (0, 1)
        assert low <= true["captions"][figure]["tau_b"]["value"] <= high
    assert true["captions"]["one person"]["accuracy"]["value"] == 1
    flat = found["criteria"]["fluent"]
    assert flat["captions"]["CIDEr"]["tau_b"] == {"value": None, "interval": None}
    assert "complete" not in found["criteria"]


def test_a_rated_reference_is_scored_against_the_others(judged):
    figures = json.loads(run("judged", "--resamples", 0, "--json"))["criteria"]["true"]["figures"]

    # Against itself, it would have the highest possible figure.
    assert 0 < figures["Bleu_1"]["person"] < 1


def test_only_systems_whose_results_are_given_are_compared(judged, results):
    found = json.loads(run("judged", "--results", results["good"], results["poor"], "--json"))

    assert found["systems"] == ["good", "poor"]
    assert found["captions"] == 2 * IMAGES
    assert found["criteria"]["true"]["systems"]["CIDEr"]["tau_b"]["value"] == 1


def test_packed_results_are_results(judged, results, tmp_path):
    packed = tmp_path / "poor.json.gz"
    packed.write_bytes(gzip.compress(results["poor"].read_bytes()))

    found = json.loads(run("judged", "--results", results["good"], packed, "--json"))

    assert found["systems"] == ["good", "poor"]


def test_columns_of_numbers_are_metrics(judged, tmp_path):
    call_command("export", "judged", "--out", str(tmp_path / "out"), stdout=io.StringIO())
    with (tmp_path / "out" / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    path = tmp_path / "clip.csv"
    with path.open("w") as file:
        table = csv.DictWriter(file, [*rows[0], "CLIPScore"])
        table.writeheader()
        table.writerows(row | {"CLIPScore": -float(row["true"])} for row in rows)

    found = json.loads(run("judged", "--results", path, "--metrics", "cider", "--json"))

    true = found["criteria"]["true"]
    assert [*true["figures"]] == ["CIDEr", "CLIPScore"]
    assert true["captions"]["CLIPScore"]["pearson"]["value"] == pytest.approx(-1)
    with pytest.raises(CommandError, match="CLIPScore is the name of other figures; give the"):
        run("judged", "--results", path, path)
    path.write_text("image_id,source,people\n1,good,0.5\n")
    with pytest.raises(CommandError, match="people is the name of other figures; give the column"):
        run("judged", "--results", path)
    path.write_text("image_id,source,m\n1,good,0.5\n")
    with pytest.raises(CommandError, match=r"m has no number for the caption of image 1 by fair"):
        run("judged", "--results", path)


def test_the_table_has_a_line_for_each_metric(judged):
    lines = run("judged", "--resamples", 20).splitlines()

    assert lines[0] == "24 captions of 6 images by 4 systems: fair, good, person, poor"
    assert sum(line.startswith("CIDEr-D  ") for line in lines) == 4
    assert any(line.startswith("true, per caption") for line in lines)
    assert any(line.startswith("one person ") for line in lines)


def test_missing_tables_are_explained(judged):
    missing = "A coefficient that is missing (–, in JSON null) is not defined"
    table = run("judged", "--resamples", 20)
    none = json.loads(run("judged", "--resamples", 0, "--json"))["notes"]

    assert missing in table
    assert "without an interval" not in table
    assert [note.partition(":")[0] for note in none] == [
        missing,
        "There are no intervals, because --resamples is 0.",
    ]


def test_without_references_of_all_rated_images_the_command_says_what_to_name(judged, tmp_path):
    ReleasedCaption.objects.filter(role="REFERENCE", image__number=1).delete()

    with pytest.raises(CommandError, match="No release has references of all images that people "):
        run("judged")
    with pytest.raises(CommandError, match=rf"lack 1 image that people rated: {IMAGES}\. Name "):
        run("judged", "--references", "people")


def test_references_in_another_language_are_not_taken(judged):
    campaign = Release.objects.get(name="people").campaign
    campaign.config_json["language"] = "de"
    campaign.save()

    with pytest.raises(CommandError, match="No release has references of all images .*, in en, "):
        run("judged")
    assert run("judged", "--language", "de", "--resamples", 0)


def test_figures_of_few_images_with_hidden_references_are_refused(judged):
    Release.objects.get(name="people").images.filter(number=1).update(is_hidden=True)

    with pytest.raises(CommandError, match="Fewer than 10 of the images of people that would be"):
        run("judged")


def test_captions_of_regions_are_no_references_of_the_image(judged):
    Task.objects.filter(campaign=Release.objects.get(name="people").campaign).update(serial=1)

    with pytest.raises(CommandError, match="people describes regions. Name references of whole"):
        run("judged", "--references", "people")


@pytest.fixture
def compared(people, results) -> Release:
    """A release of comparisons of the systems and of a reference."""
    sources = [{"name": name, "caption_set": name} for name in WORDS]
    values = {
        "name": "compare",
        "kind": "preference",
        "selection": people.campaign.selection.name,
        "budget": "50.00",
        "responses": 2,
        "preference": {
            "sources": [{"name": "person", "release": "people"}, *sources],
            "pairs": "random",
            "pairs_per_image": 6,
        },
    }
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    for task in campaign.tasks.all():
        answer = {
            str(number): {"better": 1 if rating(one) > rating(other) else 5}
            for number, pair in enumerate(task.payload["pairs"], start=1)
            for one, other in [pair["sources"]]
        }
        for _ in range(2):
            response = Response.objects.create(
                campaign=campaign, task=task, worker=WorkerFactory(), submitted_at=NOON
            )
            KINDS["preference"].store([(response, answer)])
    return release_campaign(campaign=campaign, name="compared", seed=1, at=NOON)


def test_side_by_side_comparisons_order_the_captions_of_their_pair(compared, results):
    # Workers saw these captions with a capital and a full stop, which the files do not have.
    systems = ["--results", *results.values()]
    found = json.loads(run("compared", *systems, "--resamples", 20, "--json"))

    better = found["criteria"]["better"]
    assert found["systems"] == sorted(WORDS)
    assert better["captions"]["Bleu_1"] == {"accuracy": {"value": 1, "interval": None}}
    assert better["people"]["good"] > better["people"]["poor"]


def test_a_reference_in_a_comparison_is_scored_against_the_others(compared):
    found = json.loads(run("compared", "--resamples", 0, "--json"))

    assert 0 < found["criteria"]["better"]["figures"]["Bleu_1"]["person"] < 1


def test_a_criterion_compares_the_systems_that_were_rated_by_it(tmp_path, capsys):
    ratings, table = tmp_path / "ratings.json", tmp_path / "scores.csv"
    rated = {
        "good": {"total": 5, "style": 4},
        "poor": {"total": 1},
        "fair": {"total": 3, "style": 2},
    }
    captions = [
        {"image_id": image, "sources": {name: f"a {name} dog"}, "scores": scores}
        for image in (1, 2)
        for name, scores in rated.items()
    ]
    ratings.write_text(json.dumps({"captions": captions}))
    rows = [f"{image},{name},{len(name)}" for image in (1, 2) for name in rated]
    table.write_text("\n".join(["image_id,source,letters", *rows]))
    arguments = ["correlate", str(ratings), "--results", str(table), "--resamples", "0"]

    assert main(arguments) == 0
    assert main([*arguments, "--json"]) == 0

    lines = capsys.readouterr().out.splitlines()
    criteria = json.loads(lines[-1])["criteria"]
    assert criteria["style"]["people"] == {"fair": 2, "good": 4}
    assert criteria["total"]["people"] == {"fair": 3, "good": 5, "poor": 1}
    assert any(line.split() == ["style,", "means", "people", "letters"] for line in lines)


def test_a_system_that_some_resamples_lack_is_a_reason_for_missing_intervals(tmp_path, capsys):
    ratings, table = tmp_path / "ratings.json", tmp_path / "scores.csv"
    rated = [(image, name) for image in range(1, 5) for name in ("good", "poor")] + [(1, "rare")]
    captions = [
        {"image_id": image, "sources": {name: f"a {name} dog"}, "scores": {"total": len(name) + n}}
        for n, (image, name) in enumerate(rated)
    ]
    ratings.write_text(json.dumps({"captions": captions}))
    rows = [f"{image},{name},{n}" for n, (image, name) in enumerate(rated)]
    table.write_text("\n".join(["image_id,source,place", *rows]))

    main(["correlate", str(ratings), "--results", str(table), "--resamples", "50", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert found["criteria"]["total"]["systems"]["place"]["tau_b"]["interval"] is None
    assert "or a system has no rated caption" in found["notes"][-1]


def test_a_perfect_order_has_no_interval_and_the_command_says_why(tmp_path, capsys):
    ratings, table = tmp_path / "ratings.json", tmp_path / "scores.csv"
    captions = [
        {"image_id": image, "sources": {name: f"a {name} dog"}, "scores": {"total": score}}
        for image in range(1, 7)
        for name, score in [("good", 5), ("fair", 3), ("poor", 1)]
    ]
    ratings.write_text(json.dumps({"captions": captions}))
    rows = [
        f"{each['image_id']},{name},{each['scores']['total']}"
        for each in captions
        for name in each["sources"]
    ]
    table.write_text("\n".join(["image_id,source,same", *rows]))
    command = ["correlate", str(ratings), "--results", str(table), "--resamples", "50"]

    main([*command, "--json"])
    found = json.loads(capsys.readouterr().out)
    main(command)
    shown = capsys.readouterr().out

    for per in ("captions", "systems"):
        assert found["criteria"]["total"][per]["same"]["tau_b"] == {"value": 1, "interval": None}
    assert "[1.00, 1.00]" not in shown
    assert "the same in nearly all resamples" in found["notes"][-1]
    assert found["notes"][-1] in shown


def test_an_error_is_one_line(judged, results, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps([{"image_id": 1, "caption": "a stranger's caption"}]))

    for arguments, message in [
        (["people"], "people has no ratings of captions. Name a release of ratings or of compar"),
        (["judged", "--results", other], "no system's captions that people rated are in it"),
        (["judged", "--references", "nothing"], "There is no release 'nothing'"),
        (["judged", "--references", "judged"], "Release judged has no references, which captions"),
        (["judged", "--resamples", "-1"], "--resamples must be from 0"),
    ]:
        with pytest.raises(CommandError, match=message):
            run(*arguments)

    release_campaign(
        campaign=Release.objects.get(name="people").campaign, name="again", seed=2, at=NOON
    )
    with pytest.raises(CommandError, match=r"Choose one with --references: again, people\."):
        run("judged")
    assert run("judged", "--references", "again", "--resamples", 0)
