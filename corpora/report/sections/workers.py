"""Captions per worker. Workers have numbers that are valid in one release only."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from corpora.report import drawing
from corpora.report.sections.base import Inputs, NotMeasured, Numbers, Plot, Section, summary
from corpora.wording import counted


def measure(inputs: Inputs) -> dict[str, Any]:
    """Counts of workers by their number of captions; the numbers of workers are not in it."""
    dataset = inputs.dataset
    counts = Counter(caption.worker for caption in dataset.captions if caption.worker is not None)
    if not counts:
        raise NotMeasured(dataset.lacks.get("workers", dataset.without_captions))
    values = np.array(sorted(counts.values(), reverse=True))
    half = int(np.searchsorted(np.cumsum(values), values.sum() / 2)) + 1
    return {
        "workers": len(values),
        "captions": int(values.sum()),
        "workers_of_half": half,
        "captions_per_worker": summary(values),
        "counts": [int(value) for value in values],
    }


def plots(numbers: Numbers) -> Iterator[Plot]:
    figure, axes = drawing.panel("Workers, by falling number of captions", "Captions")
    counts = numbers["counts"]
    marker = "o" if len(counts) < 60 else ""
    axes.plot(range(1, len(counts) + 1), counts, color=drawing.BLUE, marker=marker, markersize=4)
    drawing.rank_axes(axes)
    mean = numbers["captions_per_worker"]["mean"]
    axes.axhline(mean, color=drawing.MUTED, linestyle="--", linewidth=1)
    axes.annotate(
        f"mean {mean:,.0f}", (1, mean), (0, 3), textcoords="offset points", ha="right",
        xycoords=("axes fraction", "data"),
    )  # fmt: skip
    yield Plot(
        "workers",
        "Captions per worker",
        f"Falling curve on a logarithmic scale, from {counts[0]:,} to {counts[-1]:,} captions.",
        figure,
    )


def text(numbers: Numbers) -> Iterator[str]:
    per_worker = numbers["captions_per_worker"]
    yield (
        f"{counted(numbers['workers'], 'worker')} wrote {counted(numbers['captions'], 'caption')}, "
        f"{per_worker['mean']:,.1f} each on average (median {per_worker['median']:,g}, "
        f"{per_worker['least']:,g} to {per_worker['most']:,g}). "
        f"Half of the captions are by as few as {counted(numbers['workers_of_half'], 'worker')}."
    )


SECTION = Section("workers", "Captions per worker", measure, plots, text)
