"""Delete old rows, by the rules in the table of docs/marketplace.md, and one worker's data on
request.

HITs, the assignments of workers who submitted something, and the ledger are never deleted.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, ProtectedError, Q, QuerySet
from django.utils import timezone

from marketplace.errors import DomainError
from marketplace.extensions import extensions
from marketplace.models import (
    LIVE,
    Account,
    Activity,
    Assignment,
    AssignmentStatus,
    Attempt,
    AttentionAnswer,
    Consent,
    Event,
    ExternalIdentity,
    MailInvitation,
    MailRefusal,
    Message,
    Participation,
    RequestToken,
    SentForm,
    UsedLink,
    Worker,
)
from marketplace.services.accounts import SSO_SOURCE
from marketplace.services.money import balances, with_rewards

# Maximum number of rows in one statement, so that other writers do not wait long.
BATCH = 500


def forget(*, at: datetime) -> int:
    """Delete a batch of rows that are no longer needed; return their number, 0 if none is left."""
    return (
        sum(map(_delete_some, _old(at)))
        + _delete_idle_participants(at)
        + delete_old_panel_ids(at, most=BATCH)
    )


def _delete_some(rows: QuerySet[Any]) -> int:
    # Select first: a DELETE waits for other writers even if there is nothing to delete.
    some = list(rows.values_list("pk", flat=True)[:BATCH])
    return rows.model._default_manager.filter(pk__in=some).delete()[0] if some else 0


def _old(at: datetime) -> list[QuerySet[Any]]:
    """The rows that are no longer needed, the oldest first."""
    # Tokens of bonuses and additional assignments are kept forever, so that neither is repeated.
    tokens = RequestToken.objects.filter(operation="CreateHIT")
    return [
        # Sessions expire by real time, even if a test sets the marketplace's clock.
        Session.objects.filter(expire_date__lte=timezone.now()).order_by("expire_date"),
        Attempt.objects.filter(made_at__lte=at - settings.ATTEMPTS_WITHIN).order_by("made_at"),
        UsedLink.objects.filter(expires_at__lte=at).order_by("expires_at"),
        Activity.objects.filter(happened_at__lte=at - settings.ACTIVITY_KEPT).order_by(
            "happened_at"
        ),
        # Not one that still waits, after a long standstill.
        Event.objects.filter(
            due_at=None, happened_at__lte=at - settings.NOTIFICATIONS_KEPT
        ).order_by("happened_at"),
        Message.objects.filter(sent_at__lte=at - settings.MESSAGES_KEPT).order_by("sent_at"),
        tokens.filter(used_at__lte=at - settings.MTURK_TOKEN_LIFE).order_by("used_at"),
        SentForm.objects.filter(sent_at__lte=at - settings.SENT_FORMS_KEPT).order_by("sent_at"),
    ]


def _delete_idle_participants(at: datetime) -> int:
    """Delete old participants from panels who never submitted anything.

    Anybody can create such an account with an invented panel id.
    """
    idle = _idle_participants(at).order_by("created_at")[:BATCH]
    return sum(_delete_participant(worker, at) for worker in idle)


def _idle_participants(at: datetime) -> QuerySet[Worker]:
    before = at - settings.IDLE_PARTICIPANTS_KEPT
    idle = Worker.objects.filter(
        ~Exists(Participation.objects.filter(worker=OuterRef("pk"), started_at__gt=before)),
        ~Exists(Assignment.objects.filter(worker=OuterRef("pk"), status__in=LIVE)),
        Exists(ExternalIdentity.objects.exclude(source=SSO_SOURCE).filter(worker=OuterRef("pk"))),
        created_at__lte=before,
        password="",
        blocks=None,
        messages=None,
        transfers=None,
        qualifications=None,
        qualification_requests=None,
    )
    for extension in extensions():
        idle = idle.filter(~Exists(extension.undecided().filter(worker=OuterRef("pk"))))
    return idle


def _delete_participant(worker: Worker, at: datetime) -> int:
    try:
        with transaction.atomic():
            # Accepting a HIT, a first password and a panel's submission lock the worker, too: each
            # has happened before this or fails after it.
            Worker.objects.select_for_update().get(pk=worker.pk)
            worker = _idle_participants(at).get(pk=worker.pk)
            worker.assignments.exclude(status__in=LIVE).delete()
            worker.participations.all().delete()
            worker.identities.all().delete()
            worker.delete()
    except (ProtectedError, Worker.DoesNotExist):
        return 0
    return 1


# One worker's data


OPEN = [AssignmentStatus.ACCEPTED, AssignmentStatus.SUBMITTED]


class CannotErase(DomainError):
    """The worker's data is still needed."""


