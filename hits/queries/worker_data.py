"""Everything that is stored about one worker, as plain values, to answer a worker who asks."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from django.db.models import Prefetch, Q, QuerySet

from annotate.kinds import KINDS
from annotate.models import Response, Worker
from hits.models import (
    Assignment,
    Bonus,
    MessageRecipient,
    TaskPage,
    WorkerAccount,
    WorkerBarring,
)
from qualcontrol.models import (
    Appeal,
    Decision,
    Exclusion,
    HeldPayment,
    Pause,
    Proposal,
    WorkerRisk,
)

# Columns that the file calls as here.
BEHAVIOUR = ("characters", "seconds_writing", "times_left", "device")
ANSWER = ("submitted_at", "seconds", "primed", "round", "withdrawn_at")
ASSIGNMENT = ("assignment_id", "accepted_at", "submitted_at", "decided_at", "feedback", "practice")
BONUS = ("amount", "reason", "sent_at", "refusal")
PAGE = ("assignment_id", "opened_at", "answered_at", "fields", "counts", "device")
APPEAL = ("text", "received_at", "answer", "is_granted", "answered_at")
# And those that have another name there, or belong to a related row.
MESSAGE = {"subject": "message.subject", "text": "message.text", "status": "get_status_display"}
DECISION = {"campaign": "campaign.slug", "what": "get_act_display", "answer": "response_id"}
BARRING = {
    "campaign": "hit_type.campaign.slug",
    "hit_type_id": "hit_type.hit_type_id",
    "are_hidden": "is_in_force",
    "to_be_hidden": "is_wanted",
}


def data_of(worker: Worker) -> dict[str, Any]:
    """All rows about the worker, with times in ISO 8601, UTC, and amounts in dollars as text.

    Names of people who decided are left out: they are personal data of others.
    """
    account = WorkerAccount.objects.filter(worker=worker).first()
    pages = TaskPage.objects.of_account(account) if account else TaskPage.objects.none()
    messages = MessageRecipient.objects.filter(account=account).select_related("message")
    about = Q(worker=worker) | Q(response__worker=worker) | Q(held_payment__worker=worker)
    decisions = Decision.objects.filter(about).select_related("campaign").distinct()
    barrings = WorkerBarring.objects.filter(account=account)
    risks = WorkerRisk.objects.filter(worker=worker).select_related("campaign")
    return {
        "pseudonym": worker.pseudonym,
        "account": _account(account),
        "answers": list(_answers(worker)),
        "assignments": list(_assignments(account)),
        "task_pages": _listed(pages.order_by("pk"), *PAGE),
        "messages": _listed(messages.order_by("pk"), "sent_at", **MESSAGE),
        "decisions": _listed(decisions.order_by("pk"), "reason", "at", **DECISION),
        "exclusions": _stretches(Exclusion.objects.all(), worker, "excluded_at", "lifted_at"),
        "pauses": _stretches(Pause.objects.all(), worker, "paused_at", "lifted_at"),
        "proposed_exclusions": _stretches(
            Proposal.objects.all(), worker, "proposed_at", "answered_at"
        ),
        "hidden_hits": _listed(barrings.select_related("hit_type__campaign"), **BARRING),
        "appeals": _listed(Appeal.objects.filter(exclusion__worker=worker), *APPEAL),
        "held_payments": _listed(
            HeldPayment.objects.filter(worker=worker).select_related("campaign"),
            "why",
            **{"campaign": "campaign.slug", "from": "held_at", "until": "ended_at"},
            outcome="get_outcome_display",
        ),
        "risk_estimates": _listed(risks, "good", "bad", "risk", campaign="campaign.slug"),
    }


def _listed(rows: Iterable[object], *columns: str, **renamed: str) -> list[dict[str, Any]]:
    """These columns of each row, the renamed ones by their paths from it."""
    paths = {**renamed, **dict(zip(columns, columns, strict=True))}
    return [{name: _plain(attrgetter(path)(row)) for name, path in paths.items()} for row in rows]


def _plain(value: Any) -> Any:
    """The value, what a method returns, or a time or an amount as text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return value() if callable(value) else value


def _stretches(rows: QuerySet[Any], worker: Worker, begun: str, ended: str) -> list[dict[str, Any]]:
    """The worker's rows, each with its begin and end, by the columns with these times."""
    theirs = rows.filter(worker=worker).select_related("campaign")
    times = {"from": begun, "until": ended}
    return _listed(theirs, "reason", campaign="campaign.slug", **times)


def _account(account: WorkerAccount | None) -> dict[str, Any] | None:
    if account is None:
        return None
    return {
        "marketplace": account.endpoint,
        "worker_id": account.marketplace_id if account.id_deleted_at is None else None,
        "id_deleted_at": _plain(account.id_deleted_at),
    }


def _answers(worker: Worker) -> Iterator[dict[str, Any]]:
    answers = {relation for kind in KINDS.values() for relation in kind.answer_relations}
    related = {"campaign", "task", "behaviour", "assessment", "spot_check", *answers}
    rows = Response.objects.filter(worker=worker).select_related(*sorted(related)).order_by("pk")
    for response in rows:
        behaviour = getattr(response, "behaviour", None)
        assessment = getattr(response, "assessment", None)
        caption = getattr(response, "caption", None)
        check = getattr(response, "spot_check", None)
        (own,) = _listed([response], *ANSWER)
        yield {
            "id": response.pk,
            "campaign": response.campaign.slug,
            "task": response.task.number,
            "status": response.status.lower(),
            **own,
            "content": KINDS[response.campaign.kind].answer(response),
            "cannot_describe": response.cannot_describe,
            "remark": caption.remark if caption else "",
            "ratings": caption.ratings if caption else None,
            "behaviour": _listed([behaviour], *BEHAVIOUR)[0] if behaviour else None,
            "flags": assessment.flags if assessment else None,
            "verdict": {"is": check.verdict, "reason": check.reason, "at": _plain(check.judged_at)}
            if check and check.verdict
            else None,
        }


def _assignments(account: WorkerAccount | None) -> Iterator[dict[str, Any]]:
    rows = Assignment.objects.filter(account=account).select_related("hit__campaign")
    bonuses = Prefetch("bonuses", Bonus.objects.order_by("pk"))
    for row in rows.prefetch_related(bonuses).order_by("pk"):
        (own,) = _listed([row], *ASSIGNMENT)
        yield {
            "campaign": row.hit.campaign.slug,
            "hit_id": row.hit.hit_id,
            "status": row.status.lower(),
            "reward": str(row.hit.reward),
            **own,
            "unplaced_answer": row.unplaced_answer,
            "bonuses": _listed(row.bonuses.all(), *BONUS),
        }
