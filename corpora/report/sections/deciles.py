"""CIDEr by visual similarity to a second dataset (nocaps, table 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from corpora.evaluation.scoring import Plan, score
from corpora.evaluation.tokenisers import PLAIN
from corpora.report import drawing
from corpora.report.dataset import Dataset
from corpora.report.drawing import SYSTEMS
from corpora.report.sections.base import Inputs, Matrix, NotMeasured, Numbers, Plot, Section, Table

NEIGHBOURS, DECILES = 10, 10  # nocaps, appendix, section 3.4
# Rows of features compared at a time, so that the similarities fit in memory.
CHUNK = 1024


def measure(inputs: Inputs) -> dict[str, Any]:
    if inputs.features is None or inputs.against_features is None:
        raise NotMeasured("Features of the images and of a second dataset's images are needed.")
    if len(inputs.against_features) < NEIGHBOURS:
        raise NotMeasured(f"The second dataset has fewer than {NEIGHBOURS} images.")
    systems = inputs.systems
    if not systems:
        raise NotMeasured("There is no human baseline and no results file to score.")
    references = _references(inputs.dataset, systems)
    rows = sorted(references)
    if len(rows) < DECILES:
        raise NotMeasured(f"Deciles need at least {DECILES} images that can be scored.")
    scores = {key: _cider(references, texts) for key, texts in systems.items()}
    distances = mean_distances(inputs.features[rows], inputs.against_features)
    order = np.argsort(distances, kind="stable")
    return {
        "tokeniser": PLAIN,
        "neighbours": NEIGHBOURS,
        "second": inputs.names["against"],
        "images": len(rows),
        "deciles": [
            {
                "images": len(some),
                "distance": float(distances[some].mean()),
                **{
                    key: float(np.mean([values[rows[place]] for place in some]))
                    for key, values in scores.items()
                },
            }
            for some in np.array_split(order, DECILES)
        ],
        "overall": {
            key: float(np.mean([values[row] for row in rows])) for key, values in scores.items()
        },
    }


def mean_distances(features: Matrix, others: Matrix) -> Matrix:
    """The mean cosine distance of each row to its ten nearest rows of the others."""
    own, second = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (features, others)
    )
    distances = []
    for start in range(0, len(own), CHUNK):
        similarities = own[start : start + CHUNK] @ second.T
        nearest = np.partition(similarities, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:]
        distances.append(1 - nearest.mean(axis=1))
    return np.concatenate(distances)


def _references(dataset: Dataset, systems: Mapping[str, dict[int, str]]) -> dict[int, list[str]]:
    """The references of the images of which each system has a caption, by the image's index.

    Raises NotMeasured if there are no references.
    """
    if not dataset.references.size:
        raise NotMeasured(dataset.without_captions)
    return {
        image: [dataset.captions[place].text for place in some]
        for image, some in enumerate(dataset.captions_by_image(dataset.references))
        if some.size and all(image in texts for texts in systems.values())
    }


def _cider(references: dict[int, list[str]], texts: dict[int, str]) -> dict[int, float]:
    """CIDEr-D of each image with references; raises NotMeasured."""
    scores = score(references, texts, Plan(["cider"], PLAIN))
    if "CIDEr" not in scores.per_image:
        raise NotMeasured(scores.failures["cider"])
    return scores.per_image["CIDEr"]


def plots(numbers: Numbers) -> Iterator[Plot]:
    figure, axes = drawing.panel("Decile of distance (1 = most similar)", "CIDEr-D")
    deciles = numbers["deciles"]
    for key in numbers["overall"]:
        drawing.line(axes, [(n, decile[key]) for n, decile in enumerate(deciles, 1)], key)
    axes.set_xticks(range(1, len(deciles) + 1))
    axes.set_ylim(bottom=0)
    drawing.legend_above(axes)
    description = "; ".join(
        f"{SYSTEMS[key]}: " + ", ".join(f"{decile[key]:.2f}" for decile in deciles)
        for key in numbers["overall"]
    )
    yield Plot(
        "deciles", "CIDEr by distance from the second dataset", f"Lines. {description}.", figure
    )


def text(numbers: Numbers) -> Iterator[str]:
    yield (
        f"The images are divided by the mean cosine distance of their features to the "
        f"{numbers['neighbours']} nearest images of {numbers['second']}. Document frequencies are "
        f"those of all {numbers['images']:,} images. Captions are split by the plain tokeniser, so "
        "the scores cannot be compared with those of the official one."
    )


def tables(numbers: Numbers) -> Iterator[Table]:
    head = ["", *(str(n) for n in range(1, DECILES + 1)), "overall"]
    rows = [["mean distance", *(f"{decile['distance']:.2f}" for decile in numbers["deciles"]), ""]]
    rows += [
        [
            SYSTEMS[key],
            *(f"{decile[key]:.3f}" for decile in numbers["deciles"]),
            f"{overall:.3f}",
        ]
        for key, overall in numbers["overall"].items()
    ]
    yield Table(head, rows)


SECTION = Section("deciles", "CIDEr by similarity", measure, plots, text, tables)
