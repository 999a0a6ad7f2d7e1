"""Score the boxes that a system selects against those that descriptions mention."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.commands import WrongOptions
from corpora.content_selection.baselines import MOST_BOXES, Curve, run_baselines
from corpora.content_selection.files import read_boxes, read_gold, read_mentions, read_results
from corpora.content_selection.metric import (
    Boxes,
    Gold,
    Summary,
    boxes_per_description,
    human_upper_bound,
    score_images,
)
from corpora.errors import DomainError
from corpora.reading.files import MalformedFile
from corpora.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HELP = (
    "Score the boxes selected for each image against those that its descriptions mention "
    "(Wang and Gaizauskas, ENLG 2015). The output also has the human upper bound and, with "
    "--boxes, the paper's baselines."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "gold",
        type=Path,
        metavar="GOLD",
        help="JSON object from image id to its descriptions, each a list of box ids",
    )
    parser.add_argument(
        "results",
        type=Path,
        nargs="?",
        metavar="RESULTS",
        help="JSON object from image id to a list of box ids; optional with --boxes",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument(
        "--boxes",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="run the baselines on these boxes, a boxes.json of export_correspondences; may "
        "be repeated",
    )
    parser.add_argument(
        "--development",
        type=Path,
        metavar="FILE",
        help="descriptions of other images, in the form of GOLD, that the baselines learn from",
    )
    parser.add_argument(
        "--mentions",
        type=Path,
        metavar="FILE",
        help="the order in which descriptions of development images mention their boxes, a "
        "mentions.json of export_correspondences; adds the baselines bigram and combined",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="draw the baselines' scores into this folder"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed for the baselines' random choices (default: 0)",
    )


def run(
    *,
    gold: Path,
    results: Path | None,
    boxes: list[Path],
    development: Path | None,
    mentions: Path | None,
    out: Path | None,
    **options: Any,
) -> Iterator[str]:
    check_options(results, boxes, development, {"--mentions": mentions, "--out": out})
    descriptions = read_described(gold)
    curves = {}
    if development:
        curves = run_baselines(
            descriptions,
            read_described(development),
            read_boxes(boxes),
            mentions=read_mentions(mentions) if mentions else None,
            seed=options["seed"],
        )
    report = make_report(descriptions, read_results(results) if results else None, curves)
    try:
        drawn = draw_figures(report.baselines, report.human, out) if out else []
    except OSError as error:
        raise DomainError(f"{out}: {error.strerror}") from error
    if options["json"]:
        yield json.dumps(report.as_json())
    else:
        yield from [*report.lines(), *map(str, drawn)]


def read_described(path: Path) -> Gold:
    """The descriptions of each image; raises MalformedFile, also if there is none."""
    if not any((descriptions := read_gold(path)).values()):
        raise MalformedFile(path, "no image has a description")
    return descriptions


def check_options(
    results: Path | None,
    boxes: list[Path],
    development: Path | None,
    for_baselines: dict[str, Path | None],
) -> None:
    """Raises WrongOptions where one option is without the other that it needs."""
    if bool(boxes) != bool(development):
        raise WrongOptions("The baselines need both --boxes and --development.")
    if not results and not boxes:
        raise WrongOptions("Name RESULTS, or --boxes and --development for the baselines.")
    for option, path in for_baselines.items():
        if path and not boxes:
            raise WrongOptions(
                f"{option} is for the baselines, so it needs --boxes and --development."
            )


class Results(NamedTuple):
    """A system's score, and the numbers of images without a selection and without a description."""

    score: Summary
    without_result: int
    without_gold: int