# What the file with all of a worker's data has of rows of the worker's own: their relation, and the
# columns.
OWN_ROWS: dict[str, tuple[str, Sequence[str]]] = {
    "identities": ("identities", ["source", "identifier"]),
    "participations": (
        "participations",
        [
            "study__slug", "started_at", "completed_at", "consented_at", "refused_consent_at",
            "eligible_at", "screened_out_at", "wrong_answers", "passed_check_at",
        ],
    ),
    "groups": ("memberships", ["group__name", "joined_at", "withdrawn_at", "withdrawn_by"]),
    "qualifications": (
        "qualifications", ["qualification_type__name", "value", "status", "granted_at"],
    ),
    "qualification_requests": (
        "qualification_requests",
        ["qualification_type__name", "status", "answer", "started_at", "submitted_at"],
    ),
    "bonuses": ("bonus_payments", ["requester__name", "amount", "reason", "granted_at"]),
    "messages": ("messages", ["requester__name", "subject", "text", "sent_at"]),
    "blocks": ("blocks", ["requester__name", "reason", "created_at"]),
}  # fmt: skip


def data_of(worker: Worker) -> dict[str, Any]:
    """Everything stored about the worker, except the password's hash. Times are `datetime`, amounts
    `Decimal`."""
    addresses = worker.mail_invitations.values_list("address", flat=True)
    attention = AttentionAnswer.objects.filter(participation__worker=worker)
    refusals = MailRefusal.objects.filter(address__in=addresses)
    consents = Consent.objects.filter(membership__worker=worker)
    money = worker.transfers.filter(Q(source=Account.WORKER) | Q(target=Account.WORKER))
    return {
        "worker_id": worker.public_id,
        "name": worker.name,
        "place": worker.place,
        "is_master": worker.is_master,
        "is_adult": worker.is_adult,
        "approved": worker.approved_count,
        "rejected": worker.rejected_count,
        "is_suspended": worker.is_suspended,
        "created_at": worker.created_at,
        "erased_at": worker.erased_at,
        **{
            name: list(getattr(worker, rows).values(*columns))
            for name, (rows, columns) in OWN_ROWS.items()
        },
        "attention_checks": list(
            attention.values("check_asked__question", "is_right", "answered_at")
        ),
        "assignments": _assignments(worker),
        "mail_addresses": list(addresses),
        "refuse_mail": list(refusals.values("address", "refused_at")),
        "consents": list(consents.values("membership__group__name", "text__version", "given_at")),
        "money": list(money.order_by("pk").values("kind", "amount", "made_at")),
        # Without the names of the people who acted.
        "activity": list(_entries_about(worker).values("happened_at", "action", "refusal")),
        **{
            name: rows
            for extension in extensions()
            for name, rows in extension.data_of(worker).items()
        },
    }


def _entries_about(worker: Worker) -> QuerySet[Activity]:
    return Activity.objects.filter(about__in=[worker.name, worker.public_id])


def _assignments(worker: Worker) -> list[dict[str, Any]]:
    rows = with_rewards(worker.assignments.select_related("hit__hit_type").order_by("pk"))
    return [
        {
            "assignment_id": assignment.public_id,
            "hit_id": assignment.hit.public_id,
            "title": assignment.hit.hit_type.title,
            "reward": assignment.reward,
            "status": assignment.status,
            "accepted_at": assignment.accepted_at,
            "submitted_at": assignment.submitted_at,
            "approved_at": assignment.approved_at,
            "rejected_at": assignment.rejected_at,
            "feedback": assignment.requester_feedback,
            "answer": assignment.answer,
        }
        for assignment in rows.iterator()
    ]


