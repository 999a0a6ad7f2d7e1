"""The same work in this product, in Turkle and in Label Studio, one after the other in one run.

Each is installed from the package index into its own environment and takes the same images by their
addresses. Then four annotators in turn ask for the next image and submit a caption, and the answers
are exported. Processor time is that of all processes of a product: for ours, both sites, the syncs
and the approvals.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.harness import ROOT, Line, Report, main, ratio, seconds
from benchmarks.peer_products import ANNOTATORS, LABEL_STUDIO, OURS, PRODUCTS, TURKLE, Work

IMAGES, FULL_IMAGES = 1_000, 15_000
ANSWERS = 200
CAPTION = "Two children wait beside an old stone bridge over a narrow river, number {}."
UV = str(Path(sys.executable).with_name("uv"))


@dataclass
class Measured:
    """A product's figures."""

    installation: float = 0.0
    installed_mb: float = 0.0
    images: float = 0.0
    answers: list[float] = field(default_factory=list)
    processor: float = 0.0
    exported: float = 0.0
    megabytes: float = 0.0


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--images", type=int, help=f"(default: {IMAGES}, --full: {FULL_IMAGES})")
    parser.add_argument("--answers", type=int, default=ANSWERS, help="(default: %(default)s)")


def measure(chosen: argparse.Namespace) -> Report:
    images = chosen.images or (FULL_IMAGES if chosen.full else IMAGES)
    addresses = [f"https://images.example/{number:016x}.jpg" for number in range(images)]
    measured = {
        name: _measured(begin, requirement, addresses, chosen.answers)
        for name, (begin, requirement) in PRODUCTS.items()
    }
    report = Report(database="sqlite")
    for what, key, unit, figure in FIGURES:
        ours = figure(measured[OURS])
        report.lines.append(Line(f"{what}: {OURS}", f"{ours:,.1f} {unit}"))
        for peer in (TURKLE, LABEL_STUDIO):
            theirs = figure(measured[peer])
            report.lines.append(
                Line(f"{what}: {peer}", f"{theirs:,.1f} {unit}", "ours", ratio(theirs, ours))
            )
        report.figures[key] = {name: round(figure(its), 3) for name, its in measured.items()}
    report.figures |= {
        "images": images,
        "answers": chosen.answers,
    }
    return report


FIGURES: list[tuple[str, str, str, Callable[[Measured], float]]] = [
    ("installation", "install_s", "s", lambda its: its.installation),
    ("its size", "install_mb", "MB", lambda its: its.installed_mb),
    ("import of the images", "import_s", "s", lambda its: its.images),
    (
        "next image and submission, median",
        "answer_ms",
        "ms",
        lambda its: 1000 * median(its.answers),
    ),
    ("processor time of an answer", "processor_ms", "ms", lambda its: 1000 * its.processor),
    ("export of the answers", "export_s", "s", lambda its: its.exported),
    ("memory of all processes", "memory_mb", "MB", lambda its: its.megabytes),
]


def _measured(
    begin: "Callable[[Path, Path], AbstractContextManager[Work]]",
    requirement: Sequence[str],
    addresses: Sequence[str],
    answers: int,
) -> Measured:
    its = Measured()
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        environment = folder / "environment"
        its.installation = seconds(lambda: _install(environment, requirement))
        sizes = (path.lstat().st_size for path in environment.rglob("*"))
        its.installed_mb = sum(sizes) / 1e6
        with begin(folder, environment / "bin") as work:
            its.images = seconds(lambda: work.import_images(addresses))
            used = work.used_seconds()
            for number in range(answers):
                text = CAPTION.format(number)
                its.answers.append(seconds(partial(work.answer, number % ANNOTATORS, text)))
            work.settle(answers)
            its.processor = (work.used_seconds() - used) / answers
            its.megabytes = work.megabytes()
            began = time.monotonic()
            exported = work.export()
            its.exported = time.monotonic() - began
            if exported != answers:
                raise SystemExit(f"{exported} of {answers} answers were exported.")
    return its


def _install(environment: Path, requirement: Sequence[str]) -> None:
    subprocess.run([UV, "venv", "--quiet", str(environment)], check=True)
    python = ["--python", str(environment / "bin" / "python")]
    subprocess.run([UV, "pip", "install", "--quiet", *python, *requirement], check=True, cwd=ROOT)


if __name__ == "__main__":
    main(measure, name="peers", description=__doc__, options=options)
