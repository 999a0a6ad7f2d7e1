"""A simulated reviewer, who knows what is in an image and judges captions by that alone."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from annotate.models import Campaign, Response, Worker
from hits.simulation.sights import sights_of
from hits.simulation.words import called, mentions, plural
from hits.simulation.writers import Sight
from qualcontrol import services
from qualcontrol.models import SpotCheck, Verdict

# Words that come before a thing's name in a sentence; in a list of keywords none does.
DETERMINERS = {"a", "an", "the", "some", "two", "three", "four", "five", "several", "many", "of"}


@dataclass(frozen=True)
class Round:
    """What one round of review did."""

    judged: int
    bad: int
    excluded: int


def fault(text: str, *, sight: Sight, known: Collection[str], others: Sequence[str]) -> str:
    """What is wrong with a caption, in the words a reviewer would give; empty if nothing is.

    `known` are all the class names of the campaign, `others` the worker's other captions.
    """
    if text in others:
        return "the same sentence as on another image"
    named = mentions(text, set(known))
    if _is_list(text, named):
        return "a list of keywords, not a sentence"
    if named - set(sight.things):
        return "describes another image"
    if sight.things and not named:
        return "says nothing about what is in the image"
    return ""


def _is_list(text: str, named: Collection[str]) -> bool:
    """Whether most of the things that a text names stand there bare, without an article."""
    words = text.lower().replace(",", " ").replace(".", " ").split()
    starts = {form.split()[0] for name in named for form in (called(name), plural(called(name)))}
    places = [index for index, word in enumerate(words) if word in starts]
    bare = [i for i in places if not set(words[max(0, i - 2) : i]) & DETERMINERS]
    return len(bare) * 2 > len(places)


def review(*, campaign: Campaign, reviewer: User | None, at: datetime) -> Round:
    """Judge every open spot check, and exclude each worker with two bad captions or more."""
    sights = sights_of(campaign)
    known = {name for sight in sights.values() for name in sight.things}
    judged, bad = 0, 0
    checks = SpotCheck.objects.of(campaign).open().select_related("response__task__image")
    for check in checks.order_by("pk"):
        response = check.response
        reason = fault(
            response.caption.text,
            sight=sights[response.task.image_id],
            known=known,
            others=_other_captions(response),
        )
        verdict = Verdict.BAD if reason else Verdict.GOOD
        services.judge(spot_check=check, verdict=verdict, reason=reason, reviewer=reviewer, at=at)
        judged += 1
        bad += bool(reason)
    return Round(judged, bad, _exclude(campaign, reviewer, at))


def _other_captions(response: Response) -> list[str]:
    return list(
        Response.objects.filter(worker=response.worker_id, caption__isnull=False)
        .exclude(pk=response.pk)
        .values_list("caption__text", flat=True)
    )


def _exclude(campaign: Campaign, reviewer: User | None, at: datetime) -> int:
    checks = SpotCheck.objects.of(campaign).filter(verdict=Verdict.BAD)
    counts = Counter(checks.values_list("response__worker", flat=True))
    excluded = set(campaign.exclusions.in_force().values_list("worker", flat=True))
    chosen = [worker for worker, count in counts.items() if count >= 2 and worker not in excluded]
    for worker in Worker.objects.filter(pk__in=chosen).order_by("pk"):
        reasons = Counter(checks.filter(response__worker=worker).values_list("reason", flat=True))
        usual = reasons.most_common(1)[0][0]
        services.exclude_worker(
            campaign=campaign,
            worker=worker,
            reason=f"{counts[worker.pk]} bad captions in spot checks, such as: {usual}",
            actor=reviewer,
            at=at,
        )
    return len(chosen)
