"""T-SNE of image features by subset (nocaps, figures 4, 11 and 12)."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from corpora.report import drawing
from corpora.report.dataset import Dataset
from corpora.report.sections.base import Inputs, Matrix, NotMeasured, Numbers, Plot, Section
from corpora.selection.domains import IN_DOMAIN, NEAR_DOMAIN, OUT_OF_DOMAIN

COMPONENTS, PERPLEXITY = 128, 30  # nocaps, appendix, section 3.2
# The exact form compares all pairs of points in each of its 1,000 steps.
MOST_POINTS = 1000
LEAST_POINTS = 5
SECOND = "second dataset"
LOOKS = {
    IN_DOMAIN: drawing.Look(drawing.VERMILION, "o", 14, 0.7),
    NEAR_DOMAIN: drawing.Look(drawing.PURPLE, "D", 14, 0.7),
    OUT_OF_DOMAIN: drawing.Look(drawing.BLUE, "s", 14, 0.7),
    SECOND: drawing.Look(drawing.GREEN, "^", 14, 0.7),
}
OTHER_LOOK = drawing.Look(drawing.MUTED, "x", 14, 0.7)


def measure(inputs: Inputs) -> dict[str, Any]:
    """The places of classes, or of images where classes are not known."""
    if inputs.features is None:
        raise NotMeasured("No features of the images were given.")
    by_class = bool(inputs.dataset.domains) and (
        inputs.against_features is None or _has_classes(inputs.against)
    )
    points = _points(inputs, by_class=by_class)
    if len(points) < LEAST_POINTS:
        raise NotMeasured(f"T-SNE needs at least {LEAST_POINTS} points; there are {len(points)}.")
    features = np.array([row for _, _, row in points])
    perplexity = min(PERPLEXITY, (len(points) - 1) / 3)
    places, components = embed(features, perplexity=perplexity, seed=inputs.seed)
    return {
        "points_are": "classes" if by_class else "images",
        "second": None if inputs.against_features is None else inputs.names["against"],
        "components": components,
        "perplexity": perplexity,
        "seed": inputs.seed,
        "points": [
            {"name": name, "subset": subset, "x": float(x), "y": float(y)}
            for (name, subset, _), (x, y) in zip(points, places, strict=True)
        ],
    }


def embed(features: Matrix, *, perplexity: float, seed: int) -> tuple[Matrix, int]:
    """Two coordinates per row by exact t-SNE of the first principal components, and their number.

    Raises NotMeasured without scikit-learn.
    """
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise NotMeasured(
            "T-SNE needs the package scikit-learn. Install it with `pip install scikit-learn`."
        ) from error
    reduced = _principal_components(features)
    # Identical features have no components to start from.
    start = "pca" if reduced.shape[1] > 1 and np.ptp(reduced) > 0 else "random"
    places = TSNE(
        perplexity=perplexity, method="exact", init=start, random_state=abs(seed) % 2**32
    ).fit_transform(reduced)
    return np.asarray(places, dtype=np.float64), reduced.shape[1]


def _principal_components(features: Matrix) -> Matrix:
    """The rows in the space of the first COMPONENTS principal components."""
    left, scales, right = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    # A component's sign is free: make its largest weight positive, so that it is always the same.
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
    return np.asarray((left * scales * signs)[:, :COMPONENTS])


Point = tuple[str, str, Matrix]


def _points(inputs: Inputs, *, by_class: bool) -> list[Point]:
    """Name, subset and features of the points, at most MOST_POINTS."""
    assert inputs.features is not None
    if by_class:
        points = _class_points(inputs.dataset, inputs.features, inputs.dataset.domains)
        if inputs.against is not None and inputs.against_features is not None:
            points += _class_points(inputs.against, inputs.against_features, {})
        drawn = np.sort(inputs.rng("similarity").permutation(len(points))[:MOST_POINTS])
        return [points[place] for place in drawn]
    second = inputs.against_features is not None
    most = MOST_POINTS // 2 if second else MOST_POINTS
    rng = inputs.rng("similarity")
    points = _image_points(inputs.dataset, inputs.features, rng, most)
    if inputs.against is not None and inputs.against_features is not None:
        others = _image_points(inputs.against, inputs.against_features, rng, most)
        points += [(name, SECOND, row) for name, _, row in others]
    return points


def _class_points(dataset: Dataset, features: Matrix, domains: Any) -> list[Point]:
    """The mean features of the images that show a class."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, image in enumerate(dataset.images):
        for name in set(image.classes or ()):
            rows[name].append(row)
    return [
        (name, domains.get(name, SECOND), features[some].mean(axis=0))
        for name, some in sorted(rows.items())
    ]


def _image_points(
    dataset: Dataset, features: Matrix, rng: np.random.Generator, most: int
) -> list[Point]:
    drawn = np.sort(rng.permutation(len(dataset.images))[:most])
    images = ((dataset.images[place], features[place]) for place in drawn)
    return [(str(image.number), image.subset or "no subset", row) for image, row in images]


def _has_classes(dataset: Dataset | None) -> bool:
    return dataset is not None and any(image.classes for image in dataset.images)


def plots(numbers: Numbers) -> Iterator[Plot]:
    figure, axes = drawing.panel("T-SNE, first axis (no unit)", "Second axis (no unit)", height=4)
    subsets = dict.fromkeys(point["subset"] for point in numbers["points"])
    counts = []
    for subset in sorted(subsets, key=[*LOOKS, *subsets].index):
        points = [(p["x"], p["y"]) for p in numbers["points"] if p["subset"] == subset]
        label = _label(subset, numbers["second"])
        drawing.scatter(axes, points, LOOKS.get(subset, OTHER_LOOK), label)
        counts.append(f"{label}: {len(points)}")
    axes.set_xticks([])
    axes.set_yticks([])
    drawing.legend_above(axes, columns=2)
    description = f"Points of {numbers['points_are']}. {'; '.join(counts)}."
    yield Plot("similarity", f"T-SNE of {numbers['points_are']} by subset", description, figure)


def _label(subset: str, second: str | None) -> str:
    if subset == OUT_OF_DOMAIN:
        return "out-of-domain"
    return drawing.label_of(second if subset == SECOND and second is not None else subset)


def text(numbers: Numbers) -> Iterator[str]:
    what = (
        "Each point is a class: the mean features of the images that show it"
        if numbers["points_are"] == "classes"
        else f"Each point is an image, of a sample of at most {MOST_POINTS:,}"
    )
    yield (
        f"{what}. The features are reduced to {numbers['components']} principal components, then "
        f"placed by exact t-SNE with perplexity {numbers['perplexity']:.3g}. Points close together "
        "have similar features; distances between groups have no meaning."
    )


SECTION = Section("similarity", "Similarity of images", measure, plots, text)
