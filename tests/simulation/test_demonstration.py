"""The `demo` and `serve` commands as separate processes on free ports."""

import fcntl
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import requests
from pycocotools.coco import COCO

from hits.local import (
    MANAGE,
    Child,
    Installation,
    ProcessFailed,
    child,
    clean_environment,
    emptied,
    is_demonstration,
    is_free,
    locked,
    manage,
)
from shared.settings import databases
from tests.servers import PATIENCE, free_port, hear_interrupts

pytestmark = pytest.mark.slow

# Enough for the campaign's last HITs to go to workers who have few images left.
IMAGES = 4


def program(*arguments: str) -> list[str]:
    return [sys.executable, str(MANAGE), *arguments]


def ports_of_its_own() -> list[str]:
    """Options with two ports that no other test process uses.

    Two processes that start at the same time would both find the default ports free.
    """
    return ["--port", str(free_port()), "--marketplace-port", str(free_port())]


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory, request) -> tuple[Path, str]:
    """The folder of a finished `make demo`, and the command's output.

    The first process of pytest that needs it makes it for all.
    """
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent
    told = folder / "demonstration.txt"
    with (folder / "demonstration.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            told.write_text(_demonstrate(folder / "demonstration"))
    return folder / "demonstration", told.read_text()


def _demonstrate(folder: Path) -> str:
    options = ["--out", str(folder), "--images", str(IMAGES), *ports_of_its_own()]
    done = subprocess.run(
        # Packages are not installed again.
        [
            *["make", "--no-print-directory", "--assume-old=requirements.txt"],
            *["demo", f"DEMO={shlex.join(options)}"],
        ],
        cwd=MANAGE.parent,
        env=clean_environment({}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_demonstration_leaves_files_that_coco_tools_open(demonstration, capsys):
    folder, _ = demonstration

    captions = COCO(folder / "captions.json")
    baseline = captions.loadRes(str(folder / "baseline.json"))

    assert len(captions.getImgIds()) == IMAGES
    assert {len(captions.getAnnIds(imgIds=[i])) for i in captions.getImgIds()} == {10}
    assert len(baseline.getAnnIds()) == IMAGES
    assert set(baseline.getImgIds()) == set(captions.getImgIds())


def test_each_image_of_a_demonstration_is_described_by_eleven_workers(demonstration):
    folder, _ = demonstration

    rows = json.loads((folder / "workers.json").read_text())
    workers: dict[int, set[str]] = defaultdict(set)
    for row in rows["annotations"] + rows["baseline"]:
        workers[row["image_id"]].add(row["worker"])
    assert [len(found) for found in workers.values()] == [11] * IMAGES


def test_a_demonstration_links_the_words_of_its_captions(demonstration):
    folder, printed = demonstration

    captions = json.loads((folder / "captions.json").read_text())
    texts = {row["id"]: row["caption"] for row in captions["annotations"]}
    boxes = json.loads((folder / "boxes.json").read_text())["boxes"]
    linked = json.loads((folder / "correspondences.json").read_text())["captions"]
    assert len(linked) == 2 * IMAGES
    assert {row["annotation_id"]: row["caption"] for row in linked}.items() <= texts.items()
    for row in linked:
        assert len({answer["worker"] for answer in row["answers"]}) == len(row["answers"]) == 15
        for links in row["links"].values():
            assert {boxes[link["box"]]["image_id"] for link in links} == {row["image_id"]}
    assert re.search(r"against the others P 0\.\d\d, R 0\.\d\d, F 0\.\d\d", printed)


def test_a_demonstration_says_what_holds_and_how_to_continue(demonstration):
    folder, printed = demonstration

    last = printed.strip().splitlines()[-1]
    assert printed.count("  yes  ") == 9
    assert "captions.json, baseline.json, workers.json, methods.md, page-en-1.html" in last
    assert "in English" in (folder / "methods.md").read_text()
    assert "correspondences.json" in last
    assert str(folder) in last
    assert f"manage.py serve --demo {folder}" in last
    assert json.loads((folder / "workers.json").read_text())["annotations"]


def test_a_demonstration_keeps_its_keys_to_its_owner(demonstration):
    folder, printed = demonstration

    file = folder / "environment.sh"
    [secret] = re.findall("AWS_SECRET_ACCESS_KEY=(.+)", file.read_text())
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in printed


def test_serve_opens_the_demonstration_and_stops_all_it_started(demonstration):
    folder, printed = demonstration
    password = re.search(r"password (\S+)$", printed.strip())
    site, marketplace = free_port(), free_port()
    ports = ["--port", str(site), "--marketplace-port", str(marketplace)]
    process = subprocess.Popen(
        program("serve", "--demo", str(folder), *ports),
        env=clean_environment({}),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    try:
        told = _until(process, "Stop with Ctrl-C")
        with requests.Session() as browser:
            page = browser.get(f"http://127.0.0.1:{site}/sign-in/", timeout=PATIENCE)
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            assert token is not None
            assert password is not None
            fields = {"username": "demo", "password": password[1]}
            answer = browser.post(
                page.url, data={**fields, "csrfmiddlewaretoken": token[1]}, timeout=PATIENCE
            )
            people = f"http://127.0.0.1:{marketplace}/operator/people"
            ask = f"http://127.0.0.1:{marketplace}/operator/hand-over"
            admin = browser.get(ask, params={"next": "/operator/people"}, timeout=PATIENCE)
            health = browser.get(f"http://127.0.0.1:{marketplace}/healthz", timeout=PATIENCE)
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=PATIENCE)

    assert f"http://127.0.0.1:{site}/" in told
    assert answer.ok
    assert "demo" in answer.text
    assert health.ok
    assert admin.url == people
    assert "Own people" in admin.text
    assert re.search(rf"“visitor”: http://127.0.0.1:{marketplace}/sign-in/\S+", told)
    assert process.returncode == 0
    assert "Stopped." in rest
    assert is_free(site)
    assert is_free(marketplace)


def test_an_interrupted_demonstration_stops_what_it_started(tmp_path):
    process = subprocess.Popen(
        program("demo", "--out", str(tmp_path / "demo"), "--images", "2", *ports_of_its_own()),
        env=clean_environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=hear_interrupts,
    )
    told = _until(process, "  Publish")
    ports = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", told)]

    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 1
    assert rest.endswith("CommandError: Stopped.\n")
    assert len(ports) == 2
    assert all(is_free(port) for port in ports)


def _until(process: subprocess.Popen, words: str) -> str:
    assert process.stdout is not None
    told = ""
    for line in process.stdout:
        told += line
        if words in line:
            return told
    raise AssertionError(f"the program ended: {told}")


def test_a_folder_that_no_demonstration_made_is_not_touched(tmp_path):
    precious = tmp_path / "thesis.tex"
    precious.write_text("years of work")

    with pytest.raises(ProcessFailed, match="was not created by `demo`"):
        locked(tmp_path)

    assert precious.read_text() == "years of work"
    assert not is_demonstration(tmp_path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("thesis.tex", "was not created by `demo`"), ("thesis.tex/demo", "Not a directory")],
)
def test_a_file_in_place_of_the_folder_is_refused(tmp_path, name, reason):
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(ProcessFailed, match=reason):
        locked(tmp_path / name)


def test_the_databases_are_in_the_folder_whatever_its_name(tmp_path):
    folder = tmp_path / "C# 50%41?"

    variables = Installation(folder).environment()

    for name in ("DATABASE_URL", "MARKETPLACE_DATABASE_URL"):
        database = databases(variables[name], file="", timeout=1)["default"]["NAME"]
        assert Path(database).parent == folder


def test_a_folder_is_for_one_process_at_a_time(tmp_path):
    folder = tmp_path / "demo"
    locked(folder)

    with pytest.raises(ProcessFailed, match="in use by another"):
        locked(folder)


def test_a_demonstration_starts_anew(tmp_path):
    folder = tmp_path / "demo"
    locked(folder)
    (folder / "media" / "images").mkdir(parents=True)
    (folder / "captions.json").write_text("{}")

    emptied(folder)

    assert [path.name for path in folder.iterdir()] == ["in-use.lock"]


def test_a_taken_port_is_passed_over(tmp_path):
    first = Installation(tmp_path).on_free_ports()
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        second = Installation(tmp_path, port, port).on_free_ports()

    assert first.site_port != first.marketplace_port
    assert port not in {second.site_port, second.marketplace_port}
    assert second.site_port != second.marketplace_port


def test_a_child_is_stopped_at_the_end_of_its_block(tmp_path):
    with child("shell", ["shell"], log=tmp_path / "logs" / "x.log", environment={}) as running:
        pid = running.process.pid

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_child_that_ends_at_once_names_its_log(tmp_path):
    log = tmp_path / "x.log"

    with (
        child("site", ["no_such_command"], log=log, environment={}) as running,
        pytest.raises(ProcessFailed, match=r"ended at once; .*x\.log"),
    ):
        running.wait_until_ready("http://127.0.0.1:9/")

    assert "no_such_command" in log.read_text()


def test_a_child_that_takes_a_call_before_it_can_answer_is_waited_for(tmp_path, monkeypatch):
    answers = iter([requests.ReadTimeout("not yet"), requests.Response()])

    def get(*_: object, **__: object) -> requests.Response:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("requests.Session.get", get)
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with process:
        Child("site", process, tmp_path / "x.log").wait_until_ready("http://127.0.0.1:9/")

    assert next(answers, None) is None


def test_a_child_whose_port_another_site_has_taken_is_not_ready(tmp_path, monkeypatch):
    monkeypatch.setattr("requests.Session.get", lambda *_, **__: requests.Response())
    log = tmp_path / "x.log"
    log.write_text("The site is ready at http://127.0.0.1:9 (an earlier run).\n")

    with (
        child("site", ["no_such_command"], log=log, environment={}) as running,
        pytest.raises(ProcessFailed, match="ended at once"),
    ):
        running.wait_until_listening("http://127.0.0.1:9/")


def test_a_command_that_fails_is_told_in_one_line():
    with pytest.raises(ProcessFailed, match="`manage.py no_such_command` failed: "):
        manage(["no_such_command"], {})
