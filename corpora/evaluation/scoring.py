"""Score captions: tokenise them, run the metrics, and divide the images into subsets."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from corpora.errors import DomainError
from corpora.evaluation.java import Java
from corpora.evaluation.metrics import (
    CIDER,
    METRICS,
    OFFICIAL_ONLY,
    Floats,
    Measured,
    NoFigure,
    Sentences,
    measured_means,
)
from corpora.evaluation.tokenisers import OFFICIAL, tokeniser_named

# Document frequencies of CIDEr from all images, or from the images of each subset.
ALL, SUBSET = "all", "subset"
USUAL_JAVA = Java()
# A metric computed elsewhere: the score of each image.
Outside = Mapping[str, Mapping[int, float]]


def no_progress(_: str) -> None:
    """Ignore the progress; the default of callers that do not show it."""


class Group(NamedTuple):
    """Images, and each metric's statistics of them in the same order."""

    images: Sequence[int]
    measured: Sequence[Measured]

    @property
    def figures(self) -> dict[str, float]:
        """The figures of all images of the group by name."""
        return {
            name: figure for metric in self.measured for name, figure in metric.figures().items()
        }


class Scores(NamedTuple):
    """The figures of one set of captions; `failures` has the reason for each missing metric."""

    tokeniser: str
    idf: str
    whole: Group
    subsets: Mapping[str, Group]
    failures: Mapping[str, str]

    @property
    def overall(self) -> dict[str, float]:
        return self.whole.figures

    @property
    def by_subset(self) -> dict[str, dict[str, float]]:
        return {name: group.figures for name, group in self.subsets.items()}

    @property
    def per_image(self) -> dict[str, dict[int, float]]:
        """Each image's score by figure and image. These must stay inside (see the package)."""
        return {
            name: dict(zip(self.whole.images, scores.tolist(), strict=True))
            for metric in self.whole.measured
            for name, scores in metric.of_each_image().items()
        }


class Plan(NamedTuple):
    """What to compute; `idf` is the source of CIDEr's document frequencies."""

    metrics: Collection[str] = tuple(METRICS)
    tokeniser: str = OFFICIAL
    subsets: Mapping[int, str] | None = None
    idf: str = ALL
    java: Java = USUAL_JAVA
    # Called with the name of each step before it begins.
    progress: Callable[[str], object] = no_progress


ALL_METRICS = Plan()


def score(
    references: Mapping[int, Sequence[str]], results: Mapping[int, str], plan: Plan = ALL_METRICS
) -> Scores:
    """Score one caption for each image that has references.

    Raises JavaFailed if the official tokeniser fails. A metric that fails is left out.
    """
    others, [own] = tokenise(references, [results], plan)
    return score_sentences([*references], Sentences(others, own), plan)


def tokenise(
    references: Mapping[int, Sequence[str]], results: Sequence[Mapping[int, str]], plan: Plan
) -> tuple[list[list[str]], list[list[str]]]:
    """Each image's references, and the captions of each results, tokenised; raises JavaFailed."""
    plan.progress("tokeniser")
    texts = {
        *chain.from_iterable(references.values()),
        *(captions[image] for captions in results for image in references),
    }
    ordered = sorted(texts)
    words = dict(zip(ordered, tokeniser_named(plan.tokeniser, plan.java)(ordered), strict=True))
    return (
        [[words[text] for text in texts] for texts in references.values()],
        [[words[captions[image]] for image in references] for captions in results],
    )


def score_sentences(
    images: Sequence[int], sentences: Sentences, plan: Plan, outside: Outside | None = None
) -> Scores:
    """Score tokenised captions, and add the metrics computed elsewhere."""
    failures: dict[str, str] = {}
    measured = [
        *_measured(sentences, plan, failures),
        *(
            measured_means(name, [by_image[image] for image in images])
            for name, by_image in (outside or {}).items()
        ),
    ]
    subsets = {
        name: _subset(name, rows, images, sentences, measured, plan, failures)
        for name, rows in _rows_of_subsets(images, plan.subsets or {}).items()
    }
    return Scores(plan.tokeniser, plan.idf, Group(images, measured), subsets, failures)


