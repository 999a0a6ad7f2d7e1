"""Primed and unprimed captions: what the keywords change (nocaps, figure 3).

If priming was decided for each response, the same images have captions of both sorts, and they are
compared in pairs. If it was decided for each image, the sorts are of different images.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.report import drawing
from corpora.report.dataset import Dataset, Indices, Names
from corpora.report.sections.base import Inputs, Matrix, NotMeasured, Numbers, Plot, Section, Table
from corpora.wording import counted

Weights = npt.NDArray[np.int64]
LEVEL = 95


def interval(values: Sequence[float]) -> list[float] | None:
    """The middle 95% of the statistics of resamples; None without any, or if it has no width."""
    finite = [value for value in values if np.isfinite(value)]
    if not finite:
        return None
    half = (100 - LEVEL) / 2
    low, high = np.percentile(finite, [half, 100 - half])
    return None if np.isclose(low, high) else [float(low), float(high)]


def resampled(
    rng: np.random.Generator, images: int, draws: int, statistic: Callable[[Weights], float]
) -> list[float]:
    """The statistic of `draws` resamples, as a function of how often each image is drawn."""
    return [
        statistic(np.bincount(rng.integers(images, size=images), minlength=images))
        for _ in range(draws)
    ]


DRAWS, NGRAM_DRAWS = 1000, 200
LABELS = {
    "words": "words per caption",
    "keywords": "keywords named",
    "1": "vocabulary",
    "2": "unique 2-grams",
    "3": "unique 3-grams",
    "4": "unique 4-grams",
}


class Sides(NamedTuple):
    """Captions of each image: primed and unprimed. In pairs, both lists are of the same images."""

    primed: list[Indices]
    unprimed: list[Indices]
    are_pairs: bool


class Ratio(NamedTuple):
    """A statistic of both sorts, its ratio, and the interval of the ratio."""

    primed: float
    unprimed: float
    resamples: Sequence[float]

    def centred(self) -> "Ratio":
        """With resamples scaled so that their median is the ratio.

        A resample leaves out a third of the images, and with them rare words, so its ratio is that
        of a smaller sample.
        """
        middle = np.nanmedian(self.resamples) if np.isfinite(self.resamples).any() else 0
        if not middle or not self.unprimed:
            return self
        scale = self.primed / self.unprimed / middle
        return self._replace(resamples=[scale * value for value in self.resamples])

    def as_json(self) -> dict[str, Any]:
        has_ratio = self.unprimed > 0
        return {
            "primed": self.primed,
            "unprimed": self.unprimed,
            "difference": self.primed - self.unprimed,
            "ratio": self.primed / self.unprimed if has_ratio else None,
            "ratio_interval": interval(self.resamples) if has_ratio else None,
        }


def measure(inputs: Inputs) -> dict[str, Any]:
    dataset = inputs.dataset
    sides = _sides(dataset)
    rng = inputs.rng("priming")
    content: dict[str, Any] = {
        "by": "response" if sides.are_pairs else "image",
        "pairs": len(sides.primed) if sides.are_pairs else None,
        "images": {"primed": len(sides.primed), "unprimed": len(sides.unprimed)},
        "captions": {
            "primed": sum(map(len, sides.primed)),
            "unprimed": sum(map(len, sides.unprimed)),
        },
        "level": 95,
        "seed": inputs.seed,
        "absent": {},
        "measures": {"words": _means(sides, dataset.corpus.lengths.astype(float), rng)},
    }
    if lacking := dataset.lacks.get("boxes") or dataset.lacks.get("names"):
        content["absent"]["keywords"] = lacking
    else:
        content["measures"]["keywords"] = _means(sides, _keywords_named(dataset), rng)
    return content | {"measures": content["measures"] | _ngrams(dataset, sides, rng)}


def _sides(dataset: Dataset) -> Sides:
    """Pairs where at least one image has captions of both sorts; raises NotMeasured."""
    if "priming" in dataset.lacks:
        raise NotMeasured(dataset.lacks["priming"])
    marks = [caption.is_primed for caption in dataset.captions]
    primed, unprimed = (
        dataset.captions_by_image(
            np.array([i for i, mark in enumerate(marks) if mark is wanted], int)
        )
        for wanted in (True, False)
    )
    pairs = [(a, b) for a, b in zip(primed, unprimed, strict=True) if a.size and b.size]
    if pairs:
        return Sides([a for a, _ in pairs], [b for _, b in pairs], True)
    sides = Sides([a for a in primed if a.size], [b for b in unprimed if b.size], False)
    if not sides.primed or not sides.unprimed:
        if not dataset.captions:
            raise NotMeasured(dataset.without_captions)
        raise NotMeasured(
            f"{'No' if not sides.primed else 'Every'} caption of {dataset.name} of which it is "
            "known was written with keywords, so there is nothing to compare."
        )
    return sides


def _keywords_named(dataset: Dataset) -> Matrix:
    """How many of its image's classes each caption names."""
    names = Names(name for image in dataset.images for name in image.classes or ())
    numbers = {name: number for number, name in enumerate(names.names)}
    of_image = [{numbers[name] for name in image.classes or ()} for image in dataset.images]
    named_in = zip(dataset.image_of, names.found_in(dataset.corpus), strict=True)
    return np.array([len(named & of_image[image]) for image, named in named_in], dtype=float)


