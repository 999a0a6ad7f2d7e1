"""Folders that are written whole or not at all, and JSON that is read in pieces."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from corpora.errors import DomainError
from corpora.writing import File, json_array, json_object, members, write_folder
from tests.folders import contents


def files_of(**texts):
    return (File(name, iter([text.encode()])) for name, text in texts.items())


def never(_manifest):
    return False


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "v1").mkdir()
    (tmp_path / "v1" / "thesis.txt").write_text("years of work")

    with pytest.raises(DomainError, match=r"has other files \(thesis\.txt\)"):
        write_folder(files_of(a="1"), tmp_path / "v1", replaces=never)

    assert contents(tmp_path) == {"v1/thesis.txt": b"years of work"}


@pytest.mark.parametrize("made", [Path.touch, lambda path: path.symlink_to("nowhere/else")])
def test_a_place_that_is_not_a_folder_is_named(tmp_path, made):
    made(tmp_path / "v1")

    if (tmp_path / "v1").is_symlink():
        write_folder(files_of(a="1"), tmp_path / "v1", replaces=never)
        assert (tmp_path / "nowhere" / "else" / "a").read_text() == "1"
    else:
        with pytest.raises(DomainError, match="is a file"):
            write_folder(files_of(a="1"), tmp_path / "v1", replaces=never)


def test_the_folder_that_a_shell_is_in_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "v1" / "inside").mkdir(parents=True)

    for place in ("v1", "v1/inside"):
        monkeypatch.chdir(tmp_path / place)
        with pytest.raises(DomainError, match="^You are in .*/v1. Name a folder in it"):
            write_folder(files_of(a="1"), tmp_path / "v1", replaces=never)

    assert (tmp_path / "v1" / "inside").is_dir()


def test_a_failed_export_leaves_nothing(tmp_path):
    def failing():
        yield from files_of(a="1")
        raise DomainError("no more")

    with pytest.raises(DomainError, match="no more"):
        write_folder(failing(), tmp_path / "v1", replaces=never)

    assert list(tmp_path.iterdir()) == []


def test_a_second_export_to_the_same_folder_waits_for_the_first(tmp_path):
    def during():
        with pytest.raises(DomainError, match="Another export writes to"):
            write_folder(files_of(a="2"), tmp_path / "v1", replaces=never)
        yield from files_of(a="1")

    write_folder(during(), tmp_path / "v1", replaces=never)

    assert contents(tmp_path) == {"v1/a": b"1"}


FULL = """
import sys
from pathlib import Path
from corpora.writing import File
from corpora.writing import write_folder
def files():
    yield File("a", iter([b"x" * 1000]))
    yield File("b", (b"x" * 1000 for _ in range(1000)))
write_folder(files(), Path(sys.argv[1]), replaces=lambda _: False)
"""


def run_with_small_files(*arguments):
    """Run Python with a limit of 100 kB for a file, as on a full disk."""
    return subprocess.run(
        [sys.executable, "-c", *arguments],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_file(tmp_path):
    done = run_with_small_files(FULL, str(tmp_path / "v1"))

    assert "Cannot write to" in done.stderr
    assert "File too large. Nothing was changed." in done.stderr
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from corpora.writing import File
from corpora.writing import write_folder
def files():
    yield File("a", iter([b"1"]))
    os.kill(os.getpid(), signal.SIGKILL)
write_folder(files(), Path(sys.argv[1]), replaces=lambda _: True)
"""


@pytest.mark.slow
def test_a_killed_export_leaves_the_earlier_one_and_does_not_disturb_the_next(tmp_path):
    write_folder(
        files_of(a="0", **{"manifest.json": '{"files": [{"name": "a"}]}'}),
        tmp_path / "v1",
        replaces=never,
    )
    done = run_with_small_files(KILLED, str(tmp_path / "v1"))

    assert done.returncode == -9
    assert (tmp_path / "v1" / "a").read_text() == "0"
    write_folder(files_of(a="2"), tmp_path / "v1", replaces=lambda _: True)
    assert contents(tmp_path) == {"v1/a": b"2"}


def test_an_export_that_was_killed_while_replacing_another_is_undone(tmp_path):
    (tmp_path / ".v1.earlier").mkdir()
    (tmp_path / ".v1.earlier" / "a").write_text("0")

    with pytest.raises(DomainError, match="has other files"):
        write_folder(files_of(a="1"), tmp_path / "v1", replaces=never)

    assert contents(tmp_path) == {"v1/a": b"0"}


@pytest.mark.parametrize("cut", [1, 7, 40, 10_000])
def test_members_of_stored_json_are_read_in_any_division_into_chunks(monkeypatch, cut):
    monkeypatch.setattr("corpora.writing.CHUNK", cut)
    rows = [{"id": n, "text": 'a "b": ]} [' * (n % 3), "list": [{}, []]} for n in range(50)]

    array = ['{"info": {"x": 1}, "rows": ', *json_array(rows), "}\n"]
    mapping = ['{"rows": ', *json_object((str(row["id"]), row) for row in rows), "}\n"]

    assert list(members(array, "rows")) == rows
    assert list(members(mapping, "rows")) == [(str(row["id"]), row) for row in rows]
    assert list(members(['{"rows": ', *json_array([]), "}"], "rows")) == []
