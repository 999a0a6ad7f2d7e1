"""Create teams, invite people, and change members and their roles."""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

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
from shared.second_factors.services import CodeRefused, remove_for_locked_out

INVITATION_DAYS = 14
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
def create_team(*, slug: str, name: str, actor: User | None, at: datetime) -> Team:
    """Create a team without members; raises TeamRefused if its name is taken."""
    try:
        with transaction.atomic():
            team = Team.objects.create(slug=slug, name=name, created_at=at)
    except IntegrityError as error:
        raise TeamRefused(f"There is a team {slug!r} already. Choose another name.") from error
    _log(team, actor, at, f"Team {name} created")
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
    found = _current(member)
    if found.role == role:
        return
    _check_not_last(found)
    Membership.objects.filter(pk=found.pk).update(role=role)
    before = TeamRole(found.role).label
    _log(found.team, actor, at, f"{found.user}: {before} changed to {TeamRole(role).label}")


@transaction.atomic
def remove_member(*, member: Membership, actor: User, at: datetime) -> None:
    """End a membership; raises TeamRefused for the last researcher."""
    _locked(member.team)
    found = _current(member)
    _check_not_last(found)
    Membership.objects.filter(pk=found.pk).update(ended_at=max(at, found.joined_at))
    _log(found.team, actor, at, f"{found.user} removed ({found.get_role_display()})")


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
    found = rows.filter(digest=digest_of(text)).first()
    if found is None:
        raise InvitationRefused(
            "This invitation was used or revoked, or has expired. Ask for a new one."
        )
    return found


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


@transaction.atomic
def accept_as_new_user(
    *, text: str, name: str, password: str, email: str, at: datetime
) -> Membership:
    """Create an account and make it a member; raises as `accept_invitation`, and TeamRefused if the
    user name is taken."""
    if User.objects.filter(username__iexact=name).exists():
        raise TeamRefused(f"The user name {name} is taken. Choose another one, or sign in with it.")
    open_invitation(text=text, at=at)
    try:
        with transaction.atomic():
            user = User.objects.create_user(name, email=email, password=password)
    except IntegrityError as error:
        raise TeamRefused(f"The user name {name} is taken. Choose another one.") from error
    return accept_invitation(text=text, user=user, at=at)


def _locked(team: Team) -> None:
    """Let changes of a team's members wait for each other."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def _current(member: Membership) -> Membership:
    rows = Membership.objects.current().select_related("team", "user")
    found = rows.filter(pk=member.pk).first()
    if found is None:
        raise TeamRefused("This person is no member of the team any more.")
    return found


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
