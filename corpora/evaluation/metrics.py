"""The metrics. Each gives statistics of each image, which add up to the figures of any images.

BLEU, ROUGE-L and CIDEr-D are as in COCO's caption evaluation, from n-grams counted as arrays: loops
over dictionaries take twenty times as long. METEOR and SPICE are by their authors' Java programs.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from corpora.errors import DomainError
from corpora.evaluation.java import Java, JavaFailed, package_folder, run_java
from corpora.reading.files import is_file

Floats = NDArray[np.float64]


class NoFigure(DomainError):
    """A metric has no figure for these captions; the message gives the reason."""


class Sentences(NamedTuple):
    """Tokenised captions: the references and the candidate of each image, in the same order."""

    references: Sequence[Sequence[str]]
    candidates: Sequence[str]


class Measured(NamedTuple):
    """A metric's statistics, and how to turn their sums into figures.

    `statistics` has a row for each image. `combine` takes sums of rows, in the last axis, and the
    number of images in each sum; it returns the figures of `names` in the last axis. A metric of a
    corpus, such as BLEU, is not the mean of its figures of single images.
    """

    names: tuple[str, ...]
    statistics: Floats
    combine: Callable[[Floats, int], Floats]

    def figures(self, rows: NDArray[np.intp] | slice = slice(None)) -> dict[str, float]:
        """The figures of some images by name."""
        chosen = self.statistics[rows]
        return dict(zip(self.names, self.combine(chosen.sum(axis=0), len(chosen)), strict=True))

    def of_each_image(self) -> dict[str, Floats]:
        """The figures of each image alone by name."""
        return dict(zip(self.names, self.combine(self.statistics, 1).T, strict=True))


def measured_means(name: str, scores: Floats | Sequence[float]) -> Measured:
    """A metric whose figure is the mean of the images' scores."""
    return Measured((name,), np.asarray(scores, dtype=float)[:, np.newaxis], np.divide)


def shares(parts: Floats, wholes: Floats) -> Floats:
    """The parts divided by the wholes, 0 where a whole is 0."""
    return np.asarray(np.divide(parts, wholes, out=np.zeros_like(wholes), where=wholes > 0))


LONGEST = 4
Ints = NDArray[np.int64]


class Counts(NamedTuple):
    """Rows of (image, caption, n-gram, times). Captions are numbered over all images."""

    image: Ints
    caption: Ints
    ngram: Ints
    times: Ints


class Table(NamedTuple):
    """The n-grams of one length, numbered below `ngrams`, in candidates and references.

    The number of a candidate's caption is that of its image.
    """

    ngrams: int
    candidates: Counts
    references: Counts

    def keys(self, counts: Counts) -> Ints:
        """A number for each pair of image and n-gram."""
        return counts.image * self.ngrams + counts.ngram

    def counts_in_candidates(self, counts: Counts) -> Ints:
        """How often the candidate of each row's image contains its n-gram."""
        keys = self.keys(self.candidates)
        return np.asarray(looked_up(keys, self.candidates.times, self.keys(counts)))


