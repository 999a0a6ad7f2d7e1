"""Human agreement per word (Chen et al. 2015, section 4.2).

The extra caption of each image is scored for each word like a detector of the word. A positive
image weighs as much as the number of its k references that have the word, a negative image 1.
"""

from collections.abc import Iterator, Sequence
from statistics import mode
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.language.english import words
from corpora.report import drawing
from corpora.report.dataset import Corpus, Dataset, Indices, Names
from corpora.report.sections.base import Inputs, Matrix, NotMeasured, Numbers, Plot, Section, Table
from corpora.wording import counted

MOST_WORDS = 1000  # as in the paper
LEAST_IMAGES = 5  # images whose references have the word; fewer give no stable figure
# The smaller group is drawn last, on top of the other.
GROUPS = {
    False: ("other words", drawing.Look(drawing.BLUE, "o", 9, 0.5)),
    True: ("words of class names", drawing.Look(drawing.VERMILION, "s", 11, 0.9)),
}
RESULTS_LOOK = drawing.Look(drawing.SERIES["results"], drawing.MARKERS["results"], 9, 0.6)
RECALLS = {
    "all_words": ", where the results' recall is raised to people's by adding images at random",
    "words_at_human_recall": ", for which the results reach people's recall",
}
NO_PAIR = "No image has two captions of which one could be compared with the others."


class Detection(NamedTuple):
    """For each word: weighted true positives, false positives, and the weight of all positives."""

    true: Matrix
    false: Matrix
    positives: Matrix

    @property
    def precision(self) -> Matrix:
        return _share(self.true, self.true + self.false)

    @property
    def recall(self) -> Matrix:
        return _share(self.true, self.positives)


class Trial(NamedTuple):
    """The images' k references and the extra caption, as indices of captions."""

    references: npt.NDArray[np.int64]  # a row per image
    extras: Indices
    is_baseline: bool


def measure(inputs: Inputs) -> dict[str, Any]:
    dataset = inputs.dataset
    trial = _trial(dataset, inputs.rng("agreement"))
    chosen = _frequent_words(dataset, trial)
    if not chosen.size:
        raise NotMeasured(f"No word is in the references of at least {LEAST_IMAGES} images.")
    counts = _counts(dataset.corpus, trial.references, chosen)
    said = _counts(dataset.corpus, trial.extras[:, None], chosen) > 0
    human = _detection(counts, said)
    system = _system(inputs, trial, chosen, counts, human)
    is_class_word = _class_words(dataset, chosen)
    content = {
        "k": trial.references.shape[1],
        "images": len(trial.extras),
        "extra": "human baseline" if trial.is_baseline else "a caption drawn at random",
        "seed": inputs.seed,
        "mean": {
            "precision": _mean(human.precision),
            "recall": _mean(human.recall),
            "model_error": _mean(
                np.abs(model_precision(human.recall, trial.references.shape[1]) - human.precision)
            ),
        },
        "by_k": _by_k(dataset.corpus, trial, chosen, said),
        "words": [
            {
                "word": dataset.corpus.vocabulary[number],
                "captions": int(counts[:, place].sum()),
                "precision": _value(human.precision[place]),
                "recall": _value(human.recall[place]),
                "is_class_word": bool(is_class_word[place]),
                **{key: _value(values[place]) for key, values in system.items()},
            }
            for place, number in enumerate(chosen)
        ],
    }
    if system:
        reaches = system["results_recall"] >= human.recall
        content["results"] = {
            "all_words": _compared(system, human, np.ones_like(reaches)),
            "words_at_human_recall": _compared(system, human, reaches),
        }
    return content


