"""The database tables of this app, one module per topic."""

from accounts.models.idempotency import IdempotencyKey
from accounts.models.teams import Invitation, Membership, Right, Team, TeamChange, TeamRole
from accounts.models.tokens import ApiToken, Scope

__all__ = [
    "ApiToken",
    "IdempotencyKey",
    "Invitation",
    "Membership",
    "Right",
    "Scope",
    "Team",
    "TeamChange",
    "TeamRole",
]
