"""Comparison with Turkle 3.1, the most similar tool, which runs in its own process and virtual
environment."""

import argparse
import json
import subprocess
import sys
import venv
from functools import cache

from benchmarks.harness import BUILD, ROOT, Line, Report, ratio

REQUIREMENT = "turkle==3.1.0"
ENVIRONMENT = BUILD / "turkle"


class TurkleAbsent(Exception):
    """Turkle could not be installed or run. The message says why."""


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--require-turkle", action="store_true", help="exit status 1 where Turkle cannot run"
    )


def compare(
    report: Report,
    options: argparse.Namespace,
    *,
    what: str,
    key: str,
    ours: float,
    tasks: int,
    more_is_better: bool = False,
) -> None:
    """Add Turkle's result next to ours. The ratio is below 1 if ours is faster, for times and for
    rates."""
    try:
        theirs = measure(key, tasks)
    except TurkleAbsent as error:
        if options.require_turkle:
            raise SystemExit(f"Turkle did not run: {error}") from error
        report.lines.append(Line(what, f"{ours:,.1f}", f"Turkle did not run: {error}"))
        report.figures[f"turkle_{key}"] = None
        return
    against = ratio(theirs, ours) if more_is_better else ratio(ours, theirs)
    report.lines.append(
        Line(what, f"{ours:,.1f}", f"Turkle, {tasks:,} tasks: {theirs:,.1f}", against)
    )
    report.figures[f"our_{key}"] = round(ours, 2)
    report.figures[f"turkle_{key}"] = round(theirs, 2)


def measure(key: str, tasks: int) -> float:
    """Turkle's result named `key`, whose first word is the command of `turkle_site`. Raises
    TurkleAbsent."""
    script = ROOT / "benchmarks" / "turkle_site.py"
    # -P: do not import modules of this folder.
    command = [_python(), "-P", str(script), key.split("_")[0], "--tasks", str(tasks)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise TurkleAbsent(_last_line(done.stderr))
    return float(json.loads(done.stdout)[key])


@cache
def _python() -> str:
    """The interpreter of Turkle's environment, which is created on first use."""
    python = ENVIRONMENT / "bin" / "python"
    installed = ENVIRONMENT / "installed"
    if installed.exists() and installed.read_text() == REQUIREMENT:
        return str(python)
    print(f"Installing {REQUIREMENT} into {ENVIRONMENT.relative_to(ROOT)} …", file=sys.stderr)
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", REQUIREMENT],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise TurkleAbsent(_last_line(done.stderr))
    installed.write_text(REQUIREMENT)
    return str(python)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]
