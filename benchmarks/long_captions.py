"""The rates of flags in real long captions, good and spoiled.

Reads files of JSON lines, a line an image, such as those of ImageInWords (Garg et al. 2024), in
which a text of DOCCI (Onoe et al. 2024) has the key DOCCI, one of ImageInWords' people IIW, and
their descriptions of single objects are the list `objects`. No file is part of this repository.
"""

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from annotate.kinds.campaign_files import parse_config
from benchmarks.flags import codes_of_captions
from benchmarks.harness import Line, Report, main
from corpora.language.english import mean_similarities, words
from qualcontrol.flags import image_flags
from qualcontrol.flags.writing import writing_flags

PEOPLE, MACHINE = ("DOCCI", "IIW"), "IIW-P5B"
FEWEST, LEAST, MOST, WORKERS = 40, 100, 200, 40
Row = dict[str, Any]
CONFIG = parse_config(
    {"name": "long", "preset": "docci", "selection": "long", "budget": "1",
     "captions": {"least_words": 1, "most_words": 1500}}
)  # fmt: skip


def measure(options: argparse.Namespace) -> Report:
    report, rng = Report(), random.Random(options.seed)
    rows = [json.loads(line) for path in options.files for line in path.read_text().splitlines()]
    good = [text for row in rows for text in _of(row, PEOPLE) if _is_long(text)]
    report.lines.append(Line("texts by people of 100 to 200 words", f"{len(good)}"))
    _add(report, "good", [codes for codes in _alone(good, rng)])
    _add(report, "machine", [_written(row[MACHINE]) for row in rows if row.get(MACHINE)])
    _add(report, "shuffled", [_written(_shuffled(text, rng)) for text in good])
    for name, share in (("a tenth replaced", 0.1), ("a fifth replaced", 0.2)):
        copies = [_replaced(text, share, good, rng) for text in good]
        _add(report, name, list(_alone([*good, *copies], rng))[len(good) :])
    _add(report, "frames", list(_alone(_frames(good[0], good, rng), None))[3:])
    _add_groups(report, [group for row in rows if len(group := _group(row)) == 3], rng)
    return report


def _of(row: Row, keys: Sequence[str]) -> Iterator[str]:
    return (row[key] for key in keys if row.get(key))


def _is_long(text: str) -> bool:
    return LEAST <= len(words(text)) <= MOST


def _group(row: Row) -> list[str]:
    """Three texts about one image: by a person, by a model, and what people said of its objects."""
    objects = " ".join(box["description"] for box in row.get("objects", ()))
    texts = [*_of(row, ("IIW", MACHINE)), objects]
    return [text for text in texts if len(words(text)) >= FEWEST]


def _written(text: str) -> list[str]:
    return [flag.code for flag in writing_flags(text, CONFIG)]


def _alone(texts: Sequence[str], rng: random.Random | None) -> Iterator[tuple[str, ...]]:
    """The codes of texts about different images, dealt to workers at random, or all by one."""
    workers = [rng.randrange(WORKERS) if rng else 0 for _ in texts]
    rows = [
        (worker, image, text)
        for image, (worker, text) in enumerate(zip(workers, texts, strict=True))
    ]
    yield from codes_of_captions(rows, CONFIG)


def _shuffled(text: str, rng: random.Random) -> str:
    return " ".join(rng.sample(text.split(), len(text.split())))


def _replaced(text: str, share: float, pool: Sequence[str], rng: random.Random) -> str:
    """The text with a share of its words replaced by those of another one."""
    own, other = text.split(), rng.choice(pool).split()
    return " ".join(rng.choice(other) if rng.random() < share else word for word in own)


def _frames(frame: str, pool: Sequence[str], rng: random.Random) -> list[str]:
    """The same text for many images, each time with a third of its words replaced."""
    return [_replaced(frame, 1 / 3, pool, rng) for _ in range(100)]


def _add_groups(report: Report, groups: Sequence[list[str]], rng: random.Random) -> None:
    """Add the flags that compare: of the texts of an image, and of one from another image."""
    good, strange = [], []
    for place, group in enumerate(groups):
        good += _compared(group)
        other = groups[(place + rng.randrange(1, len(groups))) % len(groups)]
        for number in range(len(group)):
            mixed = [*group[:number], other[number], *group[number + 1 :]]
            strange.append(_compared(mixed)[number])
    _add(report, "of the same image", good)
    _add(report, "of another image", strange)


def _compared(texts: Sequence[str]) -> list[list[str]]:
    flags_of_texts = image_flags(mean_similarities(texts), texts, CONFIG)
    return [[flag.code for flag in flags] for flags in flags_of_texts]


def _add(report: Report, name: str, flagged: Sequence[Sequence[str]]) -> None:
    counts = Counter(code for codes in flagged for code in codes)
    counts["any flag"] = sum(bool(codes) for codes in flagged)
    shares = {code: round(count / len(flagged), 4) for code, count in sorted(counts.items())}
    report.lines += [Line(f"{name}: {code}", f"{share:.1%}") for code, share in shares.items()]
    report.figures[name] = {"texts": len(flagged), **shares}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, help="files of JSON lines")
    parser.add_argument("--seed", type=int, default=1, help="draws the changes (default: 1)")


if __name__ == "__main__":
    main(measure, name="long_captions", description=__doc__, options=_options)
