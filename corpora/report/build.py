"""Measure and draw all sections, and write the report's folder."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from corpora.errors import DomainError
from corpora.report import drawing
from corpora.report.dataset import Dataset
from corpora.report.sections import SECTIONS
from corpora.report.sections.base import Inputs, NotMeasured, Plot, Section, Table
from corpora.wording import counted
from corpora.writing import MANIFEST, File, encoded, write_folder

PAGE, NUMBERS, FIGURES = "report.html", "report.json", "figures"
SIGNIFICANT_DIGITS = 6
# Called with the title of the section that begins.
Progress = Callable[[str], object]


@dataclass(frozen=True)
class Drawn:
    """A figure with its files."""

    plot: Plot
    files: drawing.Files


@dataclass(frozen=True)
class Written:
    """A section as the page shows it; `reason` says why it has no numbers."""

    section: Section
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Drawn, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Report:
    numbers: Mapping[str, Any]
    sections: tuple[Written, ...]


def make_report(inputs: Inputs, progress: Progress = str) -> Report:
    """Measure and draw every section; raises DomainError."""
    if not inputs.dataset.images:
        raise DomainError(f"{inputs.dataset.name} has no images.")
    numbers: dict[str, Any] = {key: _described(dataset) for key, dataset in inputs.datasets.items()}
    numbers |= {"seed": inputs.seed, "absent": {}}
    written = []
    with drawing.style():
        for section in SECTIONS:
            progress(section.title)
            written.append(_write_section(section, inputs, numbers))
    return Report(numbers, tuple(written))


def _described(dataset: Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "images": len(dataset.images),
        "captions": len(dataset.captions),
        "references": len(dataset.references),
        "human_baseline": len(dataset.extras),
        "hidden_images": sum(image.is_hidden for image in dataset.images),
        "words": int(dataset.corpus.numbers.size),
    }


def _write_section(section: Section, inputs: Inputs, numbers: dict[str, Any]) -> Written:
    """Add the section's numbers, or the reason why there are none, and draw them."""
    try:
        measured = _rounded(section.measure(inputs))
    except NotMeasured as error:
        numbers["absent"][section.key] = str(error)
        return Written(section, reason=str(error))
    numbers[section.key] = measured
    figures = [Drawn(plot, drawing.files_of(*plot[::3])) for plot in section.plots(measured)]
    parts = dict.fromkeys(measured.get("absent", {}).values())
    return Written(
        section,
        (*section.text(measured), *parts),
        tuple(section.tables(measured)),
        tuple(figures),
    )


def _rounded(value: Any) -> Any:
    """The value as JSON has it, without digits that depend on the machine."""
    if isinstance(value, Mapping):
        return {str(key): _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a figure")
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return value


def write_report(report: Report, out: Path) -> list[Path]:
    """Write the folder, completely or not at all; raises DomainError.

    The folder must be new, empty, or an earlier report, which is replaced.
    """
    write_folder(_bundle(report), out, replaces=lambda manifest: "report" in manifest)
    return [out / PAGE, out / NUMBERS, out / FIGURES]


def _bundle(report: Report) -> Iterator[File]:
    """The files of the report; the manifest, which has their digests, is the last one."""
    entries = []
    for name, content in _contents(report):
        entries.append({"name": name, "bytes": len(content), "sha256": sha256(content).hexdigest()})
        yield File(name, iter([content]))
    manifest = {"report": report.numbers["dataset"]["name"], "files": entries}
    yield File(MANIFEST, encoded([_json(manifest)]))


def _contents(report: Report) -> Iterator[tuple[str, bytes]]:
    for section in report.sections:
        for drawn in section.figures:
            yield f"{FIGURES}/{drawn.plot.name}.svg", drawn.files.svg
            yield f"{FIGURES}/{drawn.plot.name}.png", drawn.files.png
    yield NUMBERS, _json(report.numbers).encode()
    environment = Environment(
        loader=PackageLoader("corpora.report", "."), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template(PAGE)
    yield PAGE, page.render(report=report, numbers=report.numbers, counted=counted).encode()


def _json(value: Mapping[str, Any]) -> str:
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n"
