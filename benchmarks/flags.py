"""The rates of flags in good, spoiled and machine-written captions.

They are measured on real captions of nocaps and COCO: as they are, and with the captions of one
worker in six spoiled with one failure pattern. Files with a model's captions of COCO's images, in
COCO's results form or as JSON lines, are measured as the captions of workers who submit them.

With `--paragraphs`, real long captions are measured: JSON lines, a line an image, such as those
of ImageInWords (Garg et al. 2024), in which a text of DOCCI (Onoe et al. 2024) has the key DOCCI,
one of ImageInWords' people IIW, and their descriptions of single objects are the list `objects`. No
file is part of this repository.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean, median
from typing import Any

from annotate.campaign_file import CampaignConfig
from annotate.kinds.campaign_files import parse_config
from benchmarks.crowds import KNOWN, WORKERS, Written, gather, read_captions
from benchmarks.harness import Line, Report, main
from corpora.language.english import mean_similarities, words
from qualcontrol.flags import Flag, Neighbour, codes, image_flags, lasting_flags
from qualcontrol.flags.copies import KEY_HOLDS, LATEST, Found, most_shared
from qualcontrol.flags.writing import writing_flags

# Captions of a model that one worker submits; median of words from which they are paragraphs.
OF_A_WORKER, LONG = 100, 40
PEOPLE, MACHINE = ("DOCCI", "IIW"), "IIW-P5B"
LEAST, MOST = 100, 200
# Those to whom the paragraphs are dealt.
FEW_WORKERS = 40
Row = dict[str, Any]


def _config(preset: str = "nocaps", **captions: int) -> CampaignConfig:
    return parse_config(
        {"name": "flags", "preset": preset, "selection": "flags", "budget": "1"}
        | ({"captions": captions} if captions else {})
    )


PARAGRAPHS = _config("docci", least_words=1, most_words=1500)


class InMemory:
    """A store of earlier captions in memory, as the product has one in the database."""

    def __init__(self) -> None:
        self._filed: defaultdict[int, list[Neighbour]] = defaultdict(list)
        self._latest: defaultdict[int, list[Neighbour]] = defaultdict(list)
        self._copies: defaultdict[tuple[int, int], int] = defaultdict(int)

    def look_up(self, keys: Sequence[int]) -> Found:
        filed = {key: self._filed.get(key, []) for key in keys}
        return Found(
            most_shared(Counter(caption for captions in filed.values() for caption in captions)),
            [key for key, captions in filed.items() if len(captions) < KEY_HOLDS],
        )

    def latest_of(self, worker: int) -> list[Neighbour]:
        return self._latest[worker][-LATEST:]

    def whole(self, caption: Neighbour) -> Neighbour:
        return caption

    def copies_of(self, worker: int, other: int) -> int:
        return self._copies[worker, other]

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        self._latest[caption.worker] = [*self._latest[caption.worker][1 - LATEST :], caption]
        for key in keys:
            self._filed[key].append(caption)

    def note_copy(self, caption: Neighbour, original: Neighbour, _similarity: float) -> None:
        self._copies[caption.worker, original.worker] += 1


def codes_of_captions(
    captions: Iterable[tuple[int, int, str]], config: CampaignConfig
) -> list[tuple[str, ...]]:
    """The codes of each of these (worker, image, text) captions, with image flags of the complete
    images."""
    neighbours, by_image = InMemory(), defaultdict[int, list[int]](list)
    flags: list[list[Flag]] = []
    texts: list[str] = []
    for number, (worker, image, text) in enumerate(captions):
        flags.append(lasting_flags(Neighbour(number, worker, text), config, neighbours))
        by_image[image].append(number)
        texts.append(text)
    for numbers in by_image.values():
        of_image = [texts[number] for number in numbers]
        of_images = image_flags(mean_similarities(of_image), of_image, config)
        for number, more in zip(numbers, of_images, strict=True):
            flags[number] += more
    return [codes(caption_flags) for caption_flags in flags]


def measure(options: argparse.Namespace) -> Report:
    report = Report()
    if options.paragraphs:
        _add_paragraphs(report, options.paragraphs, random.Random(options.seed))
    elif not options.files:
        for source in ("nocaps", "coco"):
            _add_rates(report, source, seed=options.seed)
    else:
        for path in options.files:
            _add_model(report, path, seed=options.seed)
    return report


def _add_model(report: Report, path: Path, *, seed: int) -> None:
    """Add the rate of each flag in a model's captions, of which each worker submits `OF_A_WORKER`;
    sentences beside those that people wrote of the image, if these are known."""
    content = path.read_text(encoding="utf-8")
    lines = content.splitlines() if path.suffix == ".jsonl" else ()
    rows = [json.loads(line) for line in lines] or json.loads(content)
    random.Random(seed).shuffle(rows)
    length = median(len(words(row["caption"])) for row in rows)
    people = read_captions("coco") if length < LONG else {}
    config = _config("nocaps" if length < LONG else "docci")
    shares: list[list[Written]] = [[] for _ in range(0, len(rows), OF_A_WORKER)]
    for number, row in enumerate(rows):
        worker, image = number // OF_A_WORKER, int(row["image_id"])
        others = enumerate(people.get(image, ()), start=len(rows))
        shares[worker] += [Written(other, image, text, False) for other, text in others]
        shares[worker].append(Written(worker, image, row["caption"], True))
    rates = _rates([*chain.from_iterable(shares)], config)
    alone = fmean(_rates(share, config)["any flag"] for share in shares)
    name, beside = path.stem, sum(int(row["image_id"]) in people for row in rows)
    size = f"{len(rows)} of {length:g} words"
    report.lines.append(Line(f"{name}: captions", size, f"{beside} beside people's"))
    report.lines.append(Line(f"{name}: any flag, if one worker does so", f"{alone:.1%}"))
    report.lines += [Line(f"{name}: {code}", f"{rate:.1%}") for code, rate in sorted(rates.items())]
    report.figures[name] = {"alone": round(alone, 5), **_rounded(rates)}


def _add_rates(report: Report, source: str, *, seed: int) -> None:
    """Add the rate of each flag in good captions, and in those spoiled with each known pattern."""
    config = _config()
    images = read_captions(source)
    good = _rates(_dealt(images, seed=seed), config, bad=False)
    spoiled = {
        pattern: _rates(gather(images, seed=seed, patterns=[pattern], slips=0).captions, config)
        for pattern in KNOWN
    }
    for code in sorted(good.keys() | set().union(*spoiled.values())):
        caught = {m: r[code] for m, r in spoiled.items() if r[code] > max(0.05, 3 * good[code])}
        named = ", ".join(f"{pattern} {rate:.0%}" for pattern, rate in caught.items())
        report.lines.append(Line(f"{source}: {code}", f"{good[code]:.2%} of good", named))
    report.figures[source] = {
        "good": _rounded(good),
        "spoiled": {pattern: _rounded(rates) for pattern, rates in spoiled.items()},
    }


def _dealt(images: Mapping[int, Sequence[str]], *, seed: int) -> list[Written]:
    """The unchanged captions, assigned at random to as many workers as a crowd has."""
    rng = random.Random(seed)
    captions = [(image, text) for image, texts in images.items() for text in texts]
    rng.shuffle(captions)
    return [Written(rng.randrange(WORKERS), image, text, False) for image, text in captions]


def _rates(
    captions: Sequence[Written], config: CampaignConfig, *, bad: bool = True
) -> Counter[str]:
    """The share of the bad (or good) captions that has each code."""
    rows = ((caption.worker, caption.image, caption.text) for caption in captions)
    flagged = codes_of_captions(rows, config)
    chosen = [
        given for given, caption in zip(flagged, captions, strict=True) if caption.is_bad == bad
    ]
    counts = Counter(code for given in chosen for code in given)
    counts["any flag"] = sum(bool(given) for given in chosen)
    return Counter({code: count / len(chosen) for code, count in counts.items()})


def _rounded(rates: Counter[str]) -> dict[str, float]:
    return {code: round(rate, 5) for code, rate in sorted(rates.items())}


def _add_paragraphs(report: Report, paths: Sequence[Path], rng: random.Random) -> None:
    """Add the rates in paragraphs of people and of a model, good and spoiled."""
    rows = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    good = [text for row in rows for text in _of(row, PEOPLE) if _is_long(text)]
    report.lines.append(Line("texts by people of 100 to 200 words", f"{len(good)}"))
    _add_shares(report, "good", [codes for codes in _alone(good, rng)])
    _add_shares(report, "machine", [_written(row[MACHINE]) for row in rows if row.get(MACHINE)])
    _add_shares(report, "shuffled", [_written(_shuffled(text, rng)) for text in good])
    for name, share in (("a tenth replaced", 0.1), ("a fifth replaced", 0.2)):
        copies = [_replaced(text, share, good, rng) for text in good]
        _add_shares(report, name, list(_alone([*good, *copies], rng))[len(good) :])
    _add_shares(report, "frames", list(_alone(_frames(good[0], good, rng), None))[3:])
    _add_groups(report, [group for row in rows if len(group := _group(row)) == 3], rng)


def _of(row: Row, keys: Sequence[str]) -> Iterator[str]:
    return (row[key] for key in keys if row.get(key))


def _is_long(text: str) -> bool:
    return LEAST <= len(words(text)) <= MOST


def _group(row: Row) -> list[str]:
    """Three texts about one image: by a person, by a model, and what people said of its objects."""
    objects = " ".join(box["description"] for box in row.get("objects", ()))
    texts = [*_of(row, ("IIW", MACHINE)), objects]
    return [text for text in texts if len(words(text)) >= LONG]


def _written(text: str) -> list[str]:
    return [flag.code for flag in writing_flags(text, PARAGRAPHS)]


def _alone(texts: Sequence[str], rng: random.Random | None) -> Iterator[tuple[str, ...]]:
    """The codes of texts about different images, dealt to workers at random, or all by one."""
    workers = [rng.randrange(FEW_WORKERS) if rng else 0 for _ in texts]
    rows = [
        (worker, image, text)
        for image, (worker, text) in enumerate(zip(workers, texts, strict=True))
    ]
    yield from codes_of_captions(rows, PARAGRAPHS)


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
    _add_shares(report, "of the same image", good)
    _add_shares(report, "of another image", strange)


def _compared(texts: Sequence[str]) -> list[list[str]]:
    flags_of_texts = image_flags(mean_similarities(texts), texts, PARAGRAPHS)
    return [[flag.code for flag in flags] for flags in flags_of_texts]


def _add_shares(report: Report, name: str, flagged: Sequence[Sequence[str]]) -> None:
    counts = Counter(code for codes in flagged for code in codes)
    counts["any flag"] = sum(bool(codes) for codes in flagged)
    shares = {code: round(count / len(flagged), 4) for code, count in sorted(counts.items())}
    report.lines += [Line(f"{name}: {code}", f"{share:.1%}") for code, share in shares.items()]
    report.figures[name] = {"texts": len(flagged), **shares}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", type=Path, help="files with models' captions, measured in place of ours"
    )
    parser.add_argument(
        "--paragraphs", nargs="+", type=Path, metavar="FILE", help="files of ImageInWords"
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the crowds (default: 1)")


if __name__ == "__main__":
    main(measure, name="flags", description=__doc__, options=_options)
