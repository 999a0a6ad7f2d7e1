"""The lists of a campaign's workers and of its decisions, by what a page filters for."""

from collections.abc import Mapping
from datetime import datetime, time
from typing import Any

from django.db.models import Exists, FilteredRelation, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils.timezone import make_aware

from annotate.models import Campaign, Response, Worker
from qualcontrol.models import Decision, Proposal, waiting_for_verdicts
from qualcontrol.models.decisions import BY_COMMAND, BY_POLICY, OF_THE_CAMPAIGN
from qualcontrol.queries.decision_log import visible_to_reviewers
from qualcontrol.queries.quality_report import (
    ACTIVE,
    EXCLUDED,
    PAUSED,
    PROPOSED,
    WAITING,
    known_workers,
)

STATES = {
    ACTIVE: "active",
    WAITING: "waiting for verdicts",
    PAUSED: "paused",
    PROPOSED: "proposed for exclusion",
    EXCLUDED: "excluded",
}
# Columns to sort workers by. The key breaks ties, so that pages do not overlap.
WORKER_ORDERS = {
    "risk": ("-risk", "-answers", "pk"),
    "answers": ("-answers", "pk"),
    "good": ("-good", "pk"),
    "bad": ("-bad", "pk"),
    "share": ("-share", "pk"),
    "worker": ("pseudonym",),
}
DECISIONS_IN_ORDER = ("-pk",)


def found_workers(campaign: Campaign, wanted: Mapping[str, Any]) -> QuerySet[Worker]:
    """The campaign's workers for whom all of `wanted` holds: `worker` (a part of the pseudonym),
    `state` (of STATES), `judged` (`yes` or `no`). Their numbers are the stored ones, so that no
    response is counted."""
    risk = FilteredRelation("worker_risks", condition=Q(worker_risks__campaign=campaign))
    rows = known_workers(campaign).annotate(own=risk)
    rows = rows.annotate(
        risk=Coalesce("own__risk", Value(0.0)),
        share=Coalesce("own__share", Value(0.0)),
        answers=Coalesce("own__responses", Value(0)),
        good=Coalesce("own__good", Value(0)),
        bad=Coalesce("own__bad", Value(0)),
    )
    if pseudonym := wanted.get("worker"):
        rows = rows.filter(pseudonym__icontains=pseudonym)
    if state := wanted.get("state"):
        rows = rows.filter(_in_state(campaign, state))
    if judged := wanted.get("judged"):
        has_verdict = Q(good__gt=0) | Q(bad__gt=0)
        rows = rows.filter(has_verdict if judged == "yes" else ~has_verdict)
    return rows


def _in_state(campaign: Campaign, state: str) -> Q:
    """As `worker_summaries` names it: of several states, the most serious one counts."""
    theirs = {"campaign": campaign, "worker": OuterRef("pk")}
    excluded = Q(Exists(campaign.exclusions.in_force().filter(worker=OuterRef("pk"))))
    proposed = Q(Exists(Proposal.objects.open().filter(**theirs)))
    paused = Q(Exists(campaign.pauses.in_force().filter(worker=OuterRef("pk"))))
    waiting = Q(pk__in=waiting_for_verdicts(campaign).values("pk"))
    return {
        EXCLUDED: excluded,
        PROPOSED: proposed & ~excluded,
        PAUSED: paused & ~proposed & ~excluded,
        WAITING: waiting & ~paused & ~proposed & ~excluded,
        ACTIVE: ~waiting & ~paused & ~proposed & ~excluded,
    }[state]


def found_decisions(campaign: Campaign, wanted: Mapping[str, Any]) -> QuerySet[Decision]:
    """The entries of the decision log for which all of `wanted` holds: `act`, `worker` (a
    pseudonym), `actor` (a user name, BY_POLICY or BY_COMMAND), `reason` (a part of it), `since`
    and `until` (dates)."""
    rows = visible_to_reviewers(campaign.decisions.all())
    if act := wanted.get("act"):
        rows = rows.filter(act=act)
    if pseudonym := wanted.get("worker"):
        # Two conditions with an index each. With OR, the database would read the whole log.
        theirs = Response.objects.of(campaign).filter(worker__pseudonym=pseudonym)
        about = [
            *rows.filter(worker__pseudonym=pseudonym).order_by().values_list("pk", flat=True),
            *rows.filter(response__in=theirs).order_by().values_list("pk", flat=True),
        ]
        rows = rows.filter(pk__in=about)
    if actor := wanted.get("actor"):
        rows = rows.filter(_decided_by(actor))
    if reason := wanted.get("reason"):
        rows = rows.filter(reason__icontains=reason)
    if since := wanted.get("since"):
        rows = rows.filter(at__gte=make_aware(datetime.combine(since, time.min)))
    if until := wanted.get("until"):
        rows = rows.filter(at__lte=make_aware(datetime.combine(until, time.max)))
    return rows


def _decided_by(actor: str) -> Q:
    """As `Decision.decided_by` names it."""
    by_command = Q(act__in=OF_THE_CAMPAIGN)
    return {
        BY_POLICY: Q(actor=None) & ~by_command,
        BY_COMMAND: Q(actor=None) & by_command,
    }.get(actor, Q(actor__username=actor))
