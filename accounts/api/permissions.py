"""Whether a request's account, and the scopes of its token, allow it to use a view."""

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request

from accounts.models import ApiToken, Right, Scope


class WithinScope(IsAuthenticated):
    """Lets accounts in, and tokens whose scopes include the right that the view needs.

    What the account's role in a team allows is decided later, when the row is looked up, so a token
    never allows more than its account.
    """

    def has_permission(self, request: Request, view: object) -> bool:
        if not super().has_permission(request, view):  # type: ignore[arg-type]
            return False
        token = request.auth
        if isinstance(token, ApiToken):
            _check_scope(token, Scope.for_right(right_of(request, view)))
        return True


def right_of(request: Request, view: object) -> Right:
    """The right that a request needs: the view's `may_read` or `may_write`."""
    if request.method in SAFE_METHODS:
        return getattr(view, "may_read", Right.VIEW)
    return getattr(view, "may_write", Right.MANAGE)


def _check_scope(token: ApiToken, needed: Scope) -> None:
    if needed not in token.scopes:
        has = ", ".join(token.scopes)
        raise PermissionDenied(
            f"This request needs a token with the scope {needed.value}. Yours has: {has}. "
            "Create another token."
        )
