"""People in groups: join, consent, get the next task, withdraw."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplace.errors import ConsentNeeded, GroupRefused, NothingToAccept, ShareDone
from marketplace.models import (
    LIVE,
    REVEALED,
    Assignment,
    Consent,
    ConsentText,
    MailInvitation,
    Membership,
    Offer,
    PeopleGroup,
    WithdrawnBy,
    Worker,
)

from . import accounts, assignments
from .people_groups import latest_text

CLOSED = gettext_noop("This group takes nobody new. Ask the person who sent you the link.")


@transaction.atomic
def join(
    *,
    group: PeopleGroup,
    text: ConsentText,
    name: str,
    password: str,
    at: datetime,
    invitation: MailInvitation | None = None,
) -> Membership:
    """Create a person's account and its membership, with the consent to this text.

    The password may be empty. Raises GroupRefused, ConsentNeeded and AccountRefused.
    """
    group = _open(group)
    worker = accounts.make_member(name=name, password=password, at=at)
    _use_up(invitation, worker)
    return _member(group, worker, text, at)


@transaction.atomic
def join_as(
    *,
    group: PeopleGroup,
    text: ConsentText,
    worker: Worker,
    at: datetime,
    invitation: MailInvitation | None = None,
) -> Membership:
    """Add a member of another group; raises GroupRefused and ConsentNeeded."""
    group = _open(group)
    _use_up(invitation, worker)
    return _member(group, worker, text, at)


def _open(group: PeopleGroup) -> PeopleGroup:
    """The locked group; raises GroupRefused if it takes nobody new."""
    group = PeopleGroup.objects.select_for_update().get(pk=group.pk)
    if not group.is_open:
        raise GroupRefused(_(CLOSED))
    return group


def _use_up(invitation: MailInvitation | None, worker: Worker) -> None:
    """Let the mail's link sign in this worker from now on, and nobody else join with it; raises
    GroupRefused if somebody has."""
    used = {"worker": worker, "sign_in_number": worker.sign_in_number}
    if invitation is None:
        return
    if not MailInvitation.objects.filter(pk=invitation.pk, worker=None).update(**used):
        raise GroupRefused(_("Somebody has joined with this link already. Open it again."))


def _member(group: PeopleGroup, worker: Worker, text: ConsentText, at: datetime) -> Membership:
    membership = Membership.objects.get_or_create(
        group=group, worker=worker, defaults={"joined_at": at}
    )[0]
    consent(membership=membership, text=text, at=at)
    return membership


def consent(*, membership: Membership, text: ConsentText, at: datetime) -> None:
    """Store the consent to this version; raises ConsentNeeded if there is a newer one."""
    if text != latest_text(membership.group):
        raise ConsentNeeded(_("The text has changed meanwhile. Please read it again."))
    Consent.objects.get_or_create(membership=membership, text=text, defaults={"given_at": at})


def needs_consent(membership: Membership) -> ConsentText | None:
    """The current text if the member has not agreed to it, else None."""
    text = latest_text(membership.group)
    return None if membership.consents.filter(text=text).exists() else text


def tasks_of(*, worker: Worker, offer: Offer) -> int:
    """How many of the offer's tasks count for the person's share: done, and open."""
    mine = Assignment.objects.filter(worker=worker, hit__hit_type=offer.hit_type_id)
    return mine.filter(status__in=LIVE).count()


@transaction.atomic
def next_assignment(*, membership: Membership, offer: Offer, at: datetime) -> Assignment:
    """The member's open task of the offer, or a new one.

    Raises ConsentNeeded, ShareDone, NothingToAccept, NotQualified and GroupRefused.
    """
    # Lock first: if two tabs ask at once, the second gets the task that the first accepted.
    Worker.objects.select_for_update().filter(pk=membership.worker_id).first()
    membership = Membership.objects.select_related("group", "worker").get(pk=membership.pk)
    if membership.withdrawn_at is not None:
        raise GroupRefused(_("Your work in this group was withdrawn, so you get no more tasks."))
    if needs_consent(membership) is not None:
        raise ConsentNeeded(_("Please read the new consent text first."))
    worker = membership.worker
    begun = worker.assignments.in_time(at).filter(hit__hit_type=offer.hit_type_id).first()
    if begun is not None:
        return begun
    offer = Offer.objects.select_related("hit_type__requester").get(pk=offer.pk)
    if not offer.is_open:
        raise NothingToAccept("These tasks are closed.")
    if offer.share is not None and tasks_of(worker=worker, offer=offer) >= offer.share:
        raise ShareDone("You have done your share.")
    return assignments.accept(worker=worker, hit_type=offer.hit_type, at=at)


def work_in(membership: Membership) -> QuerySet[Assignment]:
    """The member's submitted assignments of the group's tasks."""
    groups = Offer.objects.filter(group=membership.group_id).values("hit_type")
    mine = Assignment.objects.filter(worker=membership.worker_id, status__in=REVEALED)
    return mine.filter(hit__hit_type__in=groups)


@transaction.atomic
def withdraw(*, membership: Membership, by: WithdrawnBy, at: datetime) -> bool:
    """Withdraw all work of the member in the group and return open tasks; False if done before.

    Submitted answers stay for the requesters, who learn of it by the list of withdrawals.
    """
    Worker.objects.select_for_update().filter(pk=membership.worker_id).first()
    todo = Membership.objects.filter(pk=membership.pk, withdrawn_at=None)
    if not todo.update(withdrawn_at=at, withdrawn_by=by):
        return False
    groups = membership.group.offers.values("hit_type")
    for assignment in (
        Assignment.objects.accepted()
        .filter(worker=membership.worker_id, hit__hit_type__in=groups)
        .select_related("hit__hit_type__requester", "worker")
    ):
        assignments.give_back(assignment=assignment, at=at)
    return True
