"""The result of a worker's trial: whether too many of their first responses are bad.

A campaign with `[review] trial` lets a worker submit that many responses before their first ones
are judged (`qualcontrol.models.waiting_for_verdicts`). One bad response is forgiven. A worker with
more is paused, and a person decides. Such a worker has written few responses, so nothing else has
to be discarded.
"""

from django.db.models import Count, F, QuerySet

from annotate.models import Campaign, Worker
from qualcontrol.models import SpotCheck, Verdict, WorkerRisk

SLIPS_FORGIVEN = 1


def failed_trials(campaign: Campaign) -> QuerySet[Worker]:
    """The workers who failed the campaign's trial, except those without a bad verdict since a
    person last decided in their favour."""
    if not campaign.config.review.trial:
        return Worker.objects.none()
    bad = SpotCheck.objects.of(campaign).filter(is_first=True, verdict=Verdict.BAD).order_by()
    by_worker = bad.values("response__worker").annotate(n=Count("pk"))
    failed = by_worker.filter(n__gt=SLIPS_FORGIVEN).values("response__worker")
    known = WorkerRisk.objects.of(campaign).filter(bad__gt=F("forgiven"))
    return Worker.objects.filter(pk__in=failed).filter(pk__in=known.values("worker"))


def why_failed(campaign: Campaign, worker: Worker) -> str:
    """The reason for the pause, in a sentence."""
    firsts = SpotCheck.objects.of(campaign).filter(is_first=True, response__worker=worker)
    judged = firsts.exclude(verdict="").count()
    bad = firsts.filter(verdict=Verdict.BAD).count()
    return f"{bad} of the worker's first {judged} judged responses are bad"
