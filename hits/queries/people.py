"""Whether a campaign's own people are enough to finish it."""

from collections.abc import Collection

from django.db.models import Count, F, Max, Q

from annotate.models import Campaign
from hits.models import WorkerAccount
from hits.queries.worker_data import stored_ids
from qualcontrol.models import Exclusion


def people_missing(campaign: Campaign, members: Collection[str]) -> int:
    """The number of further people that the campaign needs, whose members have these ids.

    Nobody does a task twice, so each task needs as many people who have not done it as it lacks
    responses.
    """
    ids = {stored for member in members for stored in stored_ids(campaign.endpoint, member)}
    known = WorkerAccount.objects.filter(endpoint=campaign.endpoint, marketplace_id__in=ids)
    excluded = Exclusion.objects.in_force().filter(campaign=campaign).values("worker")
    active = known.exclude(worker__in=excluded)
    left = len(members) - known.filter(worker__in=excluded).count()
    done = Count("responses", filter=Q(responses__worker__in=active.values("worker")))
    tasks = campaign.tasks.unfinished().annotate(done=done)
    needed = tasks.aggregate(most=Max(F("answers_missing") + F("done")))["most"]
    return max(0, (needed or 0) - left)
