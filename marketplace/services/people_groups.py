"""Groups of people: create and change them, their consent texts and the tasks that they see; join,
consent, get the next task, withdraw."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplace.errors import (
    AssignmentClosed,
    ConsentNeeded,
    GroupRefused,
    NothingToAccept,
    ShareDone,
)
from marketplace.models import (
    LIVE,
    REVEALED,
    Assignment,
    Consent,
    ConsentText,
    HitType,
    MailInvitation,
    Membership,
    Offer,
    PeopleGroup,
    Requester,
    WithdrawnBy,
    Worker,
)
from marketplace.services import accounts, assignments

MOST_SHARE = 1_000_000


@dataclass(frozen=True)
class GroupPlan:
    """What people read before they join: who asks, what for, and whom to ask."""

    name: str
    organizer: str
    purpose: str
    contact: str
    consent: str
    language: str = "en"
    # Whether the consent text says that the requester sees names beside answers.
    shows_names: bool = False


@transaction.atomic
def create_group(
    *, plan: GroupPlan, at: datetime, requester: Requester | None = None
) -> PeopleGroup:
    """Create a group with version 1 of its consent text; raises GroupRefused.

    `requester` is who may change it by the API; a group of operators has none.
    """
    fields = _checked(plan)
    text = {"text": fields.pop("consent"), "shows_names": plan.shows_names}
    try:
        with transaction.atomic():
            group = PeopleGroup.objects.create(created_at=at, requester=requester, **fields)
    except IntegrityError as error:
        raise GroupRefused(
            f"There is a group called {plan.name!r} already. Choose another name.", field="name"
        ) from error
    ConsentText.objects.create(group=group, version=1, created_at=at, **text)
    return group


@transaction.atomic
def change_group(*, group: PeopleGroup, plan: GroupPlan, at: datetime) -> None:
    """Change the group's texts; raises GroupRefused.

    Another consent text becomes a new version, and members are asked again before their next task.
    """
    fields = _checked(plan)
    text = {"text": fields.pop("consent"), "shows_names": plan.shows_names}
    # The lock keeps two changes at the same time from making the same version.
    PeopleGroup.objects.select_for_update().get(pk=group.pk)
    try:
        with transaction.atomic():
            PeopleGroup.objects.filter(pk=group.pk).update(**fields)
    except IntegrityError as error:
        raise GroupRefused(
            f"There is another group called {plan.name!r}. Choose another name.", field="name"
        ) from error
    latest = latest_text(group)
    if text != {name: getattr(latest, name) for name in text}:
        ConsentText.objects.create(group=group, version=latest.version + 1, created_at=at, **text)


def latest_text(group: PeopleGroup) -> ConsentText:
    """The current version of the group's consent text."""
    return group.consent_texts.order_by("-version")[0]


def plan_of(group: PeopleGroup) -> GroupPlan:
    """The group's present texts."""
    names = ("name", "language", "organizer", "purpose", "contact")
    text = latest_text(group)
    own = {name: getattr(group, name) for name in names}
    return GroupPlan(**own, consent=text.text, shows_names=text.shows_names)


def _checked(plan: GroupPlan) -> dict[str, str]:
    texts = {name: value for name, value in vars(plan).items() if isinstance(value, str)}
    fields = {name: value.replace("\r\n", "\n").strip() for name, value in texts.items()}
    fields["name"] = accounts.normal_name(fields["name"])
    for name, value in fields.items():
        if not value or "\0" in value:
            raise GroupRefused("This text is needed: people read it before they join.", field=name)
    for name, longest in (("name", 100), ("organizer", 200), ("contact", 200)):
        if len(fields[name]) > longest or not fields[name].isprintable():
            raise GroupRefused(f"At most {longest} printable characters.", field=name)
    return fields


def offer(*, group: PeopleGroup, hit_type: HitType, share: int | None) -> Offer:
    """Show the group of HITs to the people, with a limit for each person; change an earlier offer.

    Raises GroupRefused if the share is not positive.
    """
    if share is not None and not 1 <= share <= MOST_SHARE:
        raise GroupRefused(f"A share is 1 to {MOST_SHARE} tasks, or empty.", field="share")
    return Offer.objects.update_or_create(
        group=group, hit_type=hit_type, defaults={"share": share, "is_open": True}
    )[0]