def looked_up(keys: Ints, values: Ints, wanted: Ints) -> Ints:
    """The value at each wanted key, 0 if there is none; `keys` are sorted and different."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=values.dtype)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)


def sums(rows: Ints, values: Floats | Ints, length: int) -> Floats:
    """The sum of the values by row number."""
    return np.bincount(rows, values.astype(float), length).astype(float)


def tables(sentences: Sentences) -> Iterator[Table]:
    """The n-grams of length 1, 2, 3 and 4."""
    images = len(sentences.candidates)
    captions = [*sentences.candidates, *chain.from_iterable(sentences.references)]
    image_of = np.concatenate(
        [np.arange(images), np.repeat(np.arange(images), [*map(len, sentences.references)])]
    )
    words, caption_of = _numbered(captions)
    # How many words of the caption follow, this one included.
    left = np.bincount(caption_of, minlength=len(captions)).cumsum()[caption_of] - np.arange(
        len(words)
    )
    vocabulary = int(words.max(initial=0)) + 1
    ngram = words.copy()
    for length in range(1, LONGEST + 1):
        begins = np.flatnonzero(left >= length)
        if length > 1:
            longer = ngram[begins] * vocabulary + words[begins + length - 1]
            ngram[begins] = np.unique(longer, return_inverse=True)[1]
        size = int(ngram[begins].max(initial=0)) + 1
        keys, times = np.unique(caption_of[begins] * size + ngram[begins], return_counts=True)
        caption, number = np.divmod(keys, size)
        counts = Counts(image_of[caption], caption, number, times)
        split = int(np.searchsorted(caption, images))
        yield Table(
            size, Counts(*(c[:split] for c in counts)), Counts(*(c[split:] for c in counts))
        )


def _numbered(captions: list[str]) -> tuple[Ints, Ints]:
    """The words of all captions as numbers, and the caption of each word."""
    numbers: dict[str, int] = {}
    split = [caption.split() for caption in captions]
    words = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(split)]
    return np.array(words, dtype=np.int64), np.repeat(np.arange(len(split)), [*map(len, split)])


BLEU = tuple(f"Bleu_{length}" for length in range(1, LONGEST + 1))
# COCO's evaluation adds these to a share's whole and part, so that 0 of 0 is almost 0.
SMALL, TINY = 1e-9, 1e-15
ORDERS = np.arange(1, LONGEST + 1)


def bleu(sentences: Sentences) -> Measured:
    """BLEU-1 to BLEU-4 (Papineni et al. 2002, section 2).

    Statistics of an image: n-grams found in a reference, n-grams, words, reference's words.
    """
    images = len(sentences.candidates)
    matched = np.stack([_found(table, images) for table in tables(sentences)], axis=1)
    words = np.array([len(caption.split()) for caption in sentences.candidates])
    ngrams = np.maximum(0, words[:, np.newaxis] - ORDERS + 1)
    closest = [
        min((abs(length - own), length) for length in (len(text.split()) for text in references))[1]
        for own, references in zip(words.tolist(), sentences.references, strict=True)
    ]
    return Measured(
        BLEU, np.column_stack([matched, ngrams, words, closest]).astype(float), _combined_bleu
    )


def _found(table: Table, images: int) -> Floats:
    """How many of each candidate's n-grams a reference has, each at most as often as in one."""
    keys, places = np.unique(table.keys(table.references), return_inverse=True)
    most = np.zeros(len(keys), dtype=np.int64)
    np.maximum.at(most, places, table.references.times)
    candidates = table.candidates
    allowed = looked_up(keys, most, table.keys(candidates))
    return sums(candidates.image, np.minimum(candidates.times, allowed), images)


def _combined_bleu(sums: Floats, images: int) -> Floats:  # noqa: ARG001
    matched, ngrams = sums[..., :LONGEST], sums[..., LONGEST : 2 * LONGEST]
    words, closest = sums[..., -2], sums[..., -1]
    precisions = np.cumprod((matched + TINY) / (ngrams + SMALL), axis=-1) ** (1 / ORDERS)
    ratio = (words + TINY) / (closest + SMALL)
    brevity_penalty = np.exp(np.minimum(0, 1 - 1 / ratio))
    return np.asarray(precisions * brevity_penalty[..., np.newaxis])


ROUGE_BETA = 1.2


def rouge_l(sentences: Sentences) -> Measured:
    """ROUGE-L (Lin 2004, section 3): the F-measure of the longest common subsequence. Precision and
    recall are those of the best reference each, which need not be the same one."""
    pairs = zip(sentences.candidates, sentences.references, strict=True)
    return measured_means("ROUGE_L", [_rouge(candidate, texts) for candidate, texts in pairs])


def _rouge(candidate: str, references: Sequence[str]) -> float:
    # Not `split()`: in COCO's evaluation, an empty caption is one empty word.
    words = candidate.split(" ")
    split = [reference.split(" ") for reference in references]
    common = [LCSseq.similarity(words, others) for others in split]
    precision = max(common) / len(words)
    recall = max(length / len(others) for length, others in zip(common, split, strict=True))
    if not precision or not recall:
        return 0.0
    return (1 + ROUGE_BETA**2) * precision * recall / (recall + ROUGE_BETA**2 * precision)


CIDER = "CIDEr"
SIGMA = 6.0
SCALE = 10.0


def cider(sentences: Sentences) -> Measured:
    """CIDEr-D (Vedantam et al. 2015, sections 3 and 8); raises NoFigure.

    The mean cosine similarity of the candidate's and the references' n-grams, weighted by how rare
    they are in the references of all images, which are the given ones. The candidate's counts are
    clipped to the reference's, and a difference in length is penalised.
    """
    images = len(sentences.candidates)
    if images < 2:
        raise NoFigure(
            "CIDEr needs at least two images: with one, all n-grams are equally frequent."
        )
    references = np.array([*map(len, sentences.references)])
    image_of = np.repeat(np.arange(images), references)
    similarities = sum(_similarities(table, image_of) for table in tables(sentences))
    similarities *= _length_penalties(sentences, image_of)
    means = sums(image_of, similarities, images) / references / LONGEST
    return measured_means(CIDER, SCALE * means)


def _similarities(table: Table, image_of: Ints) -> Floats:
    """The cosine similarity of each reference with the candidate of its image."""
    images, references = int(image_of[-1]) + 1, table.references
    rarity = _rarity(table, images)
    reference = references.caption - images
    weights = references.times * rarity[references.ngram]
    clipped = np.minimum(table.counts_in_candidates(references) * rarity[references.ngram], weights)
    products = sums(reference, clipped * weights, len(image_of))
    own_weights = table.candidates.times * rarity[table.candidates.ngram]
    own_norms = np.sqrt(sums(table.candidates.image, own_weights**2, images))
    norms = np.sqrt(sums(reference, weights**2, len(image_of))) * own_norms[image_of]
    return shares(products, norms)


