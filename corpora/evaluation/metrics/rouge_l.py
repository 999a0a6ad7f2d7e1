"""ROUGE-L (Lin 2004, section 3), as in COCO's caption evaluation.

The F-measure of the longest common subsequence. Precision and recall are those of the best
reference each, which need not be the same one.
"""

from collections.abc import Sequence

from corpora.evaluation.metrics.base import Measured, Sentences, measured_means

NAMES = ("ROUGE_L",)
BETA = 1.2


def measure(sentences: Sentences) -> Measured:
    pairs = zip(sentences.candidates, sentences.references, strict=True)
    return measured_means(NAMES[0], [_score(candidate, texts) for candidate, texts in pairs])


def _score(candidate: str, references: Sequence[str]) -> float:
    # Not `split()`: in COCO's evaluation, an empty caption is one empty word.
    words = candidate.split(" ")
    split = [reference.split(" ") for reference in references]
    common = common_lengths(words, split)
    precision = max(common) / len(words)
    recall = max(length / len(others) for length, others in zip(common, split, strict=True))
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def common_lengths(words: Sequence[str], others: Sequence[Sequence[str]]) -> list[int]:
    """The length of the longest common subsequence with each of the other texts.

    A row of the usual table is the bits of one integer (Hyyro 2004, "Bit-parallel LCS-length
    computation revisited"), so a long caption takes no longer than the addition of long integers.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(words)) - 1
    lengths = []
    for other in others:
        row = every
        for word in other:
            if found := places.get(word):
                matches = row & found
                row = (row + matches | row - matches) & every
        lengths.append(len(words) - row.bit_count())
    return lengths
