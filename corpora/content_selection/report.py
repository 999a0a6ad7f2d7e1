"""The result of a run, as a table and as JSON."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpora.content_selection.baselines import MOST_BOXES, Curve
from corpora.content_selection.metric import (
    Boxes,
    Gold,
    Summary,
    boxes_per_description,
    human_upper_bound,
    score_images,
)
from corpora.wording import counted


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
            content["baselines"] = self._curves()
        return content

    def _curves(self) -> dict[str, Any]:
        return {
            name: {
                "best_k": curve.best_k,
                "scores": [
                    {"k": k, **as_json(score)} for k, score in enumerate(curve.scores, start=1)
                ],
            }
            for name, curve in self.baselines.items()
        }

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


if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES = {"f.png": ["f"], "precision_recall.png": ["precision", "recall"]}
PANEL_INCHES = (5.0, 4.0)
LEGEND_INCHES = 1.2
DOTS_PER_INCH = 150
# A colour and a marker for each baseline; the colours can be told apart by colour-blind readers.
MARKERS = "osD^vPX<>"


def draw_figures(baselines: Mapping[str, Curve], human: Summary | None, out: Path) -> list[Path]:
    """Plot F over k, and precision and recall over k, as PNG files; return their paths."""
    out.mkdir(parents=True, exist_ok=True)
    for name, measures in FIGURES.items():
        _draw(baselines, human, measures, out / name)
    return [out / name for name in FIGURES]


def _draw(
    baselines: Mapping[str, Curve], human: Summary | None, measures: list[str], path: Path
) -> None:
    from matplotlib.figure import Figure

    width, height = PANEL_INCHES
    figure = Figure(figsize=(width * len(measures) + LEGEND_INCHES, height), layout="constrained")
    panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    for panel, measure in zip(panels, measures, strict=True):
        _draw_panel(panel, baselines, human, measure)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.savefig(path, dpi=DOTS_PER_INCH)


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
