"""Lock sign-in after too many wrong passwords, using django-axes with our own limits."""

from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse

from accounts.problems import is_api, problem_response
from shared.refusals import refusal

LONGEST_NAME = 150
Credentials = dict[str, Any]


class SignInLimits(AxesDatabaseHandler):  # type: ignore[misc]  # django-axes has no types.
    """Counts wrong passwords against one limit for each entry of AXES_LOCKOUT_PARAMETERS.

    django-axes itself has one limit for all entries. With it, one person's mistakes would lock a
    whole office that shares an address, and anybody could lock an account from a single address.

    A password is counted once it was found wrong, so those of other requests that are going on at
    that moment are looked at, too. Before a lock at most `limit - 1 + threads` wrong passwords are
    looked at, where `threads` are those of all the site's processes.
    """

    def get_failures(self, request: HttpRequest, credentials: Credentials | None = None) -> int:
        """How many times the most exceeded limit has been reached.

        Sign-in is locked from 1 on (AXES_FAILURE_LIMIT).
        """
        counts = self.get_user_attempts(request, credentials)
        return max(
            (attempts.aggregate(sum=Sum("failures_since_start"))["sum"] or 0) // limit
            for attempts, limit in zip(counts, settings.SIGN_IN_LIMITS, strict=True)
        )

    def reset_user_attempts(
        self, request: HttpRequest, credentials: Credentials | None = None
    ) -> int:
        """Delete the wrong passwords for this account from this address; return the number of rows.

        Those for other accounts or from other addresses still count.
        """
        deleted, _ = self.filter_user_attempts(request, credentials)[0].delete()
        return int(deleted)


def counted_name(request: HttpRequest, credentials: Credentials | None) -> str:
    """The account name for which wrong passwords count, cut to the length of an account's name.

    django-axes' table cannot store longer names.
    """
    name: str = (credentials or request.POST).get("username") or ""
    return name[:LONGEST_NAME]


def locked(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    """The response while sign-in is locked; the password is not checked."""
    wait = settings.AXES_COOLOFF_TIME
    seconds = int(wait.total_seconds())
    message = f"Too many wrong passwords. Wait {seconds // 60} minutes, then try again."
    if not is_api(request):
        return refusal(request, 429, "Sign-in is locked", message, wait=wait)
    response = problem_response(429, message, "locked")
    response.headers["Retry-After"] = str(seconds)
    return response
