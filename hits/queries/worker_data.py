"""Everything that is stored about one worker, as plain values, to answer a worker who asks; and
what is stored in place of a worker's id that was deleted.

After the retention period that is a keyed digest. It does not reveal the id, but a worker who comes
back or writes with their id is recognised by it. After an erasure on request it is random, and
nothing recognises the worker.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils.crypto import get_random_string, salted_hmac

from annotate.kinds import KINDS
from annotate.models import Response, Worker
from corpora.errors import DomainError
from hits.models import Assignment, Bonus, MessageRecipient, TaskPage, WorkerAccount
from qualcontrol.models import Appeal, Decision, Exclusion, HeldPayment, WorkerRisk

KEPT_DIGEST, ERASED = "deleted:", "erased:"
# Hexadecimal digits of a digest; with its prefix it fits into the column.
DIGITS = 48


def digest_of(endpoint: str, marketplace_id: str, *, secret: str | None = None) -> str:
    """The digest that takes the place of this id, by the site's signing key or another one."""
    value = f"{endpoint}\n{marketplace_id}"
    digest = salted_hmac("hits.worker_ids", value, secret=secret, algorithm="sha256")
    return KEPT_DIGEST + digest.hexdigest()[:DIGITS]


def digests_of(endpoint: str, marketplace_ids: Iterable[str]) -> dict[str, str]:
    """The ids by their digests, by the site's signing key and the earlier ones."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return {digest_of(endpoint, one, secret=key): one for one in marketplace_ids for key in keys}


def stored_ids(endpoint: str, marketplace_id: str) -> set[str]:
    """What may be stored for this id: itself, and its digests. A digest is no id of a worker."""
    itself = () if marketplace_id.startswith((KEPT_DIGEST, ERASED)) else (marketplace_id,)
    return {*itself, *digests_of(endpoint, [marketplace_id])}


def random_in_place_of_id() -> str:
    return ERASED + get_random_string(32)


BEHAVIOUR = (
    "characters",
    "seconds_writing",
    "times_left",
    "device",
)  # fmt: skip


class NoSuchWorker(DomainError):
    """No worker has this pseudonym or id."""


def worker_named(text: str) -> Worker:
    """The worker with this pseudonym, or with this id at any marketplace, also if the id was
    deleted after the retention period. Raises NoSuchWorker."""
    text = text.strip()
    found = Worker.objects.filter(pseudonym=text.upper()).first() or _by_id(text)
    if found is None:
        raise NoSuchWorker(
            "No worker has this pseudonym or id. Their data may have been erased on request."
        )
    return found


def _by_id(text: str) -> Worker | None:
    if not text or text.startswith((KEPT_DIGEST, ERASED)):
        return None
    accounts = WorkerAccount.objects.select_related("worker").order_by("pk")
    endpoints = accounts.order_by().values_list("endpoint", flat=True).distinct()
    stored = [text, *(one for endpoint in endpoints for one in digests_of(endpoint, [text]))]
    account = accounts.filter(marketplace_id__in=stored).first()
    return account.worker if account else None


def data_of(worker: Worker) -> dict[str, Any]:
    """All rows about the worker, with times in ISO 8601, UTC, and amounts in dollars as text.

    Names of people who decided are left out: they are personal data of others.
    """
    account = WorkerAccount.objects.filter(worker=worker).first()
    decisions = Decision.objects.filter(
        Q(worker=worker) | Q(response__worker=worker) | Q(held_payment__worker=worker)
    )
    return {
        "pseudonym": worker.pseudonym,
        "account": _account(account),
        "answers": list(_answers(worker)),
        "assignments": list(_assignments(account)),
        "task_pages": list(_pages(account)),
        "messages": list(_messages(account)),
        "decisions": [
            {
                "campaign": one.campaign.slug,
                "what": one.get_act_display(),
                "answer": one.response_id,
                "reason": one.reason,
                "at": _time(one.at),
            }
            for one in decisions.select_related("campaign").order_by("pk").distinct()
        ],
        "exclusions": [
            {
                "campaign": one.campaign.slug,
                "reason": one.reason,
                "from": _time(one.excluded_at),
                "until": _time(one.lifted_at),
            }
            for one in Exclusion.objects.filter(worker=worker).select_related("campaign")
        ],
        "appeals": list(
            Appeal.objects.filter(exclusion__worker=worker).values("text", "answer", "is_granted")
        ),
        "held_payments": [
            {"campaign": one.campaign.slug, "why": one.why, "outcome": one.get_outcome_display()}
            for one in HeldPayment.objects.filter(worker=worker).select_related("campaign")
        ],
        "risk_estimates": [
            {"campaign": one.campaign.slug, "good": one.good, "bad": one.bad, "risk": one.risk}
            for one in WorkerRisk.objects.filter(worker=worker).select_related("campaign")
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
    related = {"campaign", "task", "behaviour", "assessment", *answers}
    rows = Response.objects.filter(worker=worker).select_related(*sorted(related)).order_by("pk")
    for response in rows:
        behaviour = getattr(response, "behaviour", None)
        assessment = getattr(response, "assessment", None)
        caption = getattr(response, "caption", None)
        yield {
            "id": response.pk,
            "campaign": response.campaign.slug,
            "task": response.task.number,
            "status": response.status.lower(),
            "submitted_at": _time(response.submitted_at),
            "seconds": response.seconds,
            "withdrawn_at": _time(response.withdrawn_at),
            "content": KINDS[response.campaign.kind].answer(response),
            "cannot_describe": response.cannot_describe,
            "remark": caption.remark if caption else "",
            "ratings": caption.ratings if caption else None,
            "behaviour": {name: getattr(behaviour, name) for name in BEHAVIOUR}
            if behaviour
            else None,
            "flags": assessment.flags if assessment else None,
        }


def _assignments(account: WorkerAccount | None) -> Iterator[dict[str, Any]]:
    rows = Assignment.objects.filter(account=account).select_related("hit__campaign")
    bonuses = Bonus.objects.filter(assignment__account=account).order_by("pk")
    for row in rows.order_by("pk") if account else ():
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
                    "amount": str(one.amount),
                    "reason": one.reason,
                    "sent_at": _time(one.sent_at),
                    "refusal": one.refusal,
                }
                for one in bonuses
                if one.assignment_id == row.pk
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
    for row in rows.order_by("pk") if account else ():
        yield {
            "subject": row.message.subject,
            "text": row.message.text,
            "status": row.get_status_display(),
            "sent_at": _time(row.sent_at),
        }