def close_offer(*, offer: Offer) -> None:
    """Stop showing the tasks. Tasks that people have begun can be finished."""
    Offer.objects.filter(pk=offer.pk).update(is_open=False)


def set_open(*, group: PeopleGroup, is_open: bool) -> None:
    """Let new people join, or not. Members stay."""
    PeopleGroup.objects.filter(pk=group.pk).update(is_open=is_open)


def replace_link(*, group: PeopleGroup) -> None:
    """Give the group a new link. The earlier one stops working; links in mails go on working."""
    PeopleGroup.objects.filter(pk=group.pk).update(link_number=F("link_number") + 1)


# Members


CLOSED = gettext_noop("This group takes nobody new. Ask the person who sent you the link.")


@transaction.atomic
def join(
    *,
    group: PeopleGroup,
    text: ConsentText,
    at: datetime,
    worker: Worker | None = None,
    name: str = "",
    password: str = "",
    invitation: MailInvitation | None = None,
) -> Membership:
    """Add a person with the consent to this text: a member of another group, or a new account.

    The password of a new account may be empty. Raises GroupRefused, ConsentNeeded and
    AccountRefused.
    """
    group = _open(group)
    if worker is not None:
        # Locked: an erasure at the same time would not find the membership.
        still = Worker.objects.select_for_update().filter(pk=worker.pk, erased_at=None)
        if still.first() is None:
            raise GroupRefused(_("This account has just been deleted. Follow the link again."))
    worker = worker or accounts.make_account(name=name, password=password, at=at, is_member=True)
    if invitation is not None:
        _use_up(invitation, worker)
    membership = Membership.objects.get_or_create(
        group=group, worker=worker, defaults={"joined_at": at}
    )[0]
    consent(membership=membership, text=text, at=at)
    return membership


def _open(group: PeopleGroup) -> PeopleGroup:
    """The locked group; raises GroupRefused if it takes nobody new."""
    group = PeopleGroup.objects.select_for_update().get(pk=group.pk)
    if not group.is_open:
        raise GroupRefused(_(CLOSED))
    return group


def _use_up(invitation: MailInvitation, worker: Worker) -> None:
    """Tie the mail's link to this worker: it signs them in, and nobody else joins with it; raises
    GroupRefused if somebody has."""
    unused = MailInvitation.objects.filter(pk=invitation.pk, worker=None)
    if not unused.update(worker=worker, sign_in_number=worker.sign_in_number):
        raise GroupRefused(_("Somebody has joined with this link already. Open it again."))


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
    return assignments.accept(worker=worker, hit_type=offer.hit_type, offer=offer, at=at)


def work_in(membership: Membership) -> QuerySet[Assignment]:
    """The member's submitted assignments in the group."""
    mine = Assignment.objects.filter(worker=membership.worker_id, status__in=REVEALED)
    return mine.filter(offer__group=membership.group_id)


@transaction.atomic
def withdraw(*, membership: Membership, by: WithdrawnBy, at: datetime) -> bool:
    """Withdraw all work of the member in the group and return open tasks; False if done before.

    Submitted answers stay for the requesters, who learn of it by the list of withdrawals.
    """
    Worker.objects.select_for_update().filter(pk=membership.worker_id).first()
    todo = Membership.objects.filter(pk=membership.pk, withdrawn_at=None)
    if not todo.update(withdrawn_at=at, withdrawn_by=by):
        return False
    for assignment in (
        Assignment.objects.accepted()
        .filter(worker=membership.worker_id, offer__group=membership.group_id)
        .select_related("hit__hit_type__requester", "worker")
        # In one order, so that two withdrawals cannot deadlock.
        .order_by("hit_id")
    ):
        # A task that was sent a moment ago is withdrawn with the others.
        with suppress(AssignmentClosed):
            assignments.give_back(assignment=assignment, at=at)
    return True
