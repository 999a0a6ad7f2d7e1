"""The rates of flags in good and spoiled captions.

They are measured on real captions of nocaps and COCO: as they are, and with the captions of one
worker in six spoiled with one failure pattern.
"""

import argparse
import random
from collections import Counter
from collections.abc import Mapping, Sequence

from annotate.campaign_file import CampaignConfig
from annotate.kinds.reading import parse_config
from benchmarks.crowds import WORKERS, Written, gather, read_captions
from benchmarks.harness import Line, Report, main
from benchmarks.spoilers import KNOWN
from qualcontrol.flags import codes_of_captions


def measure(options: argparse.Namespace) -> Report:
    report = Report()
    for source in ("nocaps", "coco"):
        _add_rates(report, source, seed=options.seed)
    return report


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
        codes for codes, caption in zip(flagged, captions, strict=True) if caption.is_bad == bad
    ]
    counts = Counter(code for codes in chosen for code in codes)
    counts["any flag"] = sum(bool(codes) for codes in chosen)
    return Counter({code: count / len(chosen) for code, count in counts.items()})


def _rounded(rates: Counter[str]) -> dict[str, float]:
    return {code: round(rate, 5) for code, rate in sorted(rates.items())}


def _config() -> CampaignConfig:
    return parse_config({"name": "flags", "preset": "nocaps", "selection": "flags", "budget": "1"})


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1, help="draws the crowds (default: 1)")


if __name__ == "__main__":
    main(measure, name="flags", description=__doc__, options=_options)
