"""The metrics. Each gives statistics of each image, which add up to the figures of any images."""

from collections.abc import Callable, Mapping

from corpora.evaluation.java import Java
from corpora.evaluation.metrics.base import Measured, Sentences
from corpora.evaluation.metrics.by_java import meteor, spice
from corpora.evaluation.metrics.by_ngrams import BLEU, CIDER, bleu, cider, rouge_l

METRICS: Mapping[str, Callable[[Sentences, Java], Measured]] = {
    "bleu": lambda sentences, _: bleu(sentences),
    "meteor": meteor,
    "rouge-l": lambda sentences, _: rouge_l(sentences),
    "cider": lambda sentences, _: cider(sentences),
    "spice": spice,
}
# Those that need the official tokeniser.
OFFICIAL_ONLY = {"meteor", "spice"}
# The names of their figures.
FIGURES = {*BLEU, "METEOR", "ROUGE_L", CIDER, "SPICE"}
