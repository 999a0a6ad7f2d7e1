"""The command on releases and files: figures of all images and of subsets only, or one line."""

import io
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Release
from qualcontrol.services.releasing import release_campaign
from tests.commands import output_of
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)
from tests.leaderboard.making import make_release
from tests.servers import PATIENCE, is_running, wait_until

pytestmark = pytest.mark.one_database

TEXTS = ["a brown dog runs on grass", "the dog runs over grass", "a cat sits", "the cat sits down"]


@pytest.fixture
def captions(write) -> Path:
    return write(
        "captions.json",
        {
            "images": [{"id": n, "domain": ("in-domain", "out-domain")[n % 2]} for n in range(8)],
            "annotations": [
                {"image_id": n, "caption": f"{TEXTS[(n + k) % 4]} {n}"}
                for n in range(8)
                for k in range(3)
            ],
        },
    )


@pytest.fixture
def results(write) -> Path:
    return write("results.json", [result(n, TEXTS[n % 4]) for n in range(8)])


def result(image: int, caption: str) -> dict[str, Any]:
    return {"image_id": image, "caption": caption}


run = partial(output_of, "evaluate", "--tokeniser", "plain")


def test_json_has_figures_intervals_and_how_they_were_computed(
    captions: Path, results: Path
) -> None:
    found = json.loads(run(captions, results, "--by-subset", "--json"))

    assert (found["tokeniser"], found["idf"], found["images"]) == ("plain", "all", 8)
    assert found["references"] == {"fewest": 3, "most": 3}
    figures = {"Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"}
    assert found["scores"].keys() == found["intervals"].keys() == figures
    assert found["failures"].keys() == {"meteor", "spice"}
    assert found["by_subset"].keys() == {"in-domain", "out-domain"}
    for subset in found["by_subset"].values():
        assert subset["images"] == 4
        assert subset["scores"].keys() == subset["intervals"].keys() == figures
        low, high = subset["intervals"]["CIDEr"]
        assert low <= subset["scores"]["CIDEr"] <= high


def test_the_table_names_the_tokeniser_and_the_reasons(captions: Path, results: Path) -> None:
    printed = run(captions, results, "--metrics", "rouge_l,METEOR", "--resamples", 0)

    assert "8 images, 3 references each, our tokeniser (plain); do not compare" in printed
    assert "No figure of meteor (results): It needs the official tokeniser." in printed
    assert "ROUGE-L" in printed
    assert "BLEU" not in printed
    assert "[" not in printed


def test_two_results_are_compared(captions: Path, results: Path, write) -> None:
    worse = write("worse.json", [result(n, "a photo") for n in range(8)])

    found = json.loads(run(captions, results, worse, "--by-subset", "--json", "--metrics", "cider"))

    difference = found["differences"]["overall"]["CIDEr"]
    assert difference["difference"] == pytest.approx(
        found["second"]["scores"]["CIDEr"] - found["scores"]["CIDEr"]
    )
    assert difference["interval"][1] < 0
    assert difference["p"] == 0.001
    assert found["differences"]["by_subset"].keys() == {"in-domain", "out-domain"}
    assert "second − results" in run(captions, results, worse, "--metrics", "cider")


def test_results_that_differ_alike_on_all_images_have_no_interval(captions, results) -> None:
    options = (captions, results, results, "--metrics", "cider")

    found = json.loads(run(*options, "--json"))["differences"]["overall"]["CIDEr"]

    assert found == {"difference": 0, "interval": None, "p": 1}
    assert "+0.000, p 1.000" in run(*options)


def test_people_are_scored_by_leaving_one_reference_out(captions: Path) -> None:
    found = json.loads(run(captions, "--leave-one-out", "--json"))

    assert "scores" not in found
    assert found["leave_one_out"]["scores"]["ROUGE_L"] > 0


def test_scores_from_elsewhere_are_treated_alike(captions: Path, results: Path, write) -> None:
    clip = write("clip.json", {str(n): {"CLIPScore": n / 8} for n in range(8)})

    found = json.loads(
        run(captions, results, "--scores", clip, "--by-subset", "--json", "--metrics", "bleu")
    )

    assert found["scores"]["CLIPScore"] == pytest.approx(3.5 / 8)
    assert found["by_subset"]["out-domain"]["scores"]["CLIPScore"] == pytest.approx(0.5)
    assert found["intervals"]["CLIPScore"][0] < 3.5 / 8 < found["intervals"]["CLIPScore"][1]


