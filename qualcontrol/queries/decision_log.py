"""A campaign's decision log: what people may read in it, and filters."""

from collections.abc import Mapping
from datetime import datetime, time
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.timezone import make_aware

from annotate.kinds import KINDS
from annotate.models import Campaign, Response, Worker
from qualcontrol.models import Act, Decision
from qualcontrol.models.decisions import BY_COMMAND, BY_POLICY, OF_THE_CAMPAIGN

DECISIONS_IN_ORDER = ("-pk",)


def visible_to_reviewers(log: QuerySet[Decision]) -> QuerySet[Decision]:
    """The log without judgements of checks that wait for a reviewer, who must not see them."""
    hidden = [Act.JUDGE_GOOD, Act.JUDGE_BAD, Act.TAKE_BACK]
    return log.exclude(act__in=hidden, response__spot_check__verdict="")


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


def decisions_about(campaign: Campaign, worker: Worker) -> QuerySet[Decision]:
    """Decisions about the worker or the worker's responses, the latest first."""
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    return campaign.decisions.filter(Q(worker=worker) | Q(response__worker=worker)).select_related(
        "actor", "worker", "response__worker", *content
    )
