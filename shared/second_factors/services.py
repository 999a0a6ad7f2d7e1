"""Set up an authenticator app for an account, check its codes at sign-in, and remove it."""

import hashlib
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Any

import pyotp
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import get_random_string

from shared.second_factors.models import RecoveryCode, SecondFactor

RECOVERY_CODES = 10
# Half minutes by which the clocks of the app and the site may differ.
TOLERATED_STEPS = 1
# After this many wrong codes in a row, even right ones are refused for a while.
MOST_WRONG = 10
LOCKED_FOR = timedelta(minutes=15)
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class CodeRefused(Exception):
    """The code is wrong or was used already, or there were too many wrong ones."""


def new_secret() -> str:
    """A random key for an authenticator app."""
    return pyotp.random_base32()


def address_for_app(*, user: User, secret: str, issuer: str) -> str:
    """The address that the QR code holds: the app reads the key and both names from it."""
    name = user.get_username()
    return pyotp.TOTP(secret, name=name, issuer=issuer).provisioning_uri()


@transaction.atomic
def add_second_factor(*, user: User, secret: str, code: str, at: datetime) -> list[str]:
    """Require codes of the app with this key from now on; return new recovery codes.

    `code` shows that the app has the key. Raises CodeRefused, also if there is an app already.
    """
    # Locked: a double click sends the form twice.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if has_second_factor(user):
        raise CodeRefused(
            "You have set up an authenticator app already. If you did not see its recovery codes, "
            "make new ones."
        )
    step = _step_of(secret, _plain(code), at)
    if step is None:
        raise CodeRefused(
            "This is not the code that the app shows now. Check that the clock of your device is "
            "right, then enter the current code."
        )
    made = SecondFactor.objects.create(user=user, secret=secret, created_at=at, last_step=step)
    return _new_codes(made)


def has_second_factor(user: User) -> bool:
    """Whether the account needs a code to sign in."""
    return SecondFactor.objects.filter(user=user).exists()


def is_right_code(*, user: User, code: str, at: datetime) -> bool:
    """Whether the code of the app, or the recovery code, is right; it is used up then.

    A wrong one is counted. After MOST_WRONG in a row, none is accepted for LOCKED_FOR.
    """
    factor = SecondFactor.objects.filter(user=user).first()
    if factor is None:  # Removed a moment ago, by the first click of a double click.
        return False
    is_locked_since = factor.wrong_at if factor.wrong_codes >= MOST_WRONG else None
    # A later time is of a clock that was ahead.
    if is_locked_since and is_locked_since <= at < is_locked_since + LOCKED_FOR:
        return False
    mine, text = SecondFactor.objects.filter(pk=factor.pk), _plain(code)
    step = _step_of(factor.secret, text, at)
    used = step is not None and mine.filter(last_step__lt=step).update(last_step=step)
    if not used:
        unused = factor.recovery_codes.filter(digest=_digest(text), used_at=None)
        used = bool(text) and unused.update(used_at=at)
    if used:
        mine.update(wrong_codes=0, wrong_at=None)
    else:
        mine.update(wrong_codes=1 if is_locked_since else F("wrong_codes") + 1, wrong_at=at)
    return bool(used)


def replace_recovery_codes(*, user: User, code: str, at: datetime) -> list[str]:
    """New recovery codes; the old ones end. Raises CodeRefused."""
    factor = _checked(user, code, at)
    with transaction.atomic():
        locked = SecondFactor.objects.select_for_update(no_key=True).filter(pk=factor.pk).first()
        if locked is None:
            raise CodeRefused(NO_APP)
        locked.recovery_codes.all().delete()
        return _new_codes(locked)


def remove_second_factor(*, user: User, code: str, at: datetime) -> None:
    """Sign in by password alone from now on. Raises CodeRefused."""
    _checked(user, code, at).delete()


def remove_for_locked_out(*, user: User) -> None:
    """Remove the app of somebody who has lost it; raises CodeRefused if there is none."""
    if not SecondFactor.objects.filter(user=user).delete()[0]:
        raise CodeRefused(f"The account {user} has no authenticator app.")


NO_APP = "You have no authenticator app."


def _checked(user: User, code: str, at: datetime) -> SecondFactor:
    # Not in a transaction with what follows: a wrong code must be counted.
    factor = SecondFactor.objects.filter(user=user).first()
    if factor is None:
        raise CodeRefused(NO_APP)
    if not is_right_code(user=user, code=code, at=at):
        raise CodeRefused("This code is wrong or was used already. Enter the current code.")
    return factor


def _new_codes(factor: SecondFactor) -> list[str]:
    codes = [
        "-".join(get_random_string(4, LETTERS) for _ in range(4)) for _ in range(RECOVERY_CODES)
    ]
    RecoveryCode.objects.bulk_create(
        RecoveryCode(factor=factor, digest=_digest(_plain(code))) for code in codes
    )
    return codes


def _step_of(secret: str, code: str, at: datetime) -> int | None:
    """The number of the code's half minute; None if the code is not valid at about this time."""
    app = pyotp.TOTP(secret)
    now = app.timecode(at)
    steps = range(now - TOLERATED_STEPS, now + TOLERATED_STEPS + 1)
    given = code.encode(errors="replace")
    return next((n for n in steps if compare_digest(app.generate_otp(n).encode(), given)), None)


def _plain(code: str) -> str:
    """A code as it is compared: without spaces and hyphens, in small letters."""
    return code.replace(" ", "").replace("-", "").lower()


def _digest(text: str) -> str:
    # A slow hash is not needed: a recovery code has 79 random bits and cannot be guessed.
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


class PasswordAndCode(ModelBackend):
    """Refuses accounts with a second factor without its code: on pages, in the API and the admin.

    A wrong code counts as a wrong password, too, in the limits that each site has.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        code: str = "",
        **options: Any,
    ) -> User | None:
        user = super().authenticate(request, username=username, password=password, **options)
        if not isinstance(user, User) or not has_second_factor(user):
            return user if isinstance(user, User) else None
        is_right = is_right_code(user=user, code=code, at=timezone.now())
        return user if is_right else None
