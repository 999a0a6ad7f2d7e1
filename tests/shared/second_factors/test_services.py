"""Authenticator apps: set-up, codes, recovery codes and limits."""

from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from django.contrib.auth.models import User

from shared.second_factors import services
from shared.second_factors.models import RecoveryCode, SecondFactor
from shared.second_factors.services import (
    LOCKED_FOR,
    MOST_WRONG,
    CodeRefused,
    add_second_factor,
    is_right_code,
    new_secret,
    remove_for_locked_out,
    replace_recovery_codes,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
STEP = timedelta(seconds=30)


@pytest.fixture
def ada():
    return User.objects.create_user("ada")


@pytest.fixture
def app(ada):
    """The user's app, set up an hour before NOON."""
    secret, at = new_secret(), NOON - timedelta(hours=1)
    app = pyotp.TOTP(secret)
    app.recovery = add_second_factor(user=ada, secret=secret, code=app.at(at), at=at)
    return app


def test_a_code_works_once_and_so_do_those_before_it(ada, app):
    assert is_right_code(user=ada, code=app.at(NOON), at=NOON)
    assert not is_right_code(user=ada, code=app.at(NOON), at=NOON)
    assert not is_right_code(user=ada, code=app.at(NOON - STEP), at=NOON)
    assert is_right_code(user=ada, code=app.at(NOON + STEP), at=NOON)


@pytest.mark.parametrize("shift", [-2 * STEP, 2 * STEP])
def test_a_code_of_another_time_is_wrong(ada, app, shift):
    assert not is_right_code(user=ada, code=app.at(NOON + shift), at=NOON)


def test_a_recovery_code_works_once_however_it_is_typed(ada, app):
    code = app.recovery[0]

    assert is_right_code(user=ada, code=f" {code.upper().replace('-', ' ')} ", at=NOON)
    assert not is_right_code(user=ada, code=code, at=NOON)
    assert is_right_code(user=ada, code=app.recovery[1], at=NOON)
    assert not RecoveryCode.objects.filter(digest__in=app.recovery).exists()


def test_after_many_wrong_codes_the_right_one_waits(ada, app):
    for _ in range(MOST_WRONG):
        assert not is_right_code(user=ada, code="x", at=NOON)

    assert not is_right_code(user=ada, code=app.recovery[0], at=NOON + LOCKED_FOR - STEP)
    assert is_right_code(user=ada, code=app.recovery[0], at=NOON + LOCKED_FOR)


def test_codes_that_were_wrong_by_a_clock_that_was_ahead_lock_nobody(ada, app):
    for _ in range(MOST_WRONG):
        is_right_code(user=ada, code=app.at(NOON), at=NOON + timedelta(days=1))

    assert is_right_code(user=ada, code=app.at(NOON), at=NOON)


def test_codes_with_odd_characters_are_wrong(ada, app):
    for code in ("", "   ", "\ud800", "１２３４５６", "\x00"):
        assert not is_right_code(user=ada, code=code, at=NOON)


def test_no_code_is_right_once_the_app_is_removed(ada, app):
    SecondFactor.objects.all().delete()

    assert not is_right_code(user=ada, code=app.at(NOON), at=NOON)


@pytest.mark.django_db(transaction=True)
def test_of_two_uses_at_once_one_counts(ada, app):
    code = app.at(NOON)

    used = at_once(lambda _: is_right_code(user=ada, code=code, at=NOON), range(4))

    assert used.count(True) == 1


def test_a_second_app_is_refused(ada, app):
    secret = new_secret()

    with pytest.raises(CodeRefused, match="already"):
        add_second_factor(user=ada, secret=secret, code=pyotp.TOTP(secret).at(NOON), at=NOON)


def test_a_form_that_is_sent_twice_says_that_there_is_an_app(ada, app):
    """The second time, the session has no key left that the code could fit."""
    with pytest.raises(CodeRefused, match="already"):
        add_second_factor(user=ada, secret=new_secret(), code=app.at(NOON), at=NOON)


def test_no_recovery_codes_are_made_for_an_app_that_is_removed_meanwhile(ada, app, monkeypatch):
    def removed_after(**given) -> bool:
        is_right = is_right_code(**given)
        remove_for_locked_out(user=ada)
        return is_right

    monkeypatch.setattr(services, "is_right_code", removed_after)

    with pytest.raises(CodeRefused, match="You have no authenticator app"):
        replace_recovery_codes(user=ada, code=app.at(NOON), at=NOON)

    assert not RecoveryCode.objects.exists()
