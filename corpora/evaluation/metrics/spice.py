"""SPICE (Anderson et al. 2016), by the authors' Java program.

The program needs two files of Stanford CoreNLP 3.6.0, which pycocoevalcap would download. Here they
are taken from a folder that the operator names, and nothing is ever downloaded.
"""

import json
import os
import tempfile
from pathlib import Path

from corpora.evaluation.java import Java, JavaFailed, package_folder, run_java
from corpora.evaluation.metrics.base import Measured, NoFigure, Sentences, measured_means

NAMES = ("SPICE",)
JARS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
# Recent versions of Java refuse SPICE's serialisation the access that it needs.
OPENED = ("java.lang", "java.math", "java.net", "java.text", "java.util", "java.util.concurrent")


def measure(sentences: Sentences, java: Java) -> Measured:
    """Raises NoFigure and JavaFailed."""
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
        return measured_means(NAMES[0], _scores(scores, len(sentences.candidates)))


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
