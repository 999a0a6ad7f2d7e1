"""Withdraw: discard the responses of own people who have withdrawn, and count who is left.

At the same time the marketplace is told which campaign its HITs belong to, for its operators. They
are not part of Mechanical Turk's API: at marketplaces without these addresses nothing happens,
unless the campaign is for own people.
"""

from collections.abc import Collection

from django.db.models import Count, F, Max, Q

from annotate.models import Campaign
from hits.models import Assignment, WorkerAccount
from hits.mturk import people
from hits.mturk.endpoints import is_amazons
from hits.mturk.people import Described, NoPeople
from hits.reconcile.run import Done, Run
from hits.services.accounts import stored_ids
from hits.services.withdrawals import withdraw_work


def withdraw(run: Run) -> None:
    """Ask about each HIT type of the campaign. A sync of single HITs leaves it to the next one."""
    if is_amazons(run.campaign.endpoint) or not run.sync.is_whole:
        return
    hit_types = list(run.campaign.hit_types.order_by("pk"))
    told: list[Described] = []
    for hit_type in hit_types:
        with run.alone(f"withdrawals of {hit_type}"):
            told += _exchange(run, hit_type.hit_type_id)
    if run.campaign.config.workers.who == "own" and hit_types and len(told) == len(hit_types):
        members = {member for group in told for member in group.members}
        run.sync.people_missing = people_missing(run.campaign, members)


def _exchange(run: Run, hit_type_id: str) -> list[Described]:
    """Withdraw what the marketplace lists, and return what it says; empty if it knows no people."""
    try:
        told = people.describe(run.campaign, hit_type_id)
        listed = people.withdrawn_work(run.campaign, hit_type_id) if told.withdrawn else {}
    except NoPeople:
        if run.campaign.config.workers.who == "own":
            raise
        return []
    # Work that this sync has not ingested is withdrawn by a later one.
    own = Assignment.objects.of(run.campaign)
    report = withdraw_work(listed=listed, among=own, at=run.at)
    if report.withdrawn:
        run.done[Done.WITHDRAWN] += report.withdrawn
    return [told]


def people_missing(campaign: Campaign, members: Collection[str]) -> int:
    """The number of further people that the campaign needs, whose members have these ids.

    Nobody does a task twice, so each task needs as many people who have not done it as it lacks
    responses.
    """
    ids = {stored for member in members for stored in stored_ids(campaign.endpoint, member)}
    accounts = WorkerAccount.objects.filter(endpoint=campaign.endpoint, marketplace_id__in=ids)
    excluded = campaign.exclusions.in_force().values("worker")
    active = accounts.exclude(worker__in=excluded)
    left = len(members) - accounts.filter(worker__in=excluded).count()
    answered = Count("responses", filter=Q(responses__worker__in=active.values("worker")))
    tasks = campaign.tasks.unfinished().annotate(done=answered)
    needed = tasks.aggregate(most=Max(F("answers_missing") + F("done")))["most"]
    return max(0, (needed or 0) - left)