def _means(sides: Sides, values: Matrix, rng: np.random.Generator) -> dict[str, Any]:
    """The mean over images of the images' means."""
    primed, unprimed = (
        np.array([values[captions].mean() for captions in side]) for side in sides[:2]
    )
    resamples = _resamples(
        sides,
        rng,
        DRAWS,
        lambda a: float(a @ primed / a.sum()),
        lambda b: float(b @ unprimed / b.sum()),
    )
    return Ratio(float(primed.mean()), float(unprimed.mean()), resamples).as_json()


Statistic = Callable[[Indices], float]


def _resamples(
    sides: Sides, rng: np.random.Generator, draws: int, primed: Statistic, unprimed: Statistic
) -> list[float]:
    """Ratios of the two statistics of resampled images; pairs are drawn together.

    There are none if a side has a single image, which does not tell how images differ.
    """
    if min(len(sides.primed), len(sides.unprimed)) < 2:
        return []
    if sides.are_pairs:
        return resampled(
            rng, len(sides.primed), draws, lambda drawn: _ratio(primed(drawn), unprimed(drawn))
        )
    primed_draws = resampled(rng, len(sides.primed), draws, primed)
    unprimed_draws = resampled(rng, len(sides.unprimed), draws, unprimed)
    return [_ratio(a, b) for a, b in zip(primed_draws, unprimed_draws, strict=True)]


def _ratio(primed: float, unprimed: float) -> float:
    return primed / unprimed if unprimed else float("nan")


def _ngrams(dataset: Dataset, sides: Sides, rng: np.random.Generator) -> dict[str, Any]:
    """Unique n-grams of equal samples: as many captions of as many images on both sides."""
    primed, unprimed = _equal(sides, rng)
    ratios = {}
    pairs = zip(_Occurrences.of(dataset, primed), _Occurrences.of(dataset, unprimed), strict=True)
    equal = Sides(primed, unprimed, sides.are_pairs)
    for length, (primed_ngrams, unprimed_ngrams) in enumerate(pairs, start=1):
        everything = np.ones(len(primed), dtype=np.int64)
        resamples = _resamples(
            equal, rng, NGRAM_DRAWS, primed_ngrams.unique, unprimed_ngrams.unique
        )
        ratio = Ratio(
            primed_ngrams.unique(everything), unprimed_ngrams.unique(everything), resamples
        ).centred()
        ratios[str(length)] = ratio.as_json() | {"captions": sum(map(len, primed))}
    return ratios


def _equal(sides: Sides, rng: np.random.Generator) -> tuple[list[Indices], list[Indices]]:
    pairs = list(zip(sides.primed, sides.unprimed, strict=False))
    if not sides.are_pairs:
        mixed = (rng.permutation(len(side))[: len(pairs)] for side in sides[:2])
        drawn = [[side[i] for i in order] for side, order in zip(sides[:2], mixed, strict=True)]
        pairs = list(zip(*drawn, strict=True))
    sizes = [min(len(a), len(b)) for a, b in pairs]
    return (
        [rng.permutation(a)[:size] for (a, _), size in zip(pairs, sizes, strict=True)],
        [rng.permutation(b)[:size] for (_, b), size in zip(pairs, sizes, strict=True)],
    )


