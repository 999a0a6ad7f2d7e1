"""Create teams, invite people, and change members and their roles."""

import logging
import secrets
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string

from accounts.models import (
    FIRST_TEAM,
    FIRST_TEAM_NAME,
    Invitation,
    Membership,
    Team,
    TeamChange,
    TeamRole,
    digest_of,
)
from corpora.errors import DomainError
from shared.mail import with_ascii_domain
from shared.second_factors.services import CodeRefused, remove_for_locked_out

INVITATION_DAYS = 14
# A double click sends the form of a new account again within this time.
SENT_AGAIN_WITHIN = timedelta(minutes=1)
MOST_INVITATIONS = 100


class TeamRefused(DomainError):
    """The team cannot be changed in this way now."""


class InvitationRefused(DomainError):
    """The invitation is unknown, was used or revoked, or has expired."""


def first_team(*, at: datetime) -> Team:
    """The team of everything that names no other team, created at first use."""
    team, _ = Team.objects.get_or_create(
        slug=FIRST_TEAM, defaults={"name": FIRST_TEAM_NAME, "created_at": at}
    )
    return team


@transaction.atomic
def create_team(*, slug: str, name: str, at: datetime) -> Team:
    """Create a team without members; raises TeamRefused if its name is taken or impossible."""
    team = Team(slug=slug, name=name, created_at=at)
    try:
        team.clean_fields()
        with transaction.atomic():
            team.save(force_insert=True)
    except ValidationError as error:
        raise TeamRefused(f"{slug!r}: {' '.join(error.messages)}") from error
    except IntegrityError as error:
        raise TeamRefused(f"There is a team {slug!r} already. Choose another name.") from error
    _log(team, None, at, f"Team {name} created")
    return team


@transaction.atomic
def add_member(*, team: Team, user: User, role: TeamRole, at: datetime) -> Membership:
    """Give the user this role in the team, also if they have another role there."""
    member, _ = Membership.objects.update_or_create(
        team=team,
        user=user,
        ended_at=None,
        defaults={"role": role},
        create_defaults={"role": role, "joined_at": at},
    )
    return member


@transaction.atomic
def remove_second_factor_of(*, user: User, at: datetime) -> None:
    """Remove the app of somebody who has lost it, and say so in the logs of their teams.

    Raises TeamRefused if there is none.
    """
    try:
        remove_for_locked_out(user=user)
    except CodeRefused as error:
        raise TeamRefused(str(error)) from error
    for member in Membership.objects.current().filter(user=user).select_related("team"):
        _log(member.team, None, at, f"Authenticator app of {user} removed by an operator")


@transaction.atomic
def change_role(*, member: Membership, role: TeamRole, actor: User, at: datetime) -> None:
    """Change a member's role; raises TeamRefused for the last researcher."""
    _locked(member.team)
    current = _current(member)
    if current.role == role:
        return
    _check_not_last(current)
    Membership.objects.filter(pk=current.pk).update(role=role)
    before = TeamRole(current.role).label
    _log(current.team, actor, at, f"{current.user}: {before} changed to {TeamRole(role).label}")


@transaction.atomic
def remove_member(*, member: Membership, actor: User, at: datetime) -> None:
    """End a membership; raises TeamRefused for the last researcher."""
    _locked(member.team)
    current = _current(member)
    _check_not_last(current)
    Membership.objects.filter(pk=current.pk).update(ended_at=max(at, current.joined_at))
    _log(current.team, actor, at, f"{current.user} removed ({current.get_role_display()})")


@transaction.atomic
def invite(
    *,
    team: Team,
    role: TeamRole,
    note: str,
    actor: User,
    at: datetime,
    email: str = "",
) -> tuple[Invitation, str]:
    """Create an invitation for one person; return it with its text, which is not stored. Raises
    TeamRefused."""
    _locked(team)
    if email and team.invitations.open(at).filter(email__iexact=email).exists():
        raise TeamRefused(f"{email} has an open invitation. Revoke it first to send another one.")
    if team.invitations.open(at).count() >= MOST_INVITATIONS:
        raise TeamRefused(
            f"A team can have {MOST_INVITATIONS} open invitations. Revoke some of them first."
        )
    text = secrets.token_urlsafe(32)
    made = Invitation.objects.create(
        team=team,
        role=role,
        note=note,
        email=email,
        digest=digest_of(text),
        created_by=actor,
        created_at=at,
        expires_at=at + timedelta(days=INVITATION_DAYS),
    )
    whom = f" for {note}" if note else ""
    _log(team, actor, at, f"Invitation of a {TeamRole(role).label}{whom} created")
    return made, text


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, actor: User, at: datetime) -> None:
    """Revoke an invitation; raises InvitationRefused if it is not open."""
    if not Invitation.objects.open(at).filter(pk=invitation.pk).update(revoked_at=at):
        raise InvitationRefused("This invitation was used or revoked already, or has expired.")
    _log(invitation.team, actor, at, f"Invitation of a {invitation.get_role_display()} revoked")