def test_results_without_java_are_plain_and_say_so(captions: Path, results: Path, settings) -> None:
    settings.EVALUATION_JAVA = settings.EVALUATION_JAVA._replace(program="no-such-java")
    out = io.StringIO()

    call_command("evaluate", str(captions), str(results), stdout=out)

    assert "our tokeniser (plain)" in out.getvalue()
    assert "Java is not installed: there is no program `no-such-java`" in out.getvalue()
    with pytest.raises(CommandError, match="Java is not installed"):
        call_command("evaluate", str(captions), str(results), "--tokeniser", "ptb")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--metrics", "bleurt"], "no metric 'bleurt': choose from bleu, meteor"),
        (["--metrics", ","], "--metrics names no metric: choose from bleu, meteor"),
        (["--resamples", "-1"], "--resamples must be from 0"),
        (["--seed", "-1"], "--seed 0 or more"),
        (["--idf", "subset"], "needs --by-subset"),
        (["--domains", "coco-80"], "needs --by-subset"),
        (["--domains", "coco-80", "--by-subset"], "--domains needs a release"),
        (["--baseline"], "there is no human baseline"),
        (["--scores", "a.json", "--scores", "b.json"], "--scores once for each"),
        (["--scores", "no-such.json"], "no-such.json: No such file"),
    ],
)
def test_options_that_do_not_fit_are_one_line(
    captions: Path, results: Path, options: list[str], message: str
) -> None:
    with pytest.raises(CommandError, match=message) as raised:
        run(captions, results, *options)

    assert "\n" not in str(raised.value)


def test_results_of_other_images_are_named(captions: Path, write) -> None:
    other = write("other.json", [result(n, "a dog") for n in range(100, 108)])

    with pytest.raises(CommandError, match="Images without a caption: 0, 1, 2, 3, 4, 5, 6, 7"):
        run(captions, other)
    with pytest.raises(CommandError, match="missing.json: No such file"):
        run(captions, "missing.json")
    with pytest.raises(CommandError, match="no-captions.json: No such file"):
        run("no-captions.json", other)
    with pytest.raises(CommandError, match="At most two results"):
        run(captions, other, other, other)


def test_one_image_with_one_reference_has_figures(write) -> None:
    captions = write(
        "one.json", {"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a dog"}]}
    )

    found = json.loads(run(captions, write("r.json", [result(1, "a dog")]), "--json"))

    assert found["scores"]["ROUGE_L"] == pytest.approx(1)
    assert "at least two images" in found["failures"]["cider"]
    assert found["intervals"] == {}
    with pytest.raises(CommandError, match="at least two references"):
        run(captions, "--leave-one-out")


@pytest.fixture
def release() -> Release:
    campaign = CampaignFactory(config={"references": 3})
    workers = WorkerFactory.create_batch(4)
    for number in range(1, 5):
        task = TaskFactory(campaign=campaign, number=number)
        for worker, text in zip(workers, TEXTS, strict=True):
            ResponseFactory(task=task, worker=worker, text=f"{text} {number}")
    return release_campaign(campaign=campaign, name="r1", seed=7, at=NOON)


@pytest.mark.django_db
def test_the_human_baseline_of_a_release_is_scored(release: Release) -> None:
    found = json.loads(run("r1", "--json"))

    assert found["images"] == 4
    assert found["references"] == {"fewest": 3, "most": 3}
    assert found["human_baseline"]["scores"]["ROUGE_L"] > 0
    with pytest.raises(CommandError, match="There is no release 'r2'. Existing names: r1"):
        run("r2")


@pytest.mark.django_db
@pytest.mark.parametrize("options", [(), ("--baseline", "--leave-one-out")])
def test_a_release_without_baselines_says_so(options: tuple[str, ...]) -> None:
    task = TaskFactory(campaign=CampaignFactory(config={"references": 2, "baselines": 0}))
    ResponseFactory.create_batch(2, task=task)
    release_campaign(campaign=task.campaign, name="r1", seed=7, at=NOON)

    with pytest.raises(CommandError, match="there is no human baseline"):
        run("r1", *options)


