"""Split captions into words, with the official tokeniser or with our own.

A tokenised caption is a text with one space between words. Figures by different tokenisers must not
be compared.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from corpora.evaluation.java import Java, JavaFailed, package_folder, run_java
from corpora.language.tokens import written

Tokenise = Callable[[Sequence[str]], list[str]]
PLAIN, OFFICIAL = "plain", "ptb"
ENGLISH_ONLY = "The official tokeniser splits English only."
# Tokens that COCO's caption evaluation removes.
PUNCTUATION = {
    "''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--",
    "...", ";",
}  # fmt: skip
# English short forms, which the Penn Treebank splits from their words.
SHORT_FORM = re.compile(r"(?<=\w)(n['’]t|['’](?:s|m|d|re|ve|ll))\b")


def tokeniser_named(name: str, java: Java) -> Tokenise:
    """The function that tokenises captions; calls of the official one raise JavaFailed."""
    return plain if name == PLAIN else partial(official, java=java)


def plain(captions: Sequence[str]) -> list[str]:
    """The words of `corpora.language.tokens` in lower case, with English short forms split off.

    Scripts without spaces are split by ICU's dictionaries.
    """
    return [" ".join(_plain_words(caption.lower())) for caption in captions]


def _plain_words(caption: str) -> list[str]:
    if "'" in caption or "’" in caption:
        return [
            part
            for word in written(caption)
            for part in SHORT_FORM.sub(r" \1", word.replace("’", "'")).split()
        ]
    return written(caption)


def official(captions: Sequence[str], *, java: Java) -> list[str]:
    """The words by the Penn Treebank tokeniser of Stanford CoreNLP 3.4.1; raises JavaFailed.

    This is the tokeniser of COCO's caption evaluation (Chen et al. 2015, section 3.1), with lower
    case and without punctuation.
    """
    jar = package_folder() / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    # The program keeps line ends, so a caption has to be one line.
    lines = "".join(" ".join(caption.splitlines()) + "\n" for caption in captions)
    program: list[str | Path] = [
        "-cp",
        jar,
        "edu.stanford.nlp.process.PTBTokenizer",
        "-preserveLines",
        "-lowerCase",
    ]
    output = run_java(program, java=java, input_text=lines)
    tokenised = output.split("\n")[:-1]
    if len(tokenised) != len(captions):
        raise JavaFailed(
            f"The tokeniser returned {len(tokenised)} lines for {len(captions)} captions."
        )
    return [
        " ".join(word for word in line.rstrip().split(" ") if word not in PUNCTUATION)
        for line in tokenised
    ]