class Report(NamedTuple):
    """Statistics of the descriptions, a system's results, and the baselines' scores, if given."""

    images: int
    descriptions: int
    boxes_per_description: float
    human: Summary | None
    results: Results | None
    baselines: Mapping[str, Curve]

    def as_json(self) -> dict[str, Any]:
        """One object; `precision`, `recall` and `f` of a system are direct members."""
        content: dict[str, Any] = {
            "images": self.images,
            "descriptions": self.descriptions,
            "boxes_per_description": self.boxes_per_description,
            "human": as_json(self.human) if self.human else None,
        }
        if self.results:
            content |= as_json(self.results.score)
            content["without_result"] = self.results.without_result
            content["without_gold"] = self.results.without_gold
        if self.baselines:
            content["baselines"] = {
                name: {
                    "best_k": curve.best_k,
                    "scores": [
                        {"k": k, **as_json(score)} for k, score in enumerate(curve.scores, start=1)
                    ],
                }
                for name, curve in self.baselines.items()
            }
        return content

    def lines(self) -> Iterator[str]:
        yield (
            f"{counted(self.images, 'image')}, {counted(self.descriptions, 'description')} that "
            f"{'mentions' if self.descriptions == 1 else 'mention'} "
            f"{self.boxes_per_description:.2f} boxes on average"
        )
        if self.results and self.results.without_result:
            yield f"Images without a result, which score 0: {self.results.without_result}"
        if self.results and self.results.without_gold:
            yield f"Results of images without gold, left out: {self.results.without_gold}"
        yield ""
        yield f"{'':16}{'precision':>16}{'recall':>16}{'F':>16}" + "   k" * bool(self.baselines)
        if self.results:
            yield _score_line("results", self.results.score)
        if self.human:
            yield _score_line("human", self.human)
        for name, curve in self.baselines.items():
            yield f"{_score_line(name, curve.best)}{curve.best_k:4}"
        if self.baselines:
            yield from self._lines_by_k()

    def _lines_by_k(self) -> Iterator[str]:
        yield ""
        yield "F of the first k boxes"
        yield f"{'k':>3}" + "".join(f"{name:>18}" for name in self.baselines)
        by_k = zip(*(curve.scores for curve in self.baselines.values()), strict=True)
        for k, scores in enumerate(by_k, start=1):
            yield f"{k:3}" + "".join(f"{score.mean.f:18.3f}" for score in scores)


def make_report(
    gold: Gold, selections: Mapping[str, Boxes] | None, baselines: Mapping[str, Curve]
) -> Report:
    """Compute all scores; raises DomainError if no image has a description."""
    described = {image for image, descriptions in gold.items() if descriptions}
    results = None
    if selections is not None:
        results = Results(
            score=score_images(gold, selections),
            without_result=len(described - selections.keys()),
            without_gold=len(selections.keys() - described),
        )
    return Report(
        images=len(described),
        descriptions=sum(map(len, gold.values())),
        boxes_per_description=boxes_per_description(gold),
        human=human_upper_bound(gold),
        results=results,
        baselines=baselines,
    )


def as_json(summary: Summary) -> dict[str, Any]:
    """The means as direct members, and the standard deviations as one object."""
    return {**summary.mean._asdict(), "standard_deviation": summary.deviation._asdict()}


def _score_line(name: str, summary: Summary) -> str:
    cells = (f"{mean:.3f} ± {spread:.3f}" for mean, spread in zip(*summary, strict=True))
    return f"{name:16}" + "".join(f"{cell:>16}" for cell in cells)


FIGURES = {"f.png": ["f"], "precision_recall.png": ["precision", "recall"]}
PANEL_INCHES = (5.0, 4.0)
LEGEND_INCHES = 1.2
DOTS_PER_INCH = 150
# A colour and a marker for each baseline; the colours can be told apart by colour-blind readers.
MARKERS = "osD^vPX<>"


def draw_figures(baselines: Mapping[str, Curve], human: Summary | None, out: Path) -> list[Path]:
    """Plot F over k, and precision and recall over k, as PNG files; return their paths."""
    from matplotlib.figure import Figure

    out.mkdir(parents=True, exist_ok=True)
    width, height = PANEL_INCHES
    for name, measures in FIGURES.items():
        figure = Figure(
            figsize=(width * len(measures) + LEGEND_INCHES, height), layout="constrained"
        )
        panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
        for panel, measure in zip(panels, measures, strict=True):
            _draw_panel(panel, baselines, human, measure)
        handles_and_labels = panels[0].get_legend_handles_labels()
        figure.legend(*handles_and_labels, loc="outside right center", frameon=False)
        figure.savefig(out / name, dpi=DOTS_PER_INCH)
    return [out / name for name in FIGURES]


def _draw_panel(
    panel: "Axes", baselines: Mapping[str, Curve], human: Summary | None, measure: str
) -> None:
    for marker, (name, curve) in zip(MARKERS, baselines.items(), strict=False):
        values = [getattr(score.mean, measure) for score in curve.scores]
        panel.plot(range(1, len(values) + 1), values, marker=marker, markersize=4, label=name)
    if human:
        panel.axhline(getattr(human.mean, measure), color="black", linestyle="--", label="human")
    panel.set_xticks(range(1, MOST_BOXES + 1))
    panel.set_xlabel("k, boxes selected")
    panel.set_ylabel("F" if measure == "f" else measure)
    panel.set_ylim(0, 1)
    panel.grid(alpha=0.3)
