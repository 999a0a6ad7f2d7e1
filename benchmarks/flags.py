"""The rates of flags in good, spoiled and machine-written captions.

They are measured on real captions of nocaps and COCO: as they are, and with the captions of one
worker in six spoiled with one failure pattern. Files with a model's captions of COCO's images, in
COCO's results form or as JSON lines, are measured as the captions of workers who submit them. No
such file is part of this repository.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean, median

from annotate.campaign_file import CampaignConfig
from annotate.kinds.campaign_files import parse_config
from benchmarks.crowds import KNOWN, WORKERS, Written, gather, read_captions
from benchmarks.harness import Line, Report, main
from corpora.language.english import mean_similarities, words
from qualcontrol.flags import Flag, Neighbour, codes, image_flags, lasting_flags
from qualcontrol.flags.copies import KEY_HOLDS, LATEST, Found, most_shared

# Captions of a model that one worker submits; median of words from which they are paragraphs.
OF_A_WORKER, LONG = 100, 40


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
    if not options.files:
        for source in ("nocaps", "coco"):
            _add_rates(report, source, seed=options.seed)
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


def _config(preset: str = "nocaps") -> CampaignConfig:
    return parse_config({"name": "flags", "preset": preset, "selection": "flags", "budget": "1"})


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", type=Path, help="files with models' captions, measured in place of ours"
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the crowds (default: 1)")


if __name__ == "__main__":
    main(measure, name="flags", description=__doc__, options=_options)
