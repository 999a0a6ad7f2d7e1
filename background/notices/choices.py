"""Which notices people and campaigns get: e-mails by kind, and webhooks."""

from collections.abc import Collection
from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Model, Q, QuerySet

from accounts.models import Membership, Right, Team, roles_with
from background.models import Delivery, Notice, NoticeChoice, Webhook, about_row, new_secret
from background.notices.registry import Event, NoticeKind, notice_kinds
from background.outgoing.exchange import AddressRefused, check_url
from corpora.errors import DomainError
from shared.mail import sends_email

MOST_WEBHOOKS = 20
TEST = "test"


class WebhookRefused(DomainError):
    """The webhook cannot be stored like this."""


def recipients(kind: NoticeKind, team: Team | None, only: User | None) -> list[User]:
    """The users who get an e-mail about an event of this team, or for this user alone."""
    if not sends_email():
        return []
    users = User.objects.filter(is_active=True).exclude(email="").order_by("pk")
    if only is not None:
        users = users.filter(pk=only.pk)
    refused = NoticeChoice.objects.filter(kind=kind.name, is_on=False).values("user")
    audience = _audience(users, kind, team, is_personal=only is not None)
    return list(audience.exclude(pk__in=refused))


def still_wants(user: User, notice: Notice) -> bool:
    """Whether a user may still get this notice, and has not switched it off."""
    kind = notice_kinds().get(notice.kind)
    only = user if notice.is_personal else None
    return kind is not None and user in recipients(kind, notice.team, only)


def _audience(
    users: QuerySet[User], kind: NoticeKind, team: Team | None, *, is_personal: bool
) -> QuerySet[User]:
    """Of these users, those who may see what the event is about, and who want to know.

    Reviewers and managers of the event's team get all that they have not switched off; viewers and
    operators get only what they have switched on.
    """
    chosen = NoticeChoice.objects.filter(kind=kind.name, is_on=True).values("user")
    if team is None:
        return users if is_personal else users.filter(is_superuser=True, pk__in=chosen)
    members = Membership.objects.current().filter(team=team)
    if kind.is_about_money:
        members = members.filter(role__in=roles_with(Right.SEE_MONEY))
    may_see = Q(is_superuser=True) | Q(pk__in=members.values("user"))
    if is_personal:
        return users.filter(may_see)
    active = members.filter(role__in=roles_with(Right.REVIEW))
    return users.filter(Q(pk__in=active.values("user")) | may_see & Q(pk__in=chosen))


def is_on_by_default(user: User) -> bool:
    """Whether the user gets notices without having chosen them."""
    mine = Membership.objects.current().filter(user=user)
    return mine.filter(role__in=roles_with(Right.REVIEW)).exists()


def webhooks_for(kind: NoticeKind, event: Event) -> list[Webhook]:
    """The webhooks of what the event is about that get notices of this kind."""
    if event.about is None:
        return []
    return list(Webhook.objects.filter(about_row(event.about)).wanting(kind.name))


@transaction.atomic
def choose_emails(*, user: User, email: str, kinds: Collection[str]) -> None:
    """Let the user get e-mails of these kinds, and of no other one, at this address."""
    if email != user.email:
        User.objects.filter(pk=user.pk).update(email=email)
    for name in notice_kinds():
        NoticeChoice.objects.update_or_create(
            user=user, kind=name, defaults={"is_on": name in kinds}
        )


@transaction.atomic
def add_webhook(
    *, about: Model, url: str, kinds: Collection[str], user: User | None, at: datetime
) -> Webhook:
    """Add an address that gets notices of these kinds about a campaign; raises WebhookRefused."""
    _check(url, kinds)
    type(about)._default_manager.select_for_update(no_key=True).get(pk=about.pk)
    if Webhook.objects.kept().filter(about_row(about)).count() >= MOST_WEBHOOKS:
        raise WebhookRefused(f"A campaign can have {MOST_WEBHOOKS} webhooks. Remove one first.")
    try:
        with transaction.atomic():
            return Webhook.objects.create(
                about=about, url=url, kinds=sorted(kinds), created_by=user, created_at=at
            )
    except IntegrityError as error:
        raise WebhookRefused("This campaign has a webhook with this address already.") from error


@transaction.atomic
def change_webhook(*, webhook: Webhook, url: str, kinds: Collection[str], is_on: bool) -> None:
    """Change the address and the kinds, switch on or off; raises WebhookRefused."""
    _check(url, kinds)
    try:
        with transaction.atomic():
            changed = Webhook.objects.kept().filter(pk=webhook.pk)
            if not changed.update(url=url, kinds=sorted(kinds), is_on=is_on):
                raise WebhookRefused("This webhook was removed.")
    except IntegrityError as error:
        raise WebhookRefused("This campaign has a webhook with this address already.") from error
    webhook.refresh_from_db()


def renew_secret(*, webhook: Webhook) -> None:
    """Replace the secret; further requests are signed with the new one."""
    Webhook.objects.filter(pk=webhook.pk).update(secret=new_secret())
    webhook.refresh_from_db()


def remove_webhook(*, webhook: Webhook, at: datetime) -> None:
    """Send it nothing more. Its deliveries stay in the database."""
    Webhook.objects.kept().filter(pk=webhook.pk).update(removed_at=at)


@transaction.atomic
def send_test(*, webhook: Webhook, at: datetime) -> Notice:
    """Queue a notice that only says that the webhook works."""
    notice = Notice.objects.create(
        kind=TEST,
        subject=str(uuid4()),
        about=webhook.about,
        title="Test",
        text="This is a test of the webhook.",
        path=webhook.get_absolute_url(),
        noticed_at=at,
    )
    Delivery.objects.create(notice=notice, webhook=webhook, due_at=at)
    return notice


def _check(url: str, kinds: Collection[str]) -> None:
    if unknown := sorted(set(kinds) - set(notice_kinds())):
        raise WebhookRefused(f"There is no kind of notice {unknown[0]!r}.")
    try:
        check_url(url, allows_private=settings.WEBHOOKS_TO_PRIVATE_NETWORKS)
    except AddressRefused as error:
        raise WebhookRefused(str(error)) from error
