"""How many workers a caption's word–box links need if each worker errs: the combined links,
compared with the true ones of generated scenes.

Captions, workers and errors are those of the demonstration: one word in five gets another box of
the image, or another answer.
"""

import argparse
import random
import tomllib
from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple, get_args

from annotate.kinds.correspondence.aggregation import Answers, Method, aggregate
from annotate.kinds.correspondence.answers import Words, parse
from annotate.kinds.correspondence.rules import rules_of
from annotate.kinds.reading import parse_config
from annotate.language.tokens import tokens
from benchmarks.harness import Line, Report, main
from simulation.checks.links import LEAST_RIGHT
from simulation.kinds.correspondence import KINDS, Linker, true_meanings
from simulation.scenes.classes import HIDDEN, LABELS
from simulation.scenes.scene import draw_scene
from simulation.stages.parts import LINKS
from simulation.workers.pages import LinkItem, TaskForm, WordField
from simulation.workers.writers import Honest, Limits, Sight

WORKERS = (3, 5, 9, 15)
IMAGES, CAPTIONS_PER_IMAGE, CROWD = 12, 2, 26  # as in the demonstration
CROWDS, MANY_CROWDS = 6, 24
DEMONSTRATION = parse_config(
    tomllib.loads(LINKS.toml.format(seed=1, budget=1, images=IMAGES, captions=CAPTIONS_PER_IMAGE))
)
KNOWN = frozenset(LABELS) - HIDDEN
# The index of a caption, the index of a word, and a box of the image.
Link = tuple[int, int, int]


class Shares(NamedTuple):
    """The share of accepted links that are true, and the share of true links that are accepted."""

    right: float
    found: float


def measure(options: argparse.Namespace) -> Report:
    report = Report()
    crowds = range(MANY_CROWDS if options.full else CROWDS)
    captions = [list(_captions(seed)) for seed in crowds]
    for workers in WORKERS:
        for method in get_args(Method):
            shares = [_shares(captions[seed], workers, method, seed) for seed in crowds]
            _add(report, workers, method, shares)
    return report


def _add(report: Report, workers: int, method: Method, shares: list[Shares]) -> None:
    least = Shares(min(each.right for each in shares), min(each.found for each in shares))
    mean = Shares(fmean(each.right for each in shares), fmean(each.found for each in shares))
    is_demo = (workers, method) == (DEMONSTRATION.wanted, rules_of(DEMONSTRATION).aggregation)
    report.lines.append(
        Line(
            f"{workers} workers, {method}",
            f"{mean.right:.1%} right, {mean.found:.1%} found",
            f"the worst of {len(shares)} crowds: {least.right:.1%}, {least.found:.1%}",
            ratio=LEAST_RIGHT / min(least),
            aim=1.0 if is_demo else None,
        )
    )
    report.figures[f"{workers} {method}"] = {"mean": mean._asdict(), "least": least._asdict()}


def _captions(seed: int) -> Iterator[LinkItem]:
    """Captions of generated scenes as honest workers write them, with each image's boxes."""
    rng = random.Random(seed)
    for _ in range(IMAGES):
        boxes = [box for box in draw_scene(rng).boxes if box.name in KNOWN]
        names = [box.name for box in boxes]
        sight = Sight({name: names.count(name) for name in names})
        for _ in range(CAPTIONS_PER_IMAGE):
            text = Honest().write(sight, Limits(8, 60), rng, refused=True)
            words = [WordField(str(number), False) for number in range(len(tokens(text)))]
            values = {f"box:{number}": name for number, name in enumerate(names, start=1)}
            yield LinkItem("", text, words, values)


def _shares(captions: list[LinkItem], workers: int, method: Method, seed: int) -> Shares:
    rng = random.Random(f"{seed}/{workers}")
    answers = [_answers(caption, workers, rng) for caption in captions]
    true = {link for number, caption in enumerate(captions) for link in _true(number, caption)}
    held = {
        (number, word, link.box)
        for number, words in enumerate(aggregate(answers, method))
        for word, meaning in words.items()
        for link in meaning.links
    }
    return Shares(len(true & held) / len(held), len(true & held) / len(true))


def _answers(caption: LinkItem, workers: int, rng: random.Random) -> Answers:
    linker = Linker(KNOWN, LINKS.errors)
    page = TaskForm("", {}, [caption], [])
    given = [linker.fill(page, rng, refused=False) for _ in range(workers)]
    return Answers(rng.sample(range(CROWD), workers), [_words(fields) for fields in given])


def _words(fields: dict[str, str]) -> Words:
    parsed = {name: parse(value) for name, value in fields.items()}
    return {name: said for name, said in parsed.items() if said is not None}


def _true(number: int, caption: LinkItem) -> Iterator[Link]:
    for word, meaning in true_meanings(caption.caption, caption.boxes, KNOWN).items():
        if meaning not in KINDS:
            yield from ((number, word, int(box.removeprefix("box:"))) for box in meaning)


if __name__ == "__main__":
    main(measure, name="linking", description=__doc__)
