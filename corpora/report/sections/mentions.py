"""How often captions name the classes (nocaps, figure 10)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from corpora.report import drawing
from corpora.report.dataset import Names
from corpora.report.sections.base import Inputs, NotMeasured, Numbers, Plot, Section, Table
from corpora.selection.domains import IN_DOMAIN, OUT_OF_DOMAIN

DOMAINS = {IN_DOMAIN: "in-domain", OUT_OF_DOMAIN: "out-of-domain"}
LOOKS = {
    IN_DOMAIN: drawing.Look(drawing.VERMILION, "o"),
    OUT_OF_DOMAIN: drawing.Look(drawing.BLUE, "s"),
}
MOST_NAMED = 5


def measure(inputs: Inputs) -> dict[str, Any]:
    """The captions that name each class of the dataset's images, in both datasets if both are in
    the language of the names."""
    dataset = inputs.dataset
    if "names" in dataset.lacks:
        raise NotMeasured(dataset.lacks["names"])
    shown = Counter(name for image in dataset.images for name in set(image.classes or ()))
    if not shown:
        raise NotMeasured(dataset.lacks.get("boxes", f"{dataset.name} has no boxes."))
    names = Names(shown)
    absent = {
        key: compared.lacks["names"]
        for key, compared in inputs.datasets.items()
        if "names" in compared.lacks
    }
    datasets = {key: each for key, each in inputs.datasets.items() if key not in absent}
    counts = {
        key: Counter(number for named in names.found_in(compared.corpus) for number in named)
        for key, compared in datasets.items()
    }
    return {
        "names": {key: compared.name for key, compared in datasets.items()},
        "absent": absent,
        "domains": dataset.domain_table,
        "captions": {key: len(compared.captions) for key, compared in datasets.items()},
        "classes": [
            {
                "name": name,
                "domain": dataset.domains.get(name, OUT_OF_DOMAIN),
                "images": shown[name],
                **{key: counted[number] for key, counted in counts.items()},
            }
            for number, name in enumerate(names.names)
        ],
    }


def plots(numbers: Numbers) -> Iterator[Plot]:
    for key, dataset in numbers["names"].items():
        ranked = _ranked(numbers, key)
        if not ranked:
            continue
        figure, axes = drawing.panel("Classes, by falling number", "Captions that name the class")
        for domain, label in DOMAINS.items():
            points = [(rank, row[key]) for rank, row in ranked if row["domain"] == domain]
            drawing.scatter(axes, points, LOOKS[domain], label)
        drawing.rank_axes(axes)
        drawing.legend_above(axes)
        description = f"Falling points on a logarithmic scale. {_most_named(ranked, key)}"
        title = f"Captions of {drawing.shortened(dataset)} that name a class"
        yield Plot(f"mentions_{key}", title, description, figure)


def _ranked(numbers: Numbers, key: str) -> list[tuple[int, Any]]:
    """The named classes with their ranks, the most often named first."""
    named = sorted((-row[key], row["name"], row) for row in numbers["classes"] if row[key])
    return [(rank, row) for rank, (_, _, row) in enumerate(named, start=1)]


def _most_named(ranked: list[tuple[int, Any]], key: str) -> str:
    top = ", ".join(f"{row['name']} ({row[key]:,})" for _, row in ranked[:MOST_NAMED])
    return f"Most often named: {top}."


def text(numbers: Numbers) -> Iterator[str]:
    yield (
        f"Classes that the images show: {len(numbers['classes']):,}. A caption names a class if "
        "it has the class's name, singular or plural; synonyms do not count. Classes are in-domain "
        f"or out-of-domain by the table {numbers['domains']}."
    )
    for key, dataset in numbers["names"].items():
        if ranked := _ranked(numbers, key):
            yield f"{dataset}: {_most_named(ranked, key)}"


def tables(numbers: Numbers) -> Iterator[Table]:
    rows = [
        [
            f"{label}, captions of {dataset}",
            f"{len(counts):,}",
            f"{np.median(counts):,g}",
            f"{max(counts):,}",
            f"{counts.count(0):,}",
        ]
        for key, dataset in numbers["names"].items()
        for domain, label in DOMAINS.items()
        if (counts := [row[key] for row in numbers["classes"] if row["domain"] == domain])
    ]
    yield Table(["", "classes", "median", "most", "never named"], rows)


SECTION = Section("mentions", "Classes that captions name", measure, plots, text, tables)
