"""The style of all figures, and their files.

The colours are those of Okabe and Ito, which people with colour blindness can tell apart; series
also differ in marker, line or filling. Each figure is one small panel, so that it is readable at
the width of a phone.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, GRID = "#1b2326", "#56646a", "#dadfdb"
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
SERIES = {"dataset": BLUE, "against": VERMILION, "baseline": GREEN, "results": PURPLE}
# Whose captions are compared with the references.
SYSTEMS = {"baseline": "human baseline", "results": "results"}
MARKERS = {"dataset": "o", "against": "s", "baseline": "D", "results": "^"}
HATCHES = {"dataset": "", "against": "////", "baseline": "....", "results": "xxxx"}
# The page's stylesheet gives these names other values in the dark.
VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--line",
    BLUE: "--blue",
    VERMILION: "--vermilion",
    GREEN: "--green",
    PURPLE: "--purple",
}
INCHES = (4.4, 3.1)
DOTS_PER_INCH = 200
FONT = "DejaVu Sans"
STYLE: Any = {
    "font.family": FONT,
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.labelcolor": INK,
    # Names of datasets and subsets are no formulas, also those with two dollar signs.
    "text.parse_math": False,
    "svg.fonttype": "path",
    # Without a fixed salt, the ids in a file differ from run to run.
    "svg.hashsalt": "report",
}


class Look(NamedTuple):
    """How the points of a series are drawn; the size is in square points."""

    colour: str
    marker: str
    size: float = 13
    alpha: float = 1


class Files(NamedTuple):
    """A figure as files, and for a page that has colours of its own."""

    svg: bytes
    png: bytes
    inline: str


@contextmanager
def style() -> Iterator[None]:
    """Draw and save with the report's style."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        yield


def panel(x_label: str, y_label: str, *, height: float = INCHES[1]) -> tuple["Figure", "Axes"]:
    """A figure with one panel."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(INCHES[0], height), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return figure, axes


def legend_above(axes: "Axes", *handles: Any, columns: int = 1) -> None:
    """A legend above the panel, where it hides no data; `handles` are all by default."""
    axes.legend(
        handles=handles or None,
        ncols=columns,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        labelspacing=0.25,
    )


def scatter(axes: "Axes", points: Sequence[tuple[float, float]], look: "Look", label: str) -> None:
    """Draw points, if there are any; crosses have lines, all other markers are filled."""
    if points:
        xs, ys = zip(*points, strict=True)
        axes.scatter(
            xs,
            ys,
            s=look.size,
            color=look.colour,
            marker=look.marker,
            alpha=look.alpha,
            linewidths=1 if look.marker == "x" else 0,
            label=label,
        )


def line(axes: "Axes", points: Sequence[tuple[float, float]], key: str) -> None:
    """Draw a line with the markers of one of SYSTEMS."""
    xs, ys = zip(*points, strict=True)
    marker = MARKERS[key]
    axes.plot(xs, ys, label=SYSTEMS[key], color=SERIES[key], marker=marker, markersize=5)


def rank_axes(axes: "Axes") -> None:
    """Whole ranks from left to right, and a logarithmic axis with plain numbers (1, 10, 1,000)."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=9))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def shortened(name: str) -> str:
    return name if len(name) <= 34 else f"{name[:33]}…"


def label_of(name: str) -> str:
    """A name for a legend, which leaves out labels that begin with an underscore. Characters that
    the font does not have, such as Japanese ones, are escaped, so that names stay different."""
    known = _characters()
    drawn = "".join(
        c if ord(c) in known else c.encode("ascii", "backslashreplace").decode() for c in name
    )
    return shortened(f" {drawn}" if drawn.startswith("_") else drawn)


@cache
def _characters() -> Mapping[int, int]:
    from matplotlib.font_manager import findfont
    from matplotlib.ft2font import FT2Font

    return FT2Font(findfont(FONT)).get_charmap()


def files_of(name: str, figure: "Figure") -> Files:
    """The figure's files; the same numbers give the same bytes."""
    svg, png = io.BytesIO(), io.BytesIO()
    unsigned = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(svg, format="svg", metadata=unsigned, transparent=True)
    figure.savefig(png, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return Files(svg.getvalue(), png.getvalue(), _inline(name, svg.getvalue().decode()))


def _inline(name: str, svg: str) -> str:
    """The SVG element with ids that are unique in the page and the page's colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*" height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'height="[\d.]+pt" ', "", svg, count=1)
    svg = re.sub(r'width="[\d.]+pt" ', "", svg, count=1)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg.strip()
