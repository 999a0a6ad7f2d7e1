"""The rates of flags in good and spoiled captions, and the cost of flagging at two sizes.

The rates are measured on real captions of nocaps and COCO: as they are, and with the captions of
one worker in six spoiled with one failure pattern. The cost is that of flagging a submitted
response, with 5,000 and with 166,100 earlier responses: of several that arrive together, as a sync
stores them, and of one that arrives alone.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from time import process_time

from django.db import transaction

from annotate.campaign_file import CampaignConfig
from annotate.kinds.reading import parse_config
from annotate.language.english import rarity, words
from annotate.models import Campaign, Caption, Response, ResponseStatus, Worker
from benchmarks.campaigns import AT, make_campaign, make_workers, settle_down
from benchmarks.crowds import WORKERS as CROWD
from benchmarks.crowds import Written, gather, read_captions
from benchmarks.harness import (
    Line,
    Report,
    in_turn,
    main,
    milliseconds,
    ratio,
    scratch_database,
    seconds,
)
from benchmarks.spoilers import KNOWN
from qualcontrol.flags import codes_of_captions
from qualcontrol.flags.neighbours import KEY_HOLDS, keys_of
from qualcontrol.models import Assessment, CopyKey
from qualcontrol.services.filed_captions import FiledCaptions
from qualcontrol.services.flagging import assess

SMALL, LARGE = 5_000, 166_100
WORKERS, EACH = 727, 11  # as in nocaps (Agrawal et al. 2019, section 3.1)
RARER = 2.5  # than "person"
MOST_TOGETHER, MOST_ALONE, MOST_GROWTH = 1.0, 2.0, 1.2
ROUNDS, IN_A_ROUND = 6, 50
AT_WORK = 10  # workers of responses that arrive together
SUBMITTED = {"status": ResponseStatus.SUBMITTED, "submitted_at": AT}


def measure(options: argparse.Namespace) -> Report:
    report = Report()
    for source in ("nocaps", "coco"):
        _add_rates(report, source, seed=options.seed)
    _add_cost(report)
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
    return [Written(rng.randrange(CROWD), image, text, False) for image, text in captions]


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


def _add_cost(report: Report) -> None:
    """Add the cost in processor time, which depends less on other load than elapsed time. On SQLite
    it includes the database; on PostgreSQL it does not."""
    with scratch_database() as large:
        _fill(LARGE)
        with scratch_database() as small:
            _fill(SMALL)
            # The first texts load the word list.
            in_turn([small, large], _assess_some, rounds=1)
            passed = {small: list[float](), large: list[float]()}
            times = in_turn(
                [small, large], lambda name: _assess_some(name, passed[name]), rounds=ROUNDS
            )
            together = in_turn([small, large], _assess_together, rounds=ROUNDS)
    cost, before = milliseconds(times[large]), milliseconds(times[small])
    growth = ratio(cost, before)
    for what, found, most in (
        (f"one of {IN_A_ROUND} responses that arrive together", together, MOST_TOGETHER),
        ("a response that arrives alone", times, MOST_ALONE),
    ):
        _add_times(report, what, milliseconds(found[large]), milliseconds(found[small]), most)
    report.lines.append(Line("time that passed", f"{milliseconds(passed[large]):.2f} ms"))
    report.figures |= {
        "ms_together": round(milliseconds(together[large]), 3),
        "ms_per_response": round(cost, 3),
        "ms_per_response_small": round(before, 3),
        "ms_passed": round(milliseconds(passed[large]), 3),
        "growth": growth,
    }


def _add_times(report: Report, what: str, cost: float, before: float, most: float) -> None:
    report.lines += [
        Line(
            f"{what}, {LARGE:,} before it",
            f"{cost:.2f} ms of the processor",
            f"{most:g} ms",
            ratio(cost, most),
            1.0,
        ),
        Line("", "", f"{SMALL:,} before it: {before:.2f} ms", ratio(cost, before), MOST_GROWTH),
    ]


def _fill(responses: int) -> None:
    """A campaign with so many assessed captions. The last answer of each image is missing."""
    campaign = make_campaign(name="flags", images=responses // (EACH - 1), wanted=EACH)
    workers = make_workers(WORKERS)
    texts = Texts(seed=responses)
    rows, written = [], []
    for number, task in enumerate(campaign.tasks.order_by("number").values_list("pk", flat=True)):
        for turn in range(EACH - 1):
            worker = workers[(number * 7 + turn) % WORKERS]
            rows.append(Response(campaign=campaign, task_id=task, worker=worker, **SUBMITTED))
            written.append(texts.of_image(number))
    with transaction.atomic():
        rows = Response.objects.bulk_create(rows, batch_size=2000)
        captions = [Caption(response=r, text=t) for r, t in zip(rows, written, strict=True)]
        Caption.objects.bulk_create(captions, batch_size=2000)
        Assessment.objects.bulk_create(_assessments(campaign, rows), batch_size=2000)
        CopyKey.objects.bulk_create(_copy_keys(campaign, captions), batch_size=5000)
    settle_down()


class Texts:
    """An unlimited supply of captions: the beginning of one real caption of an image, the end of
    another, and often a word of a third. When the real images are used up, they are repeated with
    their rarer words replaced, in the same way in all captions of an image."""

    def __init__(self, *, seed: int) -> None:
        self._rng = random.Random(seed)
        self._images = list(read_captions("nocaps").values())
        named = Counter(w for image in self._images for text in image for w in words(text))
        self._rarer = sorted(word for word in named if rarity(word) > RARER)
        self._places = {word: place for place, word in enumerate(self._rarer)}

    def of_image(self, number: int) -> str:
        again, place = divmod(number, len(self._images))
        captions = self._images[place]
        first, second, third = (words(self._rng.choice(captions)) for _ in range(3))
        joined = [*first[: len(first) // 2], *second[len(second) // 2 :]]
        joined.insert(self._rng.randrange(len(joined) + 1), self._rng.choice(third))
        return " ".join(self._changed(word, again) for word in joined)

    def _changed(self, word: str, again: int) -> str:
        if word not in self._places:
            return word
        return self._rarer[(self._places[word] + 997 * again) % len(self._rarer)]


def _assessments(campaign: Campaign, responses: Iterable[Response]) -> Iterator[Assessment]:
    written: Counter[int] = Counter()
    for response in responses:
        written[response.worker_id] += 1
        yield Assessment(
            response=response,
            campaign=campaign,
            worker_id=response.worker_id,
            position=written[response.worker_id],
        )


def _copy_keys(campaign: Campaign, captions: Iterable[Caption]) -> Iterator[CopyKey]:
    """The keys as the service files them."""
    filed, held = FiledCaptions(campaign, []), Counter[int]()
    for caption in captions:
        for key in filed.own(keys_of(caption.text)):
            held[key] += 1
            if held[key] <= KEY_HOLDS:
                yield CopyKey(key=key, response_id=caption.pk)


def _assess_some(_database: str, passed: list[float] | None = None) -> list[float]:
    """Processor times of responses that arrive one after the other, each in its own transaction.
    Elapsed times are added to `passed`."""
    campaign = Campaign.objects.get()
    texts = Texts(seed=Response.objects.count())
    worker = Worker.objects.order_by("?")[0]
    tasks = campaign.tasks.exclude(responses__worker=worker).order_by("?")
    times = []
    for task in tasks[:IN_A_ROUND]:
        response = Response.objects.create(campaign=campaign, task=task, worker=worker, **SUBMITTED)
        text = texts.of_image(task.number - 1)
        response.caption = Caption.objects.create(response=response, text=text)
        began = process_time()
        taken = seconds(partial(assess, campaign=campaign, responses=[response]))
        times.append(process_time() - began)
        if passed is not None:
            passed.append(taken)
    return times


def _assess_together(_database: str) -> list[float]:
    """The processor time of a response among several by AT_WORK workers, in one transaction."""
    campaign = Campaign.objects.get()
    texts = Texts(seed=Response.objects.count())
    workers = cycle(Worker.objects.order_by("?")[:AT_WORK])
    responses = []
    for task, worker in zip(campaign.tasks.order_by("?")[:IN_A_ROUND], workers, strict=False):
        if not task.responses.filter(worker=worker).exists():
            response = Response.objects.create(
                campaign=campaign, task=task, worker=worker, **SUBMITTED
            )
            text = texts.of_image(task.number - 1)
            response.caption = Caption.objects.create(response=response, text=text)
            responses.append(response)
    began = process_time()
    assess(campaign=campaign, responses=responses)
    return [(process_time() - began) / len(responses)]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1, help="draws the crowds (default: 1)")


if __name__ == "__main__":
    main(measure, name="flags", description=__doc__, options=_options)
