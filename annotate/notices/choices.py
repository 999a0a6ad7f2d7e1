"""What people and campaigns choose to get: e-mails by kind, and webhooks."""

from collections.abc import Collection
from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from annotate.errors import DomainError
from annotate.models import (
    Campaign,
    Delivery,
    Membership,
    Notice,
    NoticeChoice,
    Right,
    Webhook,
)
from annotate.models.notices import new_secret
from annotate.models.teams import roles_with
from annotate.notices.registry import Event, NoticeKind, notice_kinds
from annotate.outgoing.addresses import AddressRefused, check_url

MOST_WEBHOOKS = 20
TEST = "test"


class WebhookRefused(DomainError):
    """The webhook cannot be stored like this."""


def sends_email() -> bool:
    """Whether this installation can send e-mail."""
    return bool(settings.EMAIL_HOST) or not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend")


def recipients(kind: NoticeKind, event: Event) -> list[User]:
    """The users who get an e-mail about this event."""
    if not sends_email():
        return []
    users = User.objects.filter(is_active=True).exclude(email="").order_by("pk")
    if event.only is not None:
        users = users.filter(pk=event.only.pk)
    refused = NoticeChoice.objects.filter(kind=kind.name, is_on=False).values("user")
    return list(_audience(users, kind, event).exclude(pk__in=refused))


def _audience(users: QuerySet[User], kind: NoticeKind, event: Event) -> QuerySet[User]:
    """Of these users, those who may see what the event is about, and who want to know.

    Who reviews or manages in the campaign's team gets everything that they have not switched off;
    viewers and operators get what they have switched on.
    """
    chosen = NoticeChoice.objects.filter(kind=kind.name, is_on=True).values("user")
    if event.campaign is None:
        return users if event.only is not None else users.filter(is_superuser=True, pk__in=chosen)
    members = Membership.objects.current().filter(team=event.campaign.team)
    if kind.is_about_money:
        members = members.filter(role__in=roles_with(Right.SEE_MONEY))
    if event.only is not None:
        return users.filter(Q(is_superuser=True) | Q(pk__in=members.values("user")))
    active = members.filter(role__in=roles_with(Right.REVIEW))
    may_see = Q(is_superuser=True) | Q(pk__in=members.values("user"))
    return users.filter(Q(pk__in=active.values("user")) | may_see & Q(pk__in=chosen))


def is_on_by_default(user: User) -> bool:
    """Whether the user gets notices without having chosen them."""
    mine = Membership.objects.current().filter(user=user)
    return mine.filter(role__in=roles_with(Right.REVIEW)).exists()


def webhooks_for(kind: NoticeKind, event: Event) -> list[Webhook]:
    """The webhooks of the event's campaign that get notices of this kind."""
    if event.campaign is None:
        return []
    return list(Webhook.objects.filter(campaign=event.campaign).wanting(kind.name))


@transaction.atomic
def choose_emails(*, user: User, email: str, kinds: Collection[str]) -> None:
    """Let the user get e-mails of these kinds, and of no other one, at this address."""
    User.objects.filter(pk=user.pk).update(email=email)
    for name in notice_kinds():
        NoticeChoice.objects.update_or_create(
            user=user, kind=name, defaults={"is_on": name in kinds}
        )


@transaction.atomic
def add_webhook(
    *, campaign: Campaign, url: str, kinds: Collection[str], user: User | None, at: datetime
) -> Webhook:
    """Add an address that gets notices of these kinds; raises WebhookRefused."""
    _check(url, kinds)
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if campaign.webhooks.kept().count() >= MOST_WEBHOOKS:
        raise WebhookRefused(f"A campaign can have {MOST_WEBHOOKS} webhooks. Remove one first.")
    try:
        with transaction.atomic():
            return Webhook.objects.create(
                campaign=campaign, url=url, kinds=sorted(kinds), created_by=user, created_at=at
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
    """Replace the secret; requests from now on are signed with the new one."""
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
        campaign=webhook.campaign,
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
