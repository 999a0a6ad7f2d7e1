"""Plot the baselines' scores over the number of selected boxes."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from annotate.content_selection.baselines import MOST_BOXES, Curve
from annotate.content_selection.metric import Summary

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