def _rarity(table: Table, images: int) -> Floats:
    """The logarithm of the images per image whose references have the n-gram, by n-gram."""
    in_images = np.unique(table.keys(table.references)) % table.ngrams
    frequencies = np.bincount(in_images, minlength=table.ngrams)
    return np.asarray(np.log(images) - np.log(np.maximum(1, frequencies)))


def _length_penalties(sentences: Sentences, image_of: Ints) -> Floats:
    own = np.array([_length(caption) for caption in sentences.candidates])
    others = np.array([_length(text) for texts in sentences.references for text in texts])
    return np.asarray(np.exp(-((own[image_of] - others) ** 2) / (2 * SIGMA**2)))


def _length(caption: str) -> int:
    """The number of bigrams, which COCO's evaluation takes for the length."""
    return max(0, len(caption.split()) - 1)


# The parameters for English: the paper's alpha, beta, gamma and delta, and the weights of exact,
# stem, synonym and paraphrase matches.
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])
# Words and function words of both, four counts for each kind of match, chunks, matched words.
LENGTHS, MATCHES, COUNTS = 4, 16, 23
SEPARATOR = "|||"


def meteor(sentences: Sentences, java: Java) -> Measured:
    """METEOR 1.5 (Denkowski and Lavie 2014); raises JavaFailed.

    The program aligns words. The figures are computed here from its counts (section 2), so that
    figures of any images need no further run.
    """
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
    return Measured(("METEOR",), _counts(output, len(lines)), _combined_meteor)


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


def _combined_meteor(sums: Floats, images: int) -> Floats:  # noqa: ARG001
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


JARS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
# Recent versions of Java refuse SPICE's serialisation the access that it needs.
OPENED = ("java.lang", "java.math", "java.net", "java.text", "java.util", "java.util.concurrent")


def spice(sentences: Sentences, java: Java) -> Measured:
    """SPICE (Anderson et al. 2016); raises NoFigure and JavaFailed.

    The program needs two files of Stanford CoreNLP 3.6.0, which pycocoevalcap would download. Here
    they are taken from a folder that the operator names, and nothing is ever downloaded.
    """
    models = _models(java)
    limits = java._replace(memory_mb=java.spice_memory_mb, seconds=java.spice_seconds)
    package = package_folder() / "spice"
    with tempfile.TemporaryDirectory(prefix="spice-") as name:
        folder = Path(name)
        captions, scores = folder / "captions.json", folder / "scores.json"
        captions.write_text(_input(sentences), encoding="utf-8")
        path = os.pathsep.join(
            map(str, [package / "spice-1.0.jar", *models, package / "lib" / "*"])
        )
        opened = [f"--add-opens=java.base/{part}=ALL-UNNAMED" for part in OPENED]
        program = [*opened, "-cp", path, "edu.anu.spice.SpiceScorer"]
        run_java([*program, captions, "-out", scores, "-silent"], java=limits, folder=folder)
        return measured_means("SPICE", _scores(scores, len(sentences.candidates)))


def _models(java: Java) -> list[Path]:
    if java.spice_models is None:
        raise NoFigure("SPICE_MODELS does not name a folder with the files of CoreNLP 3.6.0.")
    files = [java.spice_models / name for name in JARS]
    for file in files:
        if not is_file(file):
            raise NoFigure(f"SPICE_MODELS has no file {file.name}.")
    return [file.absolute() for file in files]


def _input(sentences: Sentences) -> str:
    pairs = zip(sentences.candidates, sentences.references, strict=True)
    return json.dumps(
        [
            {"image_id": number, "test": candidate, "refs": list(references)}
            for number, (candidate, references) in enumerate(pairs)
        ]
    )


def _scores(path: Path, images: int) -> list[float]:
    """F of each image; raises JavaFailed."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        by_image = {entry["image_id"]: float(entry["scores"]["All"]["f"]) for entry in entries}
        return [by_image[image] for image in range(images)]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise JavaFailed("SPICE's output does not have a score for each image.") from error


METRICS: Mapping[str, Callable[[Sentences, Java], Measured]] = {
    "bleu": lambda sentences, _: bleu(sentences),
    "meteor": meteor,
    "rouge-l": lambda sentences, _: rouge_l(sentences),
    "cider": lambda sentences, _: cider(sentences),
    "spice": spice,
}
# Those that need the official tokeniser.
OFFICIAL_ONLY = {"meteor", "spice"}
# The names of their figures, in the same order.
FIGURES = (*BLEU, "METEOR", "ROUGE_L", CIDER, "SPICE")
