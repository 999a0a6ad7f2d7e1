"""The scoring process: its scores, its limits, and what it keeps to itself."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leaderboard.services import scoring
from leaderboard.services.scoring import Limits, run
from tests.servers import PATIENCE

pytestmark = pytest.mark.slow

IMAGES = range(1, 13)
SECRET = "secretly brown dogs follow a kite at dawn"
ENOUGH = Limits(seconds=PATIENCE, megabytes=4096)


@pytest.fixture
def job():
    return {
        "references": {n: [f"a dog runs along beach {n}", f"{SECRET} {n}"] for n in IMAGES},
        "results": {n: f"A dog runs along beach {n}." for n in IMAGES},
        "subsets": {n: "near-domain" if n % 3 else "in-domain" for n in IMAGES},
        "metrics": ["bleu", "cider"],
        "tokeniser": "plain",
    }


def program(monkeypatch, text: str) -> None:
    """Run this program instead of the scoring."""
    monkeypatch.setattr(scoring, "COMMAND", (sys.executable, "-c", text))


def test_scores_are_means_over_all_images_and_subsets(job):
    scores = run(job, ENOUGH).scores

    assert scores["images"] == 12
    assert scores["overall"]["Bleu_4"] == 1.0
    assert scores["subset_images"] == {"in-domain": 4, "near-domain": 8}
    assert set(scores["subsets"]) == {"in-domain", "near-domain"}
    assert set(scores["subsets"]["in-domain"]) == set(scores["overall"])


@pytest.mark.parametrize(("images", "step"), [(10, 0.1), (120, 0.01)])
def test_two_submissions_that_differ_in_one_caption_do_not_tell_its_score(images, step):
    references = {n: [f"a dog runs along beach {n}"] for n in range(images)}
    results = {n: "a dog" if n % 3 else texts[0] for n, texts in references.items()}
    job = {"subsets": {}, "metrics": ["rouge-l"], "tokeniser": "plain", "references": references}

    means = [
        run({**job, "results": results | {1: caption}}, ENOUGH).scores["overall"]["ROUGE_L"]
        for caption in ("a dog", "a dog runs", "a dog runs along", "nothing")
    ]

    steps = [mean / step for mean in means]
    assert steps == pytest.approx([round(each) for each in steps])
    assert max(steps) - min(steps) < 1.5


def test_the_official_programs_run_within_the_limits(job):
    outcome = run({**job, "tokeniser": "ptb", "metrics": ["bleu", "meteor"]}, ENOUGH)

    assert outcome.problem == ""
    assert 0 < outcome.scores["overall"]["METEOR"] <= 1


def test_scoring_ends_when_its_time_is_over(job, slow_java):
    begin = time.monotonic()

    outcome = run({**job, "tokeniser": "ptb"}, Limits(seconds=2, megabytes=4096))

    assert outcome.problem == "Scoring did not end within 2 seconds."
    assert time.monotonic() - begin < PATIENCE / 2


def test_a_process_is_stopped_when_its_scores_are_no_longer_wanted(job, monkeypatch):
    program(monkeypatch, "import time; time.sleep(600)")
    looks = iter([True, True, False])
    begin = time.monotonic()

    outcome = run(job, ENOUGH, is_wanted=lambda: next(looks))

    assert outcome.scores == {}
    assert time.monotonic() - begin < PATIENCE / 2


def test_scoring_ends_when_its_memory_is_used(job):
    outcome = run(job, Limits(seconds=PATIENCE, megabytes=60))

    assert outcome.problem == "Scoring needed more than 60 MB of memory."


def test_a_process_that_is_killed_gives_a_reason(job, monkeypatch):
    program(monkeypatch, "import os; os.kill(os.getpid(), 9)")

    assert "was killed by signal 9" in run(job, ENOUGH).problem


def test_a_process_that_used_its_processor_time_has_not_ended_in_time(job, monkeypatch):
    program(
        monkeypatch,
        "import os, resource, signal\n"
        "from leaderboard.scoring import _limit\n"
        "_limit(60, 4096)\n"
        "least, most = resource.getrlimit(resource.RLIMIT_CPU)\n"
        "os.kill(os.getpid(), signal.SIGXCPU if least < most else signal.SIGKILL)",
    )

    assert "did not end within" in run(job, ENOUGH).problem


def test_a_program_that_a_process_started_ends_with_it(job, monkeypatch, tmp_path):
    note = tmp_path / "pid"
    program(
        monkeypatch,
        "import subprocess, sys, time\n"
        "other = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(note)!r}, 'w').write(str(other.pid))\n"
        "time.sleep(600)",
    )

    outcome = run(job, Limits(seconds=5, megabytes=500))

    assert outcome.problem == "Scoring did not end within 5 seconds."
    assert _ends(int(note.read_text()))


def _ends(pid: int) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("print('no JSON')", "ended with status 0 and without scores"),
        ("raise SystemExit(3)", "ended with status 3 and without scores"),
        ("print('[]')", "ended with status 0 and without scores"),
        ("print('{\"scores\": 1}'[:5])", "without scores"),
        ("import sys; sys.stderr.write(sys.stdin.read()); raise SystemExit(1)", "status 1"),
    ],
)
def test_the_output_of_a_broken_process_is_not_passed_on(job, monkeypatch, text, reason, caplog):
    program(monkeypatch, text)

    outcome = run(job, ENOUGH)

    assert outcome.scores == {}
    assert reason in outcome.problem
    assert SECRET not in outcome.problem + caplog.text


def test_an_error_in_the_scoring_quotes_no_caption(job):
    outcome = run({**job, "results": {1: "A dog."}}, ENOUGH)

    assert outcome.problem.startswith("Scoring failed with KeyError in ")
    assert SECRET not in outcome.problem


def test_a_metric_that_fails_loses_its_own_figure_and_says_why(job):
    scores = run({**job, "metrics": ["bleu", "meteor"]}, ENOUGH).scores

    assert set(scores["failed"]) == {"meteor"}
    assert "Bleu_1" in scores["overall"]
    outcome = run({**job, "metrics": ["meteor"]}, ENOUGH)
    assert outcome.problem == f"Scoring failed. {scores['failed']['meteor']}"


def test_without_java_the_official_tokeniser_gives_a_reason(job, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert (
        run({**job, "tokeniser": "ptb"}, ENOUGH).problem == "Scoring failed. Java is not installed."
    )


def test_the_process_gets_neither_keys_nor_the_database(job, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "a secret")
    monkeypatch.setenv("DATABASE_URL", "postgres://u:p@h/d")
    program(monkeypatch, "import json, os; print(json.dumps({'scores': dict(os.environ)}))")

    names = set(run(job, ENOUGH).scores)

    assert "PATH" in names
    assert not {"SECRET_KEY", "DATABASE_URL"} & names


def test_the_process_ends_by_itself_if_nobody_else_ends_it():
    """As when the process that started it was killed."""
    orphan = subprocess.Popen(
        [*scoring.COMMAND, "2", "4096"],
        cwd=scoring.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )

    with orphan:
        assert orphan.wait(PATIENCE) == -signal.SIGKILL


def test_a_disk_that_is_full_gives_a_reason(job, monkeypatch):
    def full(*_: object, **__: object):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("tempfile.TemporaryFile", full)

    assert run(job, ENOUGH).problem == (
        "The scoring process could not be run: No space left on device."
    )


def test_two_processes_do_not_disturb_each_other(job, slow_java):
    with ThreadPoolExecutor(2) as pool:
        short = pool.submit(run, {**job, "tokeniser": "ptb"}, Limits(seconds=2, megabytes=4096))
        whole = pool.submit(run, job, ENOUGH)

    assert short.result().problem
    assert whole.result().scores["overall"]["Bleu_1"] == 1.0