def open_invitation(*, text: str, at: datetime) -> Invitation:
    """The invitation with this text; raises InvitationRefused."""
    rows = Invitation.objects.open(at).select_related("team")
    invitation = rows.filter(digest=digest_of(text)).first()
    if invitation is None:
        raise InvitationRefused(
            "This invitation was used or revoked, or has expired. Ask for a new one."
        )
    return invitation


def has_joined(*, text: str, user: User) -> bool:
    """Whether the user joined with this invitation, and is a member still."""
    used = Invitation.objects.filter(digest=digest_of(text), accepted_by=user)
    return user.memberships.current().filter(team__in=used.values("team")).exists()


@transaction.atomic
def accept_invitation(*, text: str, user: User, at: datetime) -> Membership:
    """Make the user a member of the invitation's team; raises InvitationRefused and TeamRefused."""
    invitation = open_invitation(text=text, at=at)
    _locked(invitation.team)
    if invitation.team.memberships.current().filter(user=user).exists():
        raise TeamRefused(
            f"You are a member of the team {invitation.team} already. The invitation is still "
            "open for somebody else."
        )
    used = Invitation.objects.open(at).filter(pk=invitation.pk)
    if not used.update(accepted_by=user, accepted_at=at):
        raise InvitationRefused("This invitation was used meanwhile. Ask for a new one.")
    member = add_member(team=invitation.team, user=user, role=TeamRole(invitation.role), at=at)
    _log(invitation.team, user, at, f"{user} joined ({member.get_role_display()})")
    return member


def accept_as_new_user(
    *, text: str, name: str, password: str, email: str, at: datetime
) -> Membership:
    """Create an account and make it a member; raises as `accept_invitation`, and TeamRefused if the
    user name is taken.

    A form that is sent twice makes one account, and each time returns its membership.
    """
    try:
        return _accept_as_new_user(text, name, password, email, at)
    except DomainError:
        if joined := _joined_just_now(text, name, password, at):
            return joined
        raise


def _joined_just_now(text: str, name: str, password: str, at: datetime) -> Membership | None:
    """The membership of the account that the same form has made a moment ago."""
    recent = Invitation.objects.filter(accepted_at__gt=at - SENT_AGAIN_WITHIN)
    used = recent.filter(digest=digest_of(text), accepted_by__username=name).first()
    if used is None or used.accepted_by is None or not used.accepted_by.check_password(password):
        return None
    return used.team.memberships.current().filter(user=used.accepted_by).first()


@transaction.atomic
def _accept_as_new_user(
    text: str, name: str, password: str, email: str, at: datetime
) -> Membership:
    open_invitation(text=text, at=at)
    try:
        with transaction.atomic():
            user = User.objects.create_user(name, email=email, password=password)
    except IntegrityError as error:
        reason = f"The user name {name} is taken. Choose another one, or sign in with it."
        raise TeamRefused(reason) from error
    return accept_invitation(text=text, user=user, at=at)


def _locked(team: Team) -> None:
    """Let changes of a team's members wait for each other."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def _current(member: Membership) -> Membership:
    rows = Membership.objects.current().select_related("team", "user")
    current = rows.filter(pk=member.pk).first()
    if current is None:
        raise TeamRefused("This person is no member of the team any more.")
    return current


def _check_not_last(member: Membership) -> None:
    """Raise TeamRefused if the team would be left without a researcher."""
    others = member.team.memberships.researchers().exclude(pk=member.pk)
    if member.role == TeamRole.RESEARCHER and not others.exists():
        raise TeamRefused(
            f"{member.user} is the last researcher of the team {member.team}. Make somebody else "
            "a researcher first."
        )


def _log(team: Team, actor: User | None, at: datetime, text: str) -> None:
    TeamChange.objects.create(team=team, actor=actor, at=at, text=text[:300])


logger = logging.getLogger(__name__)


def send_invitation(invitation: Invitation, link: str) -> bool:
    """Send the link to the invitation's address. Returns whether the mail server took it."""
    context = {"invitation": invitation, "link": link, "site": settings.SITE_URL}
    subject = render_to_string("accounts/invitation_subject.txt", context)
    text = render_to_string("accounts/invitation_mail.txt", context)
    try:
        send_mail(" ".join(subject.split()), text, None, [with_ascii_domain(invitation.email)])
    except (OSError, SMTPException) as error:
        # Without the address and the link, which are not for logs.
        logger.warning("An invitation could not be sent by e-mail: %s", type(error).__name__)
        return False
    return True
