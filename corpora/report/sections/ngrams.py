"""Unique n-grams of equal samples (nocaps, table 1)."""

from collections.abc import Iterator
from statistics import mode
from typing import Any, NamedTuple

import numpy as np

from corpora.report import drawing
from corpora.report.dataset import LONGEST, TOKENISER, Dataset, Indices
from corpora.report.sections.base import Inputs, NotMeasured, Numbers, Plot, Section, Table

# Counts of one sample vary by about 0.2% of their value (22,500 captions of COCO).
DRAWS = 5


class Pool(NamedTuple):
    """A dataset, and the references of each image that has at least `each` of them."""

    dataset: Dataset
    each: int
    images: list[Indices]

    @property
    def captions(self) -> int:
        return self.each * len(self.images)


def measure(inputs: Inputs) -> dict[str, Any]:
    """Samples of as many captions, and a second time of as many images with as many captions."""
    pools = {key: _pool(dataset) for key, dataset in inputs.datasets.items()}
    captions = min(pool.captions for pool in pools.values())
    content = {
        "tokeniser": TOKENISER,
        "seed": inputs.seed,
        "names": inputs.names,
        "equal_captions": {
            key: _counted(pool, inputs.rng(f"ngrams {key}"), captions, pool.each)
            for key, pool in pools.items()
        },
    }
    if len(pools) > 1:
        each = min(pool.each for pool in pools.values())
        images = min(len(pool.images) for pool in pools.values())
        content["equal_images"] = {
            key: _counted(pool, inputs.rng(f"ngrams of images {key}"), images * each, each)
            for key, pool in pools.items()
        }
    return content


def _pool(dataset: Dataset) -> Pool:
    by_image = [
        captions for captions in dataset.captions_by_image(dataset.references) if captions.size
    ]
    if not by_image:
        raise NotMeasured(dataset.without_captions)
    each = mode(sorted(len(captions) for captions in by_image))
    return Pool(dataset, each, [captions for captions in by_image if len(captions) >= each])


def _counted(pool: Pool, rng: np.random.Generator, captions: int, each: int) -> dict[str, Any]:
    """The mean of DRAWS samples; one is enough where the sample has all references."""
    is_whole = captions == pool.dataset.references.size
    counts = [_unique(pool, rng, captions, each) for _ in range(1 if is_whole else DRAWS)]
    return {
        "images": -(-captions // each),
        "captions": captions,
        "captions_per_image": each,
        "draws": len(counts),
        **{
            str(n): round(np.mean(numbers))
            for n, numbers in enumerate(zip(*counts, strict=True), start=1)
        },
    }


def _unique(pool: Pool, rng: np.random.Generator, captions: int, each: int) -> list[int]:
    """The numbers of unique 1- to 4-grams of one sample."""
    drawn = rng.permutation(len(pool.images))[: -(-captions // each)]
    picked = np.concatenate([np.sort(rng.permutation(pool.images[i])[:each]) for i in drawn])
    return [grams.unique for grams in pool.dataset.corpus.take(picked[:captions]).ngrams()]


def plots(numbers: Numbers) -> Iterator[Plot]:
    figure, axes = drawing.panel("Length of the n-gram (words)", "Unique n-grams (thousands)")
    samples = numbers["equal_captions"]
    width = 0.8 / len(samples)
    for place, (key, counted) in enumerate(samples.items()):
        xs = np.arange(1, LONGEST + 1) + width * (place - (len(samples) - 1) / 2)
        heights = [counted[str(n)] / 1000 for n in range(1, LONGEST + 1)]
        axes.bar(
            xs,
            heights,
            width=width * 0.92,
            color=drawing.SERIES[key],
            hatch=drawing.HATCHES[key],
            edgecolor="white",
            linewidth=0,
            label=drawing.label_of(numbers["names"][key]),
        )
    axes.set_xticks(range(1, LONGEST + 1))
    axes.grid(axis="x", visible=False)
    drawing.legend_above(axes)
    captions = next(iter(samples.values()))["captions"]
    description = "; ".join(
        f"{numbers['names'][key]}: " + ", ".join(f"{counted[str(n)]:,}" for n in range(1, 5))
        for key, counted in samples.items()
    )
    title = f"Unique 1- to 4-grams of {captions:,} caption{'s' * (captions != 1)}"
    yield Plot("ngrams", title, f"Bars. {description}.", figure)


def text(numbers: Numbers) -> Iterator[str]:
    yield (
        "The number of different n-grams grows with the sample, so it is compared on samples of "
        f"equal size, drawn at random with the seed {numbers['seed']}; a sample that is not the "
        f"whole dataset is drawn {DRAWS} times, and the counts are means. Words are in "
        f"lower case and without punctuation (the tokeniser {numbers['tokeniser']!r})."
    )
    if "equal_images" in numbers:
        yield (
            "More captions of one image repeat each other more than captions of different images. "
            "The second pair of samples has as many images with as many captions each."
        )


def tables(numbers: Numbers) -> Iterator[Table]:
    head = ["", "images", "captions", "1-grams", "2-grams", "3-grams", "4-grams"]
    for part in ("equal_captions", "equal_images"):
        if part in numbers:
            yield Table(
                head,
                [
                    [
                        numbers["names"][key],
                        f"{counted['images']:,}",
                        f"{counted['captions']:,}",
                        *(f"{counted[str(n)]:,}" for n in range(1, LONGEST + 1)),
                    ]
                    for key, counted in numbers[part].items()
                ],
            )


SECTION = Section("ngrams", "Unique n-grams", measure, plots, text, tables)
