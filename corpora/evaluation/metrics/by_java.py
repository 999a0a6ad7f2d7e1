"""METEOR and SPICE, by their authors' Java programs."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

from corpora.evaluation.java import Java, JavaFailed, package_folder, run_java
from corpora.evaluation.metrics.base import (
    Floats,
    Measured,
    NoFigure,
    Sentences,
    measured_means,
    shares,
)

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
        if not file.is_file():
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
