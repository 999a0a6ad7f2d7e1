"""Java's limits and failures: a metric says why it has no figure, and nothing is left behind."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pytest
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

from corpora.evaluation.java import Java, JavaFailed, package_folder, run_java
from corpora.evaluation.metrics import JARS, Sentences, meteor, spice
from corpora.evaluation.scoring import Plan, score
from corpora.evaluation.tokenisers import official
from tests.servers import is_running, wait_until

pytestmark = pytest.mark.slow

SENTENCES = Sentences([["a dog", "the dog"], ["a cat"]], ["a dog", "a bird"])
HARD = [
    "A dog's tail, isn't it?",
    "",
    "   ",
    "two\nlines\r\nand\u2028more\u0085here",
    'She said "hi" (twice) -- 1 1/2 cups of tea...',
    "Ein Hund läuft über die Straße 🐕",
    "A T-shirt for $3.50 & a hat; it's 50% off!",
    "word " * 2000,
]


@pytest.fixture
def pretender(tmp_path: Path):
    """Make a program that stands in for Java and runs this shell script."""

    def make(script: str) -> Java:
        path = tmp_path / "java"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Java(program=str(path), seconds=30)

    return make


def test_the_official_tokeniser_gives_the_words_of_pycocoevalcap() -> None:
    # The package puts a file into its own folder, and reads lines that a caption contains as
    # captions, so it gets the captions with other line ends removed.
    lines = [" ".join(text.splitlines()) for text in HARD]
    tokenised = PTBTokenizer().tokenize({n: [{"caption": t}] for n, t in enumerate(lines)})

    assert official(HARD, java=Java()) == [tokenised[number][0] for number in range(len(HARD))]


def test_nothing_is_written_into_the_package_or_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    package = package_folder()
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*")}

    official(["a dog"], java=Java())

    assert {path: path.stat().st_mtime_ns for path in package.rglob("*")} == before
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("kill -9 $$", "Java was killed by the signal SIGKILL"),
        ("kill -XCPU $$", "Java reached its limit of processor time."),
        ("exit 3", "ran out of its memory of 2048 MB"),
        ("echo 'WARNING: x' >&2; echo 'Error: no jar' >&2; exit 1", "status 1: Error: no jar"),
        ("exit 7", "status 7: no message"),
        ("cat > /dev/null; echo a dog", "returned 1 lines for 2 captions"),
    ],
)
def test_a_failure_of_java_is_explained(pretender, script: str, message: str) -> None:
    with pytest.raises(JavaFailed, match=message):
        official(["a dog", "a cat"], java=pretender(script))


def test_java_that_takes_too_long_is_killed(pretender, tmp_path: Path) -> None:
    java = pretender(f"echo $$ > {tmp_path}/pid; exec sleep 600")._replace(seconds=0.5)

    with pytest.raises(JavaFailed, match="stopped after its limit of 0.5 s"):
        official(["a dog"], java=java)

    process = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_too_little_memory_is_named() -> None:
    with pytest.raises(JavaFailed, match="ran out of its memory of 50 MB"):
        meteor(SENTENCES, Java(memory_mb=50))


def test_a_metric_that_is_killed_loses_only_its_own_figure(pretender) -> None:
    java = pretender('case "$*" in *meteor*) kill -9 $$;; esac; exec java "$@"')

    scores = score({1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: "a cat"}, Plan(java=java))

    assert scores.failures["meteor"] == "Java was killed by the signal SIGKILL."
    assert scores.overall["ROUGE_L"] == pytest.approx(1)
    assert scores.overall["CIDEr"] > 0


@pytest.fixture
def no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a download was tried")

    monkeypatch.setattr(urllib.request, "urlretrieve", refused)
    monkeypatch.setattr(urllib.request, "urlopen", refused)


@pytest.mark.usefixtures("no_download")
def test_spice_is_never_downloaded(tmp_path: Path) -> None:
    results = {1: "a dog", 2: "a cat"}
    references = {image: [text] for image, text in results.items()}

    for java, reason in [
        (Java(), "SPICE_MODELS does not name a folder"),
        (Java(spice_models=tmp_path), f"SPICE_MODELS has no file {JARS[0]}"),
    ]:
        failures = score(references, results, Plan(["spice"], java=java)).failures
        assert reason in failures["spice"]
    assert "pycocoevalcap.spice" not in sys.modules
    assert not [*(package_folder() / "spice").glob("lib/stanford-corenlp*")]


@pytest.mark.usefixtures("no_download")
def test_wrong_files_for_spice_are_a_reason(tmp_path: Path) -> None:
    for name in JARS:
        (tmp_path / name).write_bytes(b"no jar")

    with pytest.raises(JavaFailed, match="Java ended with status"):
        spice(SENTENCES, Java(spice_models=tmp_path, spice_memory_mb=200))


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ([{"image_id": 0, "scores": {"All": {"f": 0.25}}}], "a score for each image"),
        ([{"image_id": n, "scores": {"All": {"f": None}}} for n in range(2)], "a score for each"),
        (None, "a score for each image"),
    ],
)
def test_incomplete_output_of_spice_is_a_reason(
    pretender, tmp_path: Path, output: object, message: str
) -> None:
    with pytest.raises(JavaFailed, match=message):
        spice(SENTENCES, spice_that_writes(pretender, tmp_path, output))


def test_the_output_of_spice_is_read_and_its_files_are_deleted(
    pretender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    entries = [{"image_id": n, "scores": {"All": {"f": n / 2}}} for n in (1, 0)]

    measured = spice(SENTENCES, spice_that_writes(pretender, tmp_path, entries))

    assert measured.statistics.tolist() == [[0], [0.5]]
    assert [*temporary.iterdir()] == []


def spice_that_writes(pretender, folder: Path, output: object) -> Java:
    """SPICE's models are not available to tests; this program writes what SPICE would write."""
    for name in JARS:
        (folder / name).touch()
    (folder / "output.json").write_text("" if output is None else json.dumps(output))
    script = f'while [ "$1" != -out ]; do shift; done; cp {folder}/output.json "$2"'
    return pretender(script)._replace(spice_models=folder)


PARENT = """
import sys
from corpora.evaluation.java import Java, run_java
run_java([], java=Java(program=sys.argv[1]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses the kernel's help")
def test_java_ends_with_a_killed_parent(pretender, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    java = pretender(f"echo $$ > {pid_file}.part; mv {pid_file}.part {pid_file}; exec sleep 600")
    parent = subprocess.Popen([sys.executable, "-c", PARENT, java.program])
    try:
        wait_until(pid_file.exists)
        child = int(pid_file.read_text())
    finally:
        parent.kill()
        parent.wait()

    wait_until(lambda: not is_running(child))


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)

    with pytest.raises(JavaFailed, match="No space left on device"):
        run_java(["-version"], java=Java())