class _Occurrences(NamedTuple):
    """The places of the images in which each n-gram of a sample occurs, n-gram after n-gram."""

    images: Indices
    starts: Indices  # where each n-gram begins in `images`

    @classmethod
    def of(cls, dataset: Dataset, sample: list[Indices]) -> Iterator["_Occurrences"]:
        """The 1- to 4-grams in turn."""
        image_of = np.repeat(np.arange(len(sample)), [len(captions) for captions in sample])
        for grams in dataset.corpus.take(np.concatenate(sample)).ngrams():
            cells = np.unique(grams.numbers * len(sample) + image_of[grams.captions])
            starts = np.searchsorted(cells, np.arange(grams.unique) * len(sample))
            yield cls(cells % len(sample), starts)

    def unique(self, drawn: Indices) -> float:
        """The number of unique n-grams of the images that are drawn at least once."""
        if not self.starts.size:
            return 0.0
        is_drawn = (drawn > 0)[self.images]
        return float(np.logical_or.reduceat(is_drawn, self.starts).sum())


def plots(numbers: Numbers) -> Iterator[Plot]:
    shown = [
        (name, 100 * (measure["ratio"] - 1), [100 * (end - 1) for end in measure["ratio_interval"]])
        for name, measure in numbers["measures"].items()
        if measure["ratio"] is not None and measure["ratio_interval"] is not None
    ]
    if not shown:
        return
    figure, axes = drawing.panel("Primed compared with unprimed (%)", "", height=2.8)
    for row, (_, middle, (low, high)) in enumerate(shown):
        axes.plot([low, high], [row, row], color=drawing.BLUE, linewidth=2)
        axes.plot([middle], [row], "o", color=drawing.BLUE, markersize=6)
    axes.axvline(0, color=drawing.MUTED, linewidth=1, linestyle="--")
    axes.set_yticks(range(len(shown)), [LABELS[name] for name, *_ in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    description = "; ".join(
        f"{LABELS[name]} {middle:+.1f}%, {low:+.1f} to {high:+.1f}%"
        for name, middle, (low, high) in shown
    )
    title = "Primed compared with unprimed captions, with 95% intervals"
    yield Plot("priming", title, f"Points with intervals. {description}.", figure)


def text(numbers: Numbers) -> Iterator[str]:
    if numbers["pairs"] is not None:
        yield (
            f"{counted(numbers['pairs'], 'image has', 'images have')} captions by workers who saw "
            "the keywords and by workers who did not. The captions are compared in pairs: the same "
            "images both ways."
        )
    else:
        yield (
            "No image has captions of both sorts, so primed and unprimed captions are of different "
            "images. A difference may come from the images, not from the keywords. Campaigns with "
            'priming.by = "response" and several captions of each image compare the same images '
            "both ways."
        )
    yield (
        "Words and keywords are means over images. Vocabulary and n-grams are counted in samples "
        "of as many captions of as many images. Intervals are by bootstrap over images; those "
        "of vocabulary and n-grams are centred on the change, because resamples have fewer words."
    )


def tables(numbers: Numbers) -> Iterator[Table]:
    rows = [
        [
            LABELS[name],
            _shown(name, measure["primed"]),
            _shown(name, measure["unprimed"]),
            "–" if measure["ratio"] is None else f"{100 * (measure['ratio'] - 1):+.1f}%",
            "–"
            if measure["ratio_interval"] is None
            else " to ".join(f"{100 * (end - 1):+.1f}%" for end in measure["ratio_interval"]),
        ]
        for name, measure in numbers["measures"].items()
    ]
    yield Table(["", "primed", "unprimed", "change", "95% interval"], rows)


def _shown(name: str, value: float) -> str:
    return f"{value:,.0f}" if name.isdigit() else f"{value:.2f}"


SECTION = Section("priming", "Priming", measure, plots, text, tables)
