"""Classes and boxes per image, and words per caption (nocaps, figure 2)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.report import drawing
from corpora.report.dataset import Dataset
from corpora.report.sections.base import Inputs, NotMeasured, Numbers, Plot, Section, Table, summary

MEASURES = {
    "classes": "classes per image",
    "boxes": "boxes per image",
    "words": "words per caption",
}
SHARES = {
    "classes": "Share of images (%)",
    "boxes": "Share of images (%)",
    "words": "Share of captions (%)",
}
# Values above are shown in one last bar; the numbers in report.json are complete.
MOST_SHOWN = {"classes": 15, "boxes": 30, "words": 30}
STEPS = {"classes": 3, "boxes": 5, "words": 5}


def measure(inputs: Inputs) -> dict[str, Any]:
    content: dict[str, Any] = {"names": inputs.names, "absent": {}}
    for name in MEASURES:
        values = {key: _values(dataset, name) for key, dataset in inputs.datasets.items()}
        content[name] = {key: _counted(some) for key, some in values.items() if some is not None}
        for key, some in values.items():
            if some is None:
                content["absent"][f"{name}.{key}"] = _reason(inputs.datasets[key], name)
        if not content[name]:
            del content[name]
    if not any(name in content for name in MEASURES):
        raise NotMeasured(" ".join(dict.fromkeys(content["absent"].values())))
    return content


def _values(dataset: Dataset, name: str) -> npt.NDArray[Any] | None:
    if name == "words":
        return dataset.corpus.lengths if len(dataset.corpus) else None
    boxes = [image.classes for image in dataset.images if image.classes is not None]
    if not boxes or "boxes" in dataset.lacks:
        return None
    return np.array([len(set(some)) if name == "classes" else len(some) for some in boxes])


def _reason(dataset: Dataset, name: str) -> str:
    if name == "words":
        return dataset.without_captions
    return dataset.lacks.get("boxes", f"{dataset.name} has no boxes.")


def _counted(values: npt.NDArray[Any]) -> dict[str, Any]:
    numbers, counts = np.unique(values, return_counts=True)
    return {
        "n": len(values),
        **summary(values),
        "counts": {str(number): int(count) for number, count in zip(numbers, counts, strict=True)},
    }


def plots(numbers: Numbers) -> Iterator[Plot]:
    for name, label in MEASURES.items():
        if name in numbers:
            figure, axes = drawing.panel(label.capitalize(), SHARES[name])
            most = _most_shown(name, numbers[name].values())
            bars = [
                _bars(axes, most, key, numbers["names"][key], counted)
                for key, counted in numbers[name].items()
            ]
            drawing.legend_above(axes, *bars)
            axes.set_xticks(*_ticks(name, most, numbers[name].values()))
            means = "; ".join(
                f"{numbers['names'][key]}: mean {some['mean']:.1f}, median {some['median']:g}"
                for key, some in numbers[name].items()
            )
            description = f"Histogram. {means}."
            yield Plot(f"{name}_per_image", label.capitalize(), description, figure)


def _bars(axes: Any, most: int, key: str, dataset: str, counted: Numbers) -> Any:
    """Bars, or an outline for the second dataset, so that both are visible in one panel."""
    xs, shares = _shares(counted, most)
    label = f"{drawing.label_of(dataset)} (mean {counted['mean']:.1f})"
    colour = drawing.SERIES[key]
    if key == "dataset":
        return axes.bar(xs, shares, width=0.86, color=colour, alpha=0.55, label=label)
    edges = [xs[0] - 0.5, *(x + 0.5 for x in xs)]
    return axes.stairs(shares, edges, color=colour, linewidth=1.6, label=label)


def _shares(counted: Numbers, most: int) -> tuple[list[int], list[float]]:
    """The values up to `most`, and the percentage of each; the last one includes higher values."""
    least = min(0 if "0" in counted["counts"] else 1, most)
    xs = list(range(least, most + 1))
    shares = [0.0] * len(xs)
    for value, count in counted["counts"].items():
        shares[min(int(value), most) - least] += 100 * count / counted["n"]
    return xs, shares


def _most_shown(name: str, counted: Iterable[Numbers]) -> int:
    """The end of the axis: the highest value, rounded up to a tick, but at most MOST_SHOWN."""
    highest, step = max(int(some["most"]) for some in counted), STEPS[name]
    return min(MOST_SHOWN[name], -(-highest // step) * step or step)


def _ticks(name: str, most: int, counted: Iterable[Numbers]) -> tuple[list[int], list[str]]:
    ticks = [1, *range(STEPS[name], most + 1, STEPS[name])]
    is_cut = any(some["most"] > most for some in counted)
    return ticks, [f"{tick}+" if is_cut and tick == most else str(tick) for tick in ticks]


def text(numbers: Numbers) -> Iterator[str]:
    for key, counted in numbers.get("classes", {}).items():
        yield (
            f"{numbers['names'][key]}: {_percent(counted, 1, 1)} of the images have one class "
            f"only, and {_percent(counted, 7, 10**9)} more than six classes."
        )


def _percent(counted: Numbers, least: int, most: int) -> str:
    inside = sum(n for value, n in counted["counts"].items() if least <= int(value) <= most)
    return f"{100 * inside / counted['n']:.1f}%"


def tables(numbers: Numbers) -> Iterator[Table]:
    rows = [
        [
            f"{label}, {numbers['names'][key]}",
            f"{some['mean']:.1f}",
            f"{some['sd']:.1f}",
            f"{some['median']:g}",
            f"{some['least']:g} to {some['most']:g}",
        ]
        for name, label in MEASURES.items()
        for key, some in numbers.get(name, {}).items()
    ]
    yield Table(["", "mean", "standard deviation", "median", "range"], rows)


SECTION = Section("per_image", "Classes, boxes and words", measure, plots, text, tables)
