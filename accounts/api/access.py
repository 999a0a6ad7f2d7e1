"""Who may call the API: tokens, their scopes, and how many requests each may make."""

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.models import ApiToken, Right, Scope
from accounts.services.api_tokens import TokenRefused, use_token


class ApiTokenAuthentication(TokenAuthentication):
    """Accepts `Authorization: Token …` with a valid ApiToken, which becomes `request.auth`."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        try:
            token = use_token(text=key, at=timezone.now())
        except TokenRefused as error:
            raise AuthenticationFailed(str(error)) from error
        return token.user, token


class WithinScope(IsAuthenticated):
    """Lets accounts in, and tokens whose scopes include the right that the view needs.

    The role in the row's team is checked later, when the row is looked up, so a token never allows
    more than its account.
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


class _ByToken(SimpleRateThrottle):
    """Counts the requests of a token, or of a session, in each web process."""

    setting: str
    of_reads: bool

    def get_rate(self) -> str | None:
        limit = getattr(settings, self.setting)
        return f"{limit}/minute" if limit else None

    def get_cache_key(self, request: Request, view: object) -> str | None:
        if (request.method in SAFE_METHODS) != self.of_reads:
            return None
        if isinstance(request.auth, ApiToken):
            who: str | None = request.auth.digest
        else:
            # Requests without an account are refused before, or limited by wrong passwords.
            who = request.session.session_key if request.user.is_authenticated else None
        return who and f"throttle-{self.setting}-{who}"


class ReadsByToken(_ByToken):
    setting, of_reads = "API_READS_PER_MINUTE", True


class WritesByToken(_ByToken):
    setting, of_reads = "API_WRITES_PER_MINUTE", False
