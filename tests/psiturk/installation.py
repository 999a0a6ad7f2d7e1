"""An installed psiTurk with one experiment, its shell and its server.

All files are in `build/psiturk` and a temporary folder.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import requests

from tests.hits.marketplace_process import ROOT, Frame, WorkerSession
from tests.servers import PATIENCE, free_port, stop, wait_until_ready

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
BUILD = ROOT / "build" / "psiturk"
CONFIG = """
[HIT Configuration]
title = Name the colour
description = Say in which colour a word is written
keywords = psychology
us_only = true
approve_requirement = 95
ad_url = http://127.0.0.1:{port}/pub
[Database Parameters]
database_url = sqlite:///participants.db
[Server Parameters]
host = 127.0.0.1
port = {port}
threads = 1
[Task Parameters]
experiment_code_version = 1.0
[Shell Parameters]
launch_in_mode = {mode}
"""


def installed() -> Path:
    """The folder of psiTurk's programs; installs them if missing or if the requirements changed."""
    pins = sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    environment = BUILD / f"venv-{pins}"
    if not (environment / "installed").exists():
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        python = environment / "bin" / "python"
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(REQUIREMENTS)],
            check=True,
        )
        (environment / "installed").touch()
    return environment / "bin"


@dataclass
class PsiTurk:
    """One experiment, and psiTurk's programs in its folder."""

    programs: Path
    experiment: Path
    environment: dict[str, str]
    port: int
    mode: str
    # What stands before a program, `marketplace_run` for one.
    prefix: Sequence[str] = ()

    def shell(self, command: str) -> str:
        """Run a command of psiTurk's shell; return its output."""
        done = subprocess.run(
            [*self.prefix, str(self.programs / "psiturk"), "-e", command],
            cwd=self.experiment,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def server(self) -> Iterator[None]:
        """Run psiTurk's web server, which serves the experiment."""
        with subprocess.Popen(
            [*self.prefix, str(self.programs / "psiturk-server")],
            cwd=self.experiment,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                wait_until_ready(f"http://127.0.0.1:{self.port}/", process)
                yield
            finally:
                stop(process)

    def take_part(self, worker: WorkerSession, frame: Frame) -> None:
        """Do the experiment as its pages do, up to the form at the end."""
        site = f"http://127.0.0.1:{self.port}"
        advertisement = requests.get(frame.src, timeout=PATIENCE)
        assert advertisement.ok, advertisement.text
        query = frame.src.partition("?")[2]
        for page in ("consent", "exp"):
            answer = requests.get(f"{site}/{page}?{query}&mode={self.mode}", timeout=PATIENCE)
            assert answer.ok, answer.text
        unique_id = f"{worker.worker_id}:{frame.assignment_id}"
        for note in ("worker_complete", "worker_submitted"):
            done = requests.get(f"{site}/{note}", {"uniqueId": unique_id}, timeout=PATIENCE)
            assert done.json() == {"status": "success"}


def make_experiment(
    folder: Path, keys: dict[str, str], *, mode: str = "sandbox", **options: Any
) -> PsiTurk:
    """Set up psiTurk's own example in the folder."""
    programs = installed()
    environment = {
        **{name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
        "AWS_ACCESS_KEY_ID": keys["access_key"],
        "AWS_SECRET_ACCESS_KEY": keys["secret_key"],
        "HOME": str(folder),
        **options.pop("environment", {}),
    }
    subprocess.run(
        [str(programs / "psiturk-setup-example")],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    port = free_port()
    experiment = folder / "psiturk-example"
    (experiment / "config.txt").write_text(CONFIG.format(port=port, mode=mode))
    return PsiTurk(programs, experiment, environment, port, mode, **options)
