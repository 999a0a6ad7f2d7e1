"""A campaign's decision log: what people may read in it, columns and filters."""

from collections.abc import Collection, Mapping
from datetime import datetime, time
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.text import capfirst
from django.utils.timezone import make_aware

from accounts.models import Right
from annotate.kinds import KINDS, TaskKind
from annotate.models import Campaign, Response, ResponseStatus, Worker
from qualcontrol.models import Act, Decision, Judgement
from qualcontrol.models.decisions import (
    BY_COMMAND,
    BY_FILE,
    BY_POLICY,
    BY_WORKER,
    WITHDRAWN,
    WITHOUT_ACTOR,
)
from shared.tables import Column

DECISIONS_IN_ORDER = ("-pk",)


def decision_columns(kind: TaskKind) -> list[Column]:
    """The columns of the log, on pages and in the CSV file."""
    return [
        Column("at", "When (UTC)"),
        Column("decision", "Decision", value=lambda entry: entry.get_act_display()),
        Column("by", "By", value=lambda entry: entry.decided_by),
        Column(
            "worker",
            "Worker",
            value=lambda entry: entry.about_worker and entry.about_worker.pseudonym,
        ),
        Column("response", value=lambda entry: entry.response_id),
        Column(
            "answer",
            capfirst(kind.answer_name),
            value=lambda entry: entry.response and kind.summary(entry.response),
        ),
        Column("reason", "Reason"),
    ]


def visible_to_reviewers(log: QuerySet[Decision]) -> QuerySet[Decision]:
    """The log without judgements of checks that wait for a reviewer, who must not see them, and
    without what they have moved: the reason of a discard is that of a judgement."""
    judgements = [Act.JUDGE_GOOD, Act.JUDGE_BAD, Act.TAKE_BACK]
    waiting = Judgement.objects.filter(spot_check__response=OuterRef("response"))
    moves = Q(
        Exists(waiting),
        act__in=[Act.DISCARD, Act.RESTORE],
        worker=None,
        response__status=ResponseStatus.SUBMITTED,
    )
    return log.exclude(Q(act__in=judgements) | moves, response__spot_check__verdict="")


def visible_with(rights: Collection[Right], log: QuerySet[Decision]) -> QuerySet[Decision]:
    """The same for somebody with these rights: who sees no money reads no changes of amounts."""
    log = visible_to_reviewers(log)
    return log if Right.SEE_MONEY in rights else log.exclude(act__in=[Act.BUDGET, Act.REWARD])


def found_decisions(
    campaign: Campaign, wanted: Mapping[str, Any], rights: Collection[Right] = frozenset(Right)
) -> QuerySet[Decision]:
    """The entries of the decision log for which all of `wanted` holds: `act`, `worker` (a
    pseudonym), `actor` (as the log names who decided), `reason` (a part of it), `since` and
    `until` (dates)."""
    rows = visible_with(rights, campaign.decisions.all())
    if act := wanted.get("act"):
        rows = rows.filter(act=act)
    if pseudonym := wanted.get("worker"):
        rows = about_worker(rows, pseudonym)
    if actor := wanted.get("actor"):
        rows = rows.filter(_decided_by(actor))
    if reason := wanted.get("reason"):
        rows = rows.filter(reason__icontains=reason)
    if since := wanted.get("since"):
        rows = rows.filter(at__gte=make_aware(datetime.combine(since, time.min)))
    if until := wanted.get("until"):
        rows = rows.filter(at__lte=make_aware(datetime.combine(until, time.max)))
    return rows


def about_worker(log: QuerySet[Decision], pseudonym: str) -> QuerySet[Decision]:
    """The entries about the worker with this pseudonym, or about one of the worker's responses."""
    # Two conditions with an index each. With OR, the database would read the whole log.
    theirs = Response.objects.filter(worker__pseudonym=pseudonym)
    about = [
        *log.filter(worker__pseudonym=pseudonym).order_by().values_list("pk", flat=True),
        *log.filter(response__in=theirs).order_by().values_list("pk", flat=True),
    ]
    return log.filter(pk__in=about)


def _decided_by(actor: str) -> Q:
    """As `Decision.decided_by` names it."""
    discards = {
        BY_WORKER: Q(act=Act.DISCARD, reason=WITHDRAWN),
        BY_COMMAND: Q(act=Act.DISCARD, reason__startswith=BY_FILE),
    }
    if actor == BY_POLICY:
        others = Q(act__in=WITHOUT_ACTOR) | discards[BY_WORKER] | discards[BY_COMMAND]
        return Q(actor=None) & ~others
    acts = Q(act__in=[act for act, name in WITHOUT_ACTOR.items() if name == actor])
    acts |= discards.get(actor, Q())
    return Q(actor=None) & acts | Q(actor__username=actor)


def decisions_about(campaign: Campaign, worker: Worker) -> QuerySet[Decision]:
    """Decisions about the worker or the worker's responses, the latest first."""
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    return campaign.decisions.filter(Q(worker=worker) | Q(response__worker=worker)).select_related(
        "actor", "worker", "response__worker", *content
    )
