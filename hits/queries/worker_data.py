"""Everything that is stored about one worker, as plain values, to answer a worker who asks."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

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

BEHAVIOUR = (
    "characters",
    "seconds_writing",
    "times_left",
    "device",
)  # fmt: skip


def data_of(worker: Worker) -> dict[str, Any]:
    """All rows about the worker, with times in ISO 8601, UTC, and amounts in dollars as text.

    Names of people who decided are left out: they are personal data of others.
    """
    account = WorkerAccount.objects.filter(worker=worker).first()
    return {
        "pseudonym": worker.pseudonym,
        "account": _account(account),
        "answers": list(_answers(worker)),
        "assignments": list(_assignments(account)),
        "task_pages": list(_pages(account)),
        "messages": list(_messages(account)),
        "decisions": list(_decisions(worker)),
        "exclusions": list(_stretches(Exclusion.objects.all(), worker, "excluded_at", "lifted_at")),
        "pauses": list(_stretches(Pause.objects.all(), worker, "paused_at", "lifted_at")),
        "proposed_exclusions": list(
            _stretches(Proposal.objects.all(), worker, "proposed_at", "answered_at")
        ),
        "hidden_hits": list(_barrings(account)),
        "appeals": list(_appeals(worker)),
        "held_payments": list(_held_payments(worker)),
        "risk_estimates": [
            {"campaign": risk.campaign.slug, "good": risk.good, "bad": risk.bad, "risk": risk.risk}
            for risk in WorkerRisk.objects.filter(worker=worker).select_related("campaign")
        ],
    }


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _account(account: WorkerAccount | None) -> dict[str, Any] | None:
    if account is None:
        return None
    is_kept = account.id_deleted_at is None
    return {
        "marketplace": account.endpoint,
        "worker_id": account.marketplace_id if is_kept else None,
        "id_deleted_at": _time(account.id_deleted_at),
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
        yield {
            "id": response.pk,
            "campaign": response.campaign.slug,
            "task": response.task.number,
            "status": response.status.lower(),
            "submitted_at": _time(response.submitted_at),
            "seconds": response.seconds,
            "primed": response.primed,
            "round": response.round,
            "withdrawn_at": _time(response.withdrawn_at),
            "content": KINDS[response.campaign.kind].answer(response),
            "cannot_describe": response.cannot_describe,
            "remark": caption.remark if caption else "",
            "ratings": caption.ratings if caption else None,
            "behaviour": {name: getattr(behaviour, name) for name in BEHAVIOUR}
            if behaviour
            else None,
            "flags": assessment.flags if assessment else None,
            "verdict": {"is": check.verdict, "reason": check.reason, "at": _time(check.judged_at)}
            if check and check.verdict
            else None,
        }


def _assignments(account: WorkerAccount | None) -> Iterator[dict[str, Any]]:
    rows = Assignment.objects.filter(account=account).select_related("hit__campaign")
    bonuses = Bonus.objects.filter(assignment__account=account).order_by("pk")
    for row in rows.order_by("pk"):
        yield {
            "campaign": row.hit.campaign.slug,
            "hit_id": row.hit.hit_id,
            "assignment_id": row.assignment_id,
            "status": row.status.lower(),
            "reward": str(row.hit.reward),
            "accepted_at": _time(row.accepted_at),
            "submitted_at": _time(row.submitted_at),
            "decided_at": _time(row.decided_at),
            "feedback": row.feedback,
            "practice": row.practice,
            "unplaced_answer": row.unplaced_answer,
            "bonuses": [
                {
                    "amount": str(bonus.amount),
                    "reason": bonus.reason,
                    "sent_at": _time(bonus.sent_at),
                    "refusal": bonus.refusal,
                }
                for bonus in bonuses
                if bonus.assignment_id == row.pk
            ],
        }


def _pages(account: WorkerAccount | None) -> Iterator[dict[str, Any]]:
    for page in TaskPage.objects.of_account(account).order_by("pk") if account else ():
        yield {
            "assignment_id": page.assignment_id,
            "opened_at": _time(page.opened_at),
            "answered_at": _time(page.answered_at),
            "fields": page.fields,
            "counts": page.counts,
            "device": page.device,
        }


def _messages(account: WorkerAccount | None) -> Iterator[dict[str, Any]]:
    rows = MessageRecipient.objects.filter(account=account).select_related("message")
    for row in rows.order_by("pk"):
        yield {
            "subject": row.message.subject,
            "text": row.message.text,
            "status": row.get_status_display(),
            "sent_at": _time(row.sent_at),
        }


def _decisions(worker: Worker) -> Iterator[dict[str, Any]]:
    about = Q(worker=worker) | Q(response__worker=worker) | Q(held_payment__worker=worker)
    rows = Decision.objects.filter(about).select_related("campaign").order_by("pk").distinct()
    for row in rows:
        yield {
            "campaign": row.campaign.slug,
            "what": row.get_act_display(),
            "answer": row.response_id,
            "reason": row.reason,
            "at": _time(row.at),
        }


def _stretches(
    rows: QuerySet[Any], worker: Worker, begun: str, ended: str
) -> Iterator[dict[str, Any]]:
    """The worker's rows, each with its begin and end, by the columns with these times."""
    for row in rows.filter(worker=worker).select_related("campaign"):
        yield {
            "campaign": row.campaign.slug,
            "reason": row.reason,
            "from": _time(getattr(row, begun)),
            "until": _time(getattr(row, ended)),
        }


def _barrings(account: WorkerAccount | None) -> Iterator[dict[str, Any]]:
    rows = WorkerBarring.objects.filter(account=account)
    for row in rows.select_related("hit_type__campaign"):
        yield {
            "campaign": row.hit_type.campaign.slug,
            "hit_type_id": row.hit_type.hit_type_id,
            "are_hidden": row.is_in_force,
            "to_be_hidden": row.is_wanted,
        }


def _appeals(worker: Worker) -> Iterator[dict[str, Any]]:
    for row in Appeal.objects.filter(exclusion__worker=worker):
        yield {
            "text": row.text,
            "received_at": _time(row.received_at),
            "answer": row.answer,
            "is_granted": row.is_granted,
            "answered_at": _time(row.answered_at),
        }


def _held_payments(worker: Worker) -> Iterator[dict[str, Any]]:
    for row in HeldPayment.objects.filter(worker=worker).select_related("campaign"):
        yield {
            "campaign": row.campaign.slug,
            "why": row.why,
            "from": _time(row.held_at),
            "until": _time(row.ended_at),
            "outcome": row.get_outcome_display(),
        }