def _compared(
    system: dict[str, Matrix], human: Detection, among: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Means over those of the words for which both have a precision."""
    own = system["precision_at_human_recall"]
    both = among & np.isfinite(own) & np.isfinite(human.precision)
    return {
        "words": int(both.sum()),
        "precision_at_human_recall": _mean(own[both]),
        "human_precision": _mean(human.precision[both]),
    }


def model_precision(p: Matrix, k: int) -> Matrix:
    """The precision that the paper's model gives for a word with recall p, of k references."""
    return _share(p * k, p * k + (1 - p) ** k)


def _trial(dataset: Dataset, rng: np.random.Generator) -> Trial:
    """The images' references, with the human baseline or a drawn caption as extra."""
    references = dataset.captions_by_image(dataset.references)
    extras = dataset.captions_by_image(dataset.extras)
    is_baseline = any(some.size for some in extras)
    if not is_baseline:
        mixed = [rng.permutation(some) for some in references]
        extras = [some[:1] for some in mixed]
        references = [np.sort(some[1:]) for some in mixed]
    pairs = [
        (some, extra[0])
        for some, extra in zip(references, extras, strict=True)
        if some.size and extra.size
    ]
    if not pairs:
        raise NotMeasured(NO_PAIR if dataset.captions else dataset.without_captions)
    k = mode(sorted(len(some) for some, _ in pairs))
    pairs = [(some[:k], extra) for some, extra in pairs if len(some) >= k]
    return Trial(
        np.array([some for some, _ in pairs]), np.array([extra for _, extra in pairs]), is_baseline
    )


def _frequent_words(dataset: Dataset, trial: Trial) -> Indices:
    """The words in most references, by number of images and then alphabetically."""
    corpus = dataset.corpus.take(trial.references.ravel())
    k = trial.references.shape[1]
    size = len(corpus.vocabulary)
    pairs = np.unique(corpus.captions // k * size + corpus.numbers)
    images = np.bincount(pairs % max(size, 1), minlength=size)
    enough = [number for number in np.flatnonzero(images >= LEAST_IMAGES)]
    enough.sort(key=lambda number: (-images[number], corpus.vocabulary[int(number)]))
    return np.array(enough[:MOST_WORDS], dtype=np.int64)


def _counts(
    corpus: Corpus, captions: npt.NDArray[np.int64], chosen: Indices
) -> npt.NDArray[np.int64]:
    """How many of each row's captions have each of the chosen words."""
    column = np.full(len(corpus.vocabulary), -1)
    column[chosen] = np.arange(len(chosen))
    part = corpus.take(captions.ravel())
    columns = column[part.numbers]
    cells = part.captions * len(chosen) + columns
    cells = np.unique(cells[columns >= 0])
    rows = cells // len(chosen) // captions.shape[1]
    flat = np.bincount(
        rows * len(chosen) + cells % len(chosen), minlength=len(captions) * len(chosen)
    )
    return flat.reshape(len(captions), len(chosen))


def _detection(counts: npt.NDArray[np.int64], said: npt.NDArray[np.bool_]) -> Detection:
    return Detection(
        (counts * said).sum(axis=0).astype(float),
        (said & (counts == 0)).sum(axis=0).astype(float),
        counts.sum(axis=0).astype(float),
    )


def _by_k(
    corpus: Corpus, trial: Trial, chosen: Indices, said: npt.NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """The means with fewer references, as in the paper's figure 3."""
    k = trial.references.shape[1]
    rows = []
    for fewer in sorted({1, 2, k // 2, k} - {0} & set(range(1, k + 1))):
        human = _detection(_counts(corpus, trial.references[:, :fewer], chosen), said)
        rows.append(
            {"k": fewer, "precision": _mean(human.precision), "recall": _mean(human.recall)}
        )
    return rows


def _system(
    inputs: Inputs,
    trial: Trial,
    chosen: Indices,
    counts: npt.NDArray[np.int64],
    human: Detection,
) -> dict[str, Matrix]:
    """Precision, recall, and precision at human recall of the results; empty without any."""
    if not inputs.results:
        return {}
    dataset = inputs.dataset
    images = [dataset.images[place].number for place in dataset.image_of[trial.extras]]
    wanted = [dataset.corpus.vocabulary[number] for number in chosen]
    said = _said([inputs.results.get(number, "") for number in images], wanted)
    system = _detection(counts, said)
    negatives = (counts == 0).sum(axis=0).astype(float)
    return {
        "results_precision": system.precision,
        "results_recall": system.recall,
        "precision_at_human_recall": precision_at(human.recall, system, negatives),
    }


def _said(captions: Sequence[str], wanted: Sequence[str]) -> npt.NDArray[np.bool_]:
    place = {word: number for number, word in enumerate(wanted)}
    said = np.zeros((len(captions), len(wanted)), dtype=bool)
    for row, caption in enumerate(captions):
        said[row, [place[word] for word in words(caption) if word in place]] = True
    return said


def precision_at(recall: Matrix, system: Detection, negatives: Matrix) -> Matrix:
    """The precision of a system at another recall.

    One caption per image gives one recall per word. A lower one is reached by leaving out some of
    the system's images at random, which keeps the precision; a higher one by adding some of the
    other images at random, which is the usual interpolation to the point where all images are
    returned. NaN where no image is returned.
    """
    missing = system.positives - system.true
    own = system.recall
    added = np.clip(_share(recall * system.positives - system.true, missing), 0, 1)
    true = system.true + added * missing
    false = system.false + added * (negatives - system.false)
    return np.where(recall <= own, system.precision, _share(true, true + false))


def _class_words(dataset: Dataset, chosen: Indices) -> npt.NDArray[np.bool_]:
    known = () if "names" in dataset.lacks else dataset.images
    class_words = Names(name for image in known for name in image.classes or ()).words()
    return np.array([dataset.corpus.vocabulary[number] in class_words for number in chosen])


def _share(part: Matrix, whole: Matrix) -> Matrix:
    """Part of the whole; NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _mean(values: Matrix) -> float | None:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else None


def _value(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def plots(numbers: Numbers) -> Iterator[Plot]:
    yield _agreement_plot(numbers)
    if "results" in numbers:
        yield _system_plot(numbers)


def _agreement_plot(numbers: Numbers) -> Plot:
    figure, axes = drawing.panel("Human recall (%)", "Human precision (%)", height=3.4)
    for is_class, (label, look) in GROUPS.items():
        points = [
            (100 * word["recall"], 100 * word["precision"])
            for word in numbers["words"]
            if word["precision"] is not None and word["is_class_word"] == is_class
        ]
        drawing.scatter(axes, points, look, label)
    ps = np.linspace(0, 1, 101)
    for k, line in zip(dict.fromkeys([numbers["k"], 1]), ("-", "--"), strict=False):
        axes.plot(
            100 * ps, 100 * model_precision(ps, k), line, color=drawing.INK, linewidth=1.2,
            label=f"model, k = {k}",
        )  # fmt: skip
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 102)
    drawing.legend_above(axes, columns=2)
    mean = numbers["mean"]
    description = (
        f"Points of {counted(len(numbers['words']), 'word')}; mean precision "
        f"{_percent(mean['precision'])}, mean recall {_percent(mean['recall'])}; the curve "
        "rises from 0 to 100%."
    )
    return Plot("agreement", "Human agreement per word", description, figure)


def _system_plot(numbers: Numbers) -> Plot:
    figure, axes = drawing.panel(
        "Human precision (%)", "Precision of the results\nat human recall (%)", height=3.4
    )
    points = [
        (100 * word["precision"], 100 * word["precision_at_human_recall"])
        for word in numbers["words"]
        if word["precision"] is not None and word["precision_at_human_recall"] is not None
    ]
    drawing.scatter(axes, points, RESULTS_LOOK, "")
    axes.plot([0, 100], [0, 100], "--", color=drawing.MUTED, linewidth=1)
    axes.annotate("as people", (86, 88), rotation=38, ha="right", va="bottom", fontsize=8)
    axes.set_xlim(0, 102)
    axes.set_ylim(0, 102)
    all_words = numbers["results"]["all_words"]
    description = (
        f"Points of {counted(all_words['words'], 'word')}; mean precision of the results "
        f"{_percent(all_words['precision_at_human_recall'])}, of people "
        f"{_percent(all_words['human_precision'])}."
    )
    title = "Precision of the results at human recall"
    return Plot("precision_at_human_recall", title, description, figure)


def text(numbers: Numbers) -> Iterator[str]:
    yield (
        f"The extra caption of each image ({numbers['extra']}) is compared with "
        f"{counted(numbers['k'], 'reference')} of {counted(numbers['images'], 'image')}, for "
        f"the {len(numbers['words']):,} most frequent words. An image counts as often as "
        "references have the word. The curve is the model of Chen et al.: whoever describes an "
        "image with the object uses the word with probability p, so recall is p and precision is "
        "pk / (pk + (1 − p)^k)."
    )
    mean = numbers["mean"]
    yield (
        f"Mean precision {_percent(mean['precision'])}, mean recall {_percent(mean['recall'])}; "
        f"the points are {_percent(mean['model_error'])} from the curve on average."
    )
    for part, words_of in (("all_words", ""), ("words_at_human_recall", " of these")):
        if "results" in numbers:
            part_numbers = numbers["results"][part]
            yield (
                f"Precision at human recall over {counted(part_numbers['words'], 'word')}{words_of}"
                f"{RECALLS[part]}: results "
                f"{_percent(part_numbers['precision_at_human_recall'])}, people "
                f"{_percent(part_numbers['human_precision'])}."
            )


def tables(numbers: Numbers) -> Iterator[Table]:
    rows = [
        [f"k = {row['k']}", _percent(row["precision"]), _percent(row["recall"])]
        for row in numbers["by_k"]
    ]
    yield Table(["references", "mean precision", "mean recall"], rows)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}%"


SECTION = Section("agreement", "Human agreement per word", measure, plots, text, tables)