def obstacle_to_erasure(worker: Worker, due: Decimal) -> str:
    """Why the worker's account is still needed, with the dollars owed; empty if it is not."""
    if worker.assignments.filter(status__in=OPEN).exists():
        return (
            f"{worker} has HITs that are accepted, or submitted and not approved or rejected yet. "
            "Erase the data when all of them are decided."
        )
    if due:
        return f"{worker} is owed ${due:,.2f}. Make a payout first."
    return next(
        filter(None, (extension.obstacle_to_erasure(worker) for extension in extensions())), ""
    )


@transaction.atomic
def erase_worker(*, worker: Worker, at: datetime) -> None:
    """Close the worker's account and delete the personal data in it. Erasing twice changes nothing.

    The name, password, place, ids at other sites, e-mail addresses, messages, qualifications and
    entries of the activity log go, and nobody can sign in to the account. Assignments and the
    ledger stay under the worker id: they belong to the requesters, and prove who was paid for what.
    Raises CannotErase if work is not decided yet, or money is owed, here or elsewhere.
    """
    # Accepting a HIT and a payout lock the worker too.
    worker = Worker.objects.select_for_update().get(pk=worker.pk)
    if worker.erased_at is not None:
        return
    due = balances(Worker.objects.filter(pk=worker.pk)).get(worker.pk, Decimal())
    if obstacle := obstacle_to_erasure(worker, due):
        raise CannotErase(obstacle)
    _entries_about(worker).update(about="erased worker")
    # Also invitations to groups that the worker has not joined.
    addresses = worker.mail_invitations.values_list("address", flat=True)
    MailInvitation.objects.filter(worker=None, address__in=list(addresses)).delete()
    for rows in (
        worker.identities,
        worker.mail_invitations,
        worker.messages,
        worker.qualifications,
        worker.qualification_requests,
    ):
        rows.all().delete()
    worker.name = f"erased {secrets.token_hex(8)}"
    worker.password = worker.country = worker.subdivision = ""
    worker.is_master = worker.is_adult = False
    worker.is_suspended = True
    worker.sign_in_number += 1  # ends sessions and links
    worker.erased_at = at
    worker.save()


def delete_old_panel_ids(at: datetime, *, most: int) -> int:
    """Delete the panel ids of participants who did nothing for PANEL_IDS_KEPT, and whose studies
    are all closed; return their number, at most `most`. Their accounts and work stay.

    Ids of participants who are owed money or a decision are kept: the payout needs them.
    """
    if settings.PANEL_IDS_KEPT is None:
        return 0
    old = _old_panel_ids(at - timedelta(days=settings.PANEL_IDS_KEPT))
    # Of all of them: kept ids must not hide the later ones.
    due = balances(Worker.objects.filter(pk__in=old.values("worker")))
    keys = list(
        old.exclude(worker__in=list(due)).order_by("pk").values_list("pk", flat=True)[:most]
    )
    return ExternalIdentity.objects.filter(pk__in=keys).delete()[0] if keys else 0


def _old_panel_ids(before: datetime) -> QuerySet[ExternalIdentity]:
    theirs = Participation.objects.filter(worker=OuterRef("worker"))
    work = Assignment.objects.filter(worker=OuterRef("worker"))
    # Without a password, a participant can return through a study only.
    old = ExternalIdentity.objects.exclude(source=SSO_SOURCE).filter(
        ~Exists(theirs.filter(study__is_open=True)),
        ~Exists(theirs.filter(started_at__gt=before)),
        ~Exists(work.filter(accepted_at__gt=before)),
        ~Exists(work.filter(status__in=OPEN)),
        worker__created_at__lte=before,
    )
    for extension in extensions():
        old = old.filter(~Exists(extension.undecided().filter(worker=OuterRef("worker"))))
    return old