@pytest.mark.django_db
def test_hidden_references_are_used_and_not_shown(write) -> None:
    release = make_release(images=10)
    release.images.update(is_hidden=False)
    results = write("results.json", [result(number, "a photo") for number in range(1, 11)])
    before = run("v1", results, "--json")

    release.images.update(is_hidden=True)

    after = run("v1", results, "--json")
    assert after == before
    assert "dog" not in after + run("v1", results)


@pytest.mark.django_db
def test_a_mean_of_few_hidden_images_is_refused(write) -> None:
    """What is left of it without the others tells their scores."""
    release = make_release(images=10)
    release.images.filter(number__gt=1).update(is_hidden=False)

    with pytest.raises(CommandError, match="Fewer than 10 of the images of v1 that would be scor"):
        run("v1")
    release.images.update(is_hidden=False)
    assert "10 images" in run("v1")


@pytest.mark.django_db
def test_subsets_follow_from_a_table_given_for_a_release(write) -> None:
    campaign = CampaignFactory(config={"references": 3})
    for number, names in enumerate((["Dog"], ["Lynx"], ["Dog", "Lynx"], []), start=1):
        task = TaskFactory(campaign=campaign, number=number)
        for name in names:
            BoxFactory(image=task.image, object_class__name=name)
        for worker in WorkerFactory.create_batch(4):
            ResponseFactory(task=task, worker=worker, text=f"{TEXTS[number % 4]} {number}")
    release_campaign(campaign=campaign, name="r1", seed=7, at=NOON)
    results = write("results.json", [result(number, TEXTS[0]) for number in range(1, 5)])
    table = write("mine.csv", "class,domain\nLynx,in-domain\nDog,out-domain\n")

    options = ("r1", results, "--json", "--by-subset")
    recorded = json.loads(run(*options))["by_subset"]
    by_table = json.loads(run(*options, "--domains", table))["by_subset"]

    # The table has both classes the other way round; the image of no class is in no subset.
    assert recorded.keys() == by_table.keys() == {"in-domain", "near-domain", "out-domain"}
    assert recorded["in-domain"] == by_table["out-domain"]
    assert recorded["out-domain"] == by_table["in-domain"]
    assert recorded["in-domain"] != recorded["out-domain"]


@pytest.mark.django_db
@pytest.mark.parametrize("alone", ["in-domain", None])
def test_subsets_of_few_hidden_images_are_refused(alone: str | None, write) -> None:
    """The subset of one image has its score, and so has what the others leave of the whole."""
    release = make_release(images=22)
    release.images.update(record={"domain": "in-domain"})
    release.images.filter(number__gt=11).update(record={"domain": "out-domain"})
    results = write("results.json", [result(number, TEXTS[0]) for number in range(1, 23)])
    found = json.loads(run("v1", results, "--json", "--by-subset"))
    assert {name: subset["images"] for name, subset in found["by_subset"].items()} == {
        "in-domain": 11,
        "out-domain": 11,
    }

    release.images.filter(number__lt=11).update(is_hidden=False)
    release.images.filter(number=11).update(record={"domain": alone})

    with pytest.raises(CommandError, match="fewer than 10 images with hidden captions"):
        run("v1", results, "--by-subset")
    assert "22 images" in run("v1", results)
    release.images.update(is_hidden=False)
    assert "22 images" in run("v1", results, "--by-subset")


@pytest.mark.slow
def test_a_stopped_command_leaves_no_java_behind(
    captions: Path, results: Path, tmp_path: Path
) -> None:
    pid_file, temporary = tmp_path / "pid", tmp_path / "temporary"
    temporary.mkdir()
    java = tmp_path / "java"
    java.write_text(
        f"#!/bin/sh\necho $$ > {pid_file}.part; mv {pid_file}.part {pid_file}\nexec sleep 600\n"
    )
    java.chmod(0o755)
    root = Path(__file__).resolve().parents[3]
    environment = {"TMPDIR": str(temporary), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = subprocess.Popen(
        [sys.executable, "manage.py", "evaluate", str(captions), str(results)],
        cwd=root,
        env=environment,
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: pid_file.exists() or command.poll() is not None)
    assert command.poll() is None, command.communicate()

    command.terminate()
    command.communicate(timeout=PATIENCE)

    assert command.returncode == 143
    # If the signal comes while Java starts, the kernel ends it, a moment after the command.
    wait_until(lambda: not is_running(int(pid_file.read_text())))
    assert [*temporary.iterdir()] == []