def _measured(sentences: Sentences, plan: Plan, failures: dict[str, str]) -> Iterator[Measured]:
    """The statistics of each metric; the reasons of those that fail are put into `failures`."""
    for name, measure in METRICS.items():
        if name in plan.metrics:
            plan.progress(name)
            try:
                if name in OFFICIAL_ONLY and plan.tokeniser != OFFICIAL:
                    raise NoFigure("It needs the official tokeniser.")
                yield measure(sentences, plan.java)
            except DomainError as error:
                failures[name] = str(error)


def _rows_of_subsets(images: Sequence[int], subsets: Mapping[int, str]) -> dict[str, list[int]]:
    """The positions of each subset's images; an image without a subset is in none."""
    rows: dict[str, list[int]] = {}
    for row, image in enumerate(images):
        if subset := subsets.get(image):
            rows.setdefault(subset, []).append(row)
    return dict(sorted(rows.items()))


def _subset(
    name: str,
    rows: list[int],
    images: Sequence[int],
    sentences: Sentences,
    measured: Sequence[Measured],
    plan: Plan,
    failures: dict[str, str],
) -> Group:
    chosen = [metric._replace(statistics=metric.statistics[rows]) for metric in measured]
    if plan.idf == SUBSET:
        chosen = [metric for metric in chosen if metric.names != (CIDER,)]
        own = Sentences(
            [sentences.references[row] for row in rows], [sentences.candidates[row] for row in rows]
        )
        reasons: dict[str, str] = {}
        chosen += _measured(own, plan._replace(metrics={"cider"} & {*plan.metrics}), reasons)
        failures |= {f"{metric}, {name}": reason for metric, reason in reasons.items()}
    return Group([images[row] for row in rows], chosen)


def leave_one_out(images: Sequence[int], references: Sequence[Sequence[str]], plan: Plan) -> Scores:
    """Score people: each tokenised reference against the image's others, and average.

    In round r the candidate of each image is its r-th reference. There are as many rounds as the
    image with the fewest references has. Raises NoFigure if an image has one reference only.
    """
    rounds = min(map(len, references))
    if rounds < 2:
        raise NoFigure("Leaving one reference out needs at least two references of each image.")
    scores = [
        score_sentences(images, _left_out(references, number), plan) for number in range(rounds)
    ]
    return scores[0]._replace(
        whole=_averaged([score.whole for score in scores]),
        subsets={
            name: _averaged([score.subsets[name] for score in scores]) for name in scores[0].subsets
        },
        failures={metric: reason for score in scores for metric, reason in score.failures.items()},
    )


def _left_out(references: Sequence[Sequence[str]], number: int) -> Sentences:
    return Sentences(
        [[*texts[:number], *texts[number + 1 :]] for texts in references],
        [texts[number] for texts in references],
    )


def _averaged(groups: Sequence[Group]) -> Group:
    """One group whose figures are the means of the groups' figures."""
    names = set.intersection(*({metric.names for metric in group.measured} for group in groups))
    parts = [
        [metric for group in groups for metric in group.measured if metric.names == chosen.names]
        for chosen in groups[0].measured
        if chosen.names in names
    ]
    return Group(groups[0].images, [_mean_of(rounds) for rounds in parts])


def _mean_of(rounds: Sequence[Measured]) -> Measured:
    combine = partial(_mean_of_rounds, combine=rounds[0].combine, rounds=len(rounds))
    return Measured(rounds[0].names, np.hstack([metric.statistics for metric in rounds]), combine)


def _mean_of_rounds(
    sums: Floats, images: int, *, combine: Callable[[Floats, int], Floats], rounds: int
) -> Floats:
    parts = np.stack(np.split(sums, rounds, axis=-1))
    return np.asarray(combine(parts, images).mean(axis=0))
