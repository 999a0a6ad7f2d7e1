"""METEOR 1.5 (Denkowski and Lavie 2014), by the authors' Java program.

The program aligns words. The figures are computed here from its counts (section 2), so that figures
of any images need no further run.
"""

import numpy as np

from corpora.evaluation.java import Java, JavaFailed, package_folder, run_java
from corpora.evaluation.metrics.base import Floats, Measured, Sentences, shares

NAMES = ("METEOR",)
# The parameters for English: the paper's alpha, beta, gamma and delta, and the weights of exact,
# stem, synonym and paraphrase matches.
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])
# Words and function words of both, four counts for each kind of match, chunks, matched words.
LENGTHS, MATCHES, COUNTS = 4, 16, 23
SEPARATOR = "|||"


def measure(sentences: Sentences, java: Java) -> Measured:
    """Raises JavaFailed."""
    lines = [
        f" {SEPARATOR} ".join(["SCORE", *map(_one_field, [*references, candidate])])
        for references, candidate in zip(sentences.references, sentences.candidates, strict=True)
    ]
    jar = package_folder() / "meteor" / "meteor-1.5.jar"
    output = run_java(
        ["-jar", jar, "-", "-", "-stdio", "-l", "en", "-norm"],
        java=java,
        input_text="\n".join([*lines, ""]),
    )
    return Measured(NAMES, _counts(output, len(lines)), _combine)


def _one_field(caption: str) -> str:
    return caption.replace(SEPARATOR, "").replace("  ", " ")


def _counts(output: str, images: int) -> Floats:
    try:
        lines = [[float(cell) for cell in line.split()] for line in output.splitlines()]
        counts = np.array(lines).reshape(images, COUNTS)
    except ValueError as error:
        raise JavaFailed("METEOR's output does not have one line of counts per image.") from error
    chunks, own_matched, matched = counts[:, -3:].T
    is_whole = (chunks == 1) & (own_matched == counts[:, 0]) & (matched == counts[:, 1])
    # As in the program, a caption that matches as a whole has no chunk, also in a sum.
    counts[is_whole, -3] = 0
    return counts


def _combine(sums: Floats, images: int) -> Floats:  # noqa: ARG001
    own_words, words, own_function, function = np.moveaxis(sums[..., :LENGTHS], -1, 0)
    matches = sums[..., LENGTHS : LENGTHS + MATCHES].reshape(*sums.shape[:-1], len(WEIGHTS), 4)
    own_content, content, own_matched, matched = np.moveaxis(matches, -1, 0)
    precision = _share(own_content, own_matched, own_words, own_function)
    recall = _share(content, matched, words, function)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = 1 / ((1 - ALPHA) / precision + ALPHA / recall)
        chunks, own_total, total = np.moveaxis(sums[..., -3:], -1, 0)
        fragmentation = chunks / ((own_total + total) / 2)
        penalty = GAMMA * fragmentation**BETA
        return np.asarray(np.nan_to_num(mean * (1 - penalty)))[..., np.newaxis]


def _share(content: Floats, function: Floats, words: Floats, function_words: Floats) -> Floats:
    """The weighted share of matched words. Content words weigh DELTA, others 1 - DELTA."""
    matched = ((DELTA * content + (1 - DELTA) * function) * WEIGHTS).sum(axis=-1)
    whole = DELTA * (words - function_words) + (1 - DELTA) * function_words
    return shares(matched, whole)
