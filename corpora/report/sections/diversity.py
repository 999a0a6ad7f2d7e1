"""Diversity of captions (van Miltenburg, Elliott and Vossen, COLING 2018).

Each row is one caption per image: the human baseline, a system's results, and for references the
mean over first references, second references and so on. The second dataset stands for the training
captions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from corpora.language.english import FUNCTION_WORDS, words
from corpora.report import drawing
from corpora.report.dataset import Corpus, Dataset, Indices
from corpora.report.drawing import SYSTEMS
from corpora.report.sections.base import Inputs, NotMeasured, Numbers, Plot, Section, Table
from corpora.wording import counted

SEGMENT = 1000  # tokens, as in the paper
LABELS = {"references": "references", **SYSTEMS}
WITHOUT_TRAINING = (
    "Novel captions and coverage need the captions that a system learned from; give them as the "
    "second dataset."
)
TOO_SHORT = f"Type-token ratios need at least {SEGMENT:,} words."


def measure(inputs: Inputs) -> dict[str, Any]:
    dataset = inputs.dataset
    systems = inputs.systems
    by_image = _compared(dataset, systems.values())
    rounds = _rounds(by_image)
    training = _Training(dataset, inputs.against, by_image) if inputs.against else None
    content: dict[str, Any] = {
        "segment": SEGMENT,
        "images": len(by_image),
        "rounds": len(rounds),
        "rows": {},
        "absent": {},
    }
    content["rows"]["references"] = _mean(
        [_row(dataset.corpus.take(some), _texts(dataset, some), training) for some in rounds]
    )
    lacking = dataset.lacks.get("function_words")
    recall = None if lacking else _LocalRecall(dataset, by_image, len(rounds))
    for key, of_system in systems.items():
        captions = {image: of_system[image] for image in by_image}
        corpus = Corpus.of(words(text) for text in captions.values())
        row = _row(corpus, list(captions.values()), training)
        content["rows"][key] = row | ({"local_recall": recall.of(captions)} if recall else {})
    if lacking:
        content["absent"]["local_recall"] = lacking
    if training is None:
        content["absent"]["novel"] = WITHOUT_TRAINING
    if any(row["ttr1"] is None for row in content["rows"].values()):
        content["absent"]["ttr"] = TOO_SHORT
    return content


def _compared(dataset: Dataset, systems: Iterable[Mapping[int, str]]) -> dict[int, Indices]:
    """The references by image, of the images that all rows have; raises NotMeasured."""
    described = {
        image: some
        for image, some in enumerate(dataset.captions_by_image(dataset.references))
        if some.size
    }
    if not described:
        raise NotMeasured(dataset.without_captions)
    common = set(described).intersection(*systems)
    if not common:
        raise NotMeasured("No image has references and a caption of each other row.")
    return {image: some for image, some in described.items() if image in common}


def _rounds(by_image: Mapping[int, Indices]) -> list[Indices]:
    """The first references of all images, the second ones, and so on."""
    rounds = min(map(len, by_image.values()))
    return [np.array([some[place] for some in by_image.values()]) for place in range(rounds)]


def _texts(dataset: Dataset, captions: Indices) -> list[str]:
    return [dataset.captions[place].text for place in captions]


class _Training:
    """The training captions, and the words of theirs that the references have, too."""

    def __init__(
        self, dataset: Dataset, training: Dataset, by_image: Mapping[int, Indices]
    ) -> None:
        self._known = {_letters(caption.text) for caption in training.captions}
        references = dataset.corpus.take(np.concatenate([*by_image.values()]))
        self._learnable = _types(references) & _types(training.corpus)

    def novel(self, texts: Sequence[str]) -> float:
        """The percentage of the captions that are not in the training captions word by word."""
        return 100 * sum(_letters(text) not in self._known for text in texts) / len(texts)

    def coverage(self, corpus: Corpus) -> float | None:
        """The share of the learnable words that the captions have."""
        if not self._learnable:
            return None
        return len(self._learnable & _types(corpus)) / len(self._learnable)


def _letters(text: str) -> str:
    """The words of a text in a row. Tokenisers divide them in different ways: "dog's", "dog 's"."""
    return "".join(words(text)).replace("'", "")


class _LocalRecall:
    """The content words of each image by the number of its references that have them."""

    def __init__(self, dataset: Dataset, by_image: Mapping[int, Indices], references: int) -> None:
        texts = dataset.corpus.texts()
        self._classes = references
        self._counts = {
            image: Counter(
                word for place in some[:references] for word in set(texts[place]) - FUNCTION_WORDS
            )
            for image, some in by_image.items()
        }

    def of(self, captions: Mapping[int, str]) -> list[float | None]:
        """The share of words that the captions have, of those in 1, 2, … references."""
        total, recalled = Counter[int](), Counter[int]()
        for index, text in captions.items():
            own = set(words(text))
            total.update(self._counts[index].values())
            recalled.update(n for word, n in self._counts[index].items() if word in own)
        return [recalled[n] / total[n] if total[n] else None for n in range(1, self._classes + 1)]


def _row(corpus: Corpus, texts: Sequence[str], training: _Training | None) -> dict[str, Any]:
    lengths = corpus.lengths
    return {
        "captions": len(texts),
        "length": float(lengths.mean()),
        "length_sd": float(lengths.std()),
        "types": corpus.types,
        "ttr1": _segmented_ratio(corpus.numbers),
        "ttr2": _segmented_ratio(_bigrams(corpus)),
        "novel": training.novel(texts) if training else None,
        "coverage": training.coverage(corpus) if training else None,
    }


def _bigrams(corpus: Corpus) -> Indices:
    """Pairs of neighbouring words; as in the paper, across the ends of captions, too."""
    return corpus.numbers[:-1] * len(corpus.vocabulary) + corpus.numbers[1:]


def _segmented_ratio(tokens: Indices) -> float | None:
    """The mean share of different tokens in whole segments; None without a whole one."""
    whole = tokens[: len(tokens) // SEGMENT * SEGMENT].reshape(-1, SEGMENT)
    if not whole.size:
        return None
    return float(np.mean([np.unique(segment).size / SEGMENT for segment in whole]))


def _mean(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        key: None
        if any(row[key] is None for row in rows)
        else float(np.mean([r[key] for r in rows]))
        for key in rows[0]
    }


def _types(corpus: Corpus) -> set[str]:
    return {corpus.vocabulary[number] for number in np.unique(corpus.numbers)}


def plots(numbers: Numbers) -> Iterator[Plot]:
    recalls = {
        key: row["local_recall"]
        for key, row in numbers["rows"].items()
        if any(share is not None for share in row.get("local_recall", ()))
    }
    if not recalls:
        return
    figure, axes = drawing.panel("References that have the word", "Words recalled (%)")
    for key, recall in recalls.items():
        points = [(n, 100 * share) for n, share in enumerate(recall, 1) if share is not None]
        drawing.line(axes, points, key)
    axes.set_ylim(0, 100)
    axes.set_xticks(range(1, numbers["rounds"] + 1))
    drawing.legend_above(axes)
    description = "; ".join(
        f"{SYSTEMS[key]}: " + ", ".join(_shown(share, 2) for share in recall)
        for key, recall in recalls.items()
    )
    yield Plot("local_recall", "Local recall of content words", f"Lines. {description}.", figure)


def text(numbers: Numbers) -> Iterator[str]:
    yield (
        "Each row is one caption per image, of the "
        f"{counted(numbers['images'], 'image')} that all rows have. TTR1 and TTR2 are the shares "
        "of different words and of "
        f"different pairs of words in segments of {numbers['segment']:,}, averaged. Novel captions "
        "are not in the second dataset word by word. Coverage is the share of the words that both "
        "the references and the second dataset have. Local recall is the share of an image's "
        "content words that the caption has; content words are those that are not on a list of "
        "function words."
    )
    if numbers["rounds"] > 1:
        yield (
            "The row of references is the mean over first references, second references and so "
            f"on ({numbers['rounds']} of each image)."
        )


def tables(numbers: Numbers) -> Iterator[Table]:
    rounds = numbers["rounds"]
    head = [
        "",
        "length",
        "types",
        "TTR1",
        "TTR2",
        "novel (%)",
        "coverage",
        f"local recall, {rounds}",
    ]
    rows = [
        [
            LABELS[key],
            f"{row['length']:.1f} ± {row['length_sd']:.2f}",
            f"{row['types']:,.0f}",
            _shown(row["ttr1"], 2),
            _shown(row["ttr2"], 2),
            _shown(row["novel"], 1),
            _shown(row["coverage"], 2),
            _shown(row.get("local_recall", [None])[-1], 2),
        ]
        for key, row in numbers["rows"].items()
    ]
    yield Table(head, rows)


def _shown(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


SECTION = Section("diversity", "Diversity", measure, plots, text, tables)
