"""Invite people to a group by e-mail: each address once, and none that has unsubscribed."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from smtplib import SMTPRecipientsRefused, SMTPResponseException
from socket import gaierror

from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils import translation

from marketplace.errors import GroupRefused
from marketplace.models import MailInvitation, MailRefusal, PeopleGroup
from marketplace.services.links import mail_url, stop_url
from shared.database.queues import claim, held, is_due
from shared.mail import sends_email, with_ascii_domain

MOST_ADDRESSES = 2000
# How long all invitations wait when the mail server takes none.
PAUSE = timedelta(minutes=1)
# After this time, the process that was sending a mail has died.
SENDING_ENDS_AFTER = timedelta(minutes=5)


class MailServerAway(OSError):
    """There is no connection to the mail server, so nothing was sent."""


def addresses_in(text: str) -> list[str]:
    """The addresses in a text, separated by spaces, commas, semicolons or lines; each once.

    Raises GroupRefused if one is invalid or if there are too many.
    """
    parts = text.replace(",", " ").replace(";", " ").split()
    addresses = list(dict.fromkeys(_clean(part) for part in parts))
    if not addresses:
        raise GroupRefused("Enter at least one address.", field="addresses")
    if len(addresses) > MOST_ADDRESSES:
        raise GroupRefused(f"Enter at most {MOST_ADDRESSES} addresses.", field="addresses")
    return addresses


def _clean(address: str) -> str:
    # Not `casefold`, which turns the ß of a domain into ss: another domain.
    address = address.strip("<>").lower()
    try:
        MailInvitation._meta.get_field("address").run_validators(address)
        address.encode()
    except (ValidationError, UnicodeEncodeError) as error:
        raise GroupRefused(
            f"This is not an e-mail address: {address[:100]}", field="addresses"
        ) from error
    return address


@transaction.atomic
def add_addresses(*, group: PeopleGroup, addresses: Sequence[str], at: datetime) -> int:
    """Put addresses on the group's list; return how many are new. Nothing is sent."""
    # Locked, so that two operators with some of the same addresses cannot deadlock.
    PeopleGroup.objects.select_for_update(no_key=True).get(pk=group.pk)
    on_the_list = set(
        group.mail_invitations.filter(address__in=addresses).values_list("address", flat=True)
    )
    rows = [
        MailInvitation(group=group, address=address, created_at=at, due_at=at)
        for address in addresses
        if address not in on_the_list
    ]
    MailInvitation.objects.bulk_create(rows)
    return len(rows)


def send_invitations(*, at: datetime) -> int:
    """Send one invitation that waits; return 0 if there is none, or if this site sends no mail."""
    return send_next(post=post, at=at) if sends_email() else 0


def send_next(*, post: Callable[[MailInvitation], None], at: datetime) -> int:
    """Send one invitation that waits; return 1, or 0 if none could be sent.

    It is claimed for ever before `post` is called, so that no address gets two mails from
    concurrent runs or after a crash. An OSError of `post` is stored as the invitation's problem. If
    it says that nothing was sent, the claim is released, and all invitations wait.
    """
    due = waiting().filter(is_due(at, longest_pause=2 * PAUSE)).order_by("due_at", "pk")
    values = {"due_at": at + SENDING_ENDS_AFTER, "problem": ""}
    invitation = claim(due.select_related("group"), lambda _: values)
    if invitation is None:
        return 0
    mine = held(invitation)
    try:
        post(invitation)
    except OSError as error:
        problem = f"{type(error).__name__}: {error}"[:200]
        if _is_away(error):
            waiting().update(due_at=at + PAUSE)
            # Behind the others: the server may refuse this one alone.
            mine.update(due_at=at + PAUSE + timedelta(seconds=1), run=None, problem=problem)
        else:
            mine.update(due_at=None, problem=problem)
        return 0
    mine.update(sent_at=at, due_at=None)
    return 1


def post(invitation: MailInvitation) -> None:
    """Send the mail in the language of its group; raises MailServerAway.

    Its headers let mail programs offer to unsubscribe (RFC 8058).
    """
    stop = stop_url(invitation)
    context = {"group": invitation.group, "url": mail_url(invitation), "stop_url": stop}
    with translation.override(invitation.group.language):
        body = render_to_string("marketplace/people/invitation_mail.txt", context)
    message = EmailMessage(
        subject=invitation.group.name,
        body=body,
        to=[with_ascii_domain(invitation.address)],
        headers={
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
        connection=get_connection(),
    )
    try:
        message.connection.open()
    except OSError as error:
        raise MailServerAway(f"{type(error).__name__}: {error}") from error
    try:
        message.send()
    finally:
        message.connection.close()


def _is_away(error: OSError) -> bool:
    """Whether the error says that nothing was sent, and that it may be tried later."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(_is_for_now(code) for code, _ in error.recipients.values())
    if isinstance(error, SMTPResponseException):
        return _is_for_now(error.smtp_code)
    return isinstance(error, MailServerAway | ConnectionRefusedError | gaierror)


def _is_for_now(code: int) -> bool:
    return 400 <= code < 500


def waiting() -> QuerySet[MailInvitation]:
    """Invitations to send: to open groups, and to addresses that have not unsubscribed."""
    refused = MailRefusal.objects.values("address")
    rows = MailInvitation.objects.filter(run=None, group__is_open=True)
    return rows.exclude(address__in=refused)


def unknown(group: PeopleGroup, *, at: datetime) -> QuerySet[MailInvitation]:
    """Invitations whose mail failed, or whose sending was interrupted."""
    has_ended = Q(due_at=None) | is_due(at, longest_pause=SENDING_ENDS_AFTER)
    return group.mail_invitations.filter(has_ended, sent_at=None, run__isnull=False)


def try_again(*, group: PeopleGroup, at: datetime) -> int:
    """Put the invitations without a known outcome back on the list, because a person decided so.

    Returns their number.
    """
    return unknown(group, at=at).update(due_at=at, run=None, problem="")


def stop(*, address: str, at: datetime) -> None:
    """Send no more mail to the address."""
    MailRefusal.objects.get_or_create(address=address, defaults={"refused_at": at})
