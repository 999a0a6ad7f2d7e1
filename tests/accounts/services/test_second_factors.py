"""Authenticator apps: set-up, sign-in with a code, recovery codes, limits, and removal."""

from datetime import timedelta

import pyotp
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import TeamChange
from shared.second_factors.models import RecoveryCode, SecondFactor
from shared.second_factors.services import (
    LOCKED_FOR,
    MOST_WRONG,
    RECOVERY_CODES,
    CodeRefused,
    add_second_factor,
    is_right_code,
    new_secret,
)
from tests.factories import NOON, TeamFactory, UserFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase"
STEP = timedelta(seconds=30)


@pytest.fixture
def ada():
    user = UserFactory(username="ada", team=TeamFactory(slug="lab"))
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def app(ada):
    """The user's app, set up an hour before NOON."""
    secret, at = new_secret(), NOON - timedelta(hours=1)
    app = pyotp.TOTP(secret)
    app.recovery = add_second_factor(user=ada, secret=secret, code=app.at(at), at=at)
    return app


def sign_in(client=None, *, code="", page="/sign-in/"):
    fields = {"username": "ada", "password": PASSWORD, "code": code}
    return (client or Client()).post(page, fields)


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


@pytest.mark.parametrize("page", ["/sign-in/", "/admin/login/", "/api/token/"])
def test_the_password_alone_opens_nothing(app, page):
    answer = sign_in(page=page)

    assert answer.status_code in {200, 400}
    assert "_auth_user_id" not in answer.client.session


def test_sign_in_and_tokens_take_a_code(app):
    signed_in = sign_in(code=app.recovery[0])
    token = sign_in(code=app.recovery[1], page="/api/token/")
    again = sign_in(code=app.recovery[0])

    assert signed_in.status_code == 302
    assert token.status_code == 200
    assert "Name, password or code is wrong." in again.content.decode()


def test_accounts_without_an_app_leave_the_code_empty(ada):
    assert sign_in().status_code == 302


def test_the_page_turns_the_app_on_and_off(client, ada):
    client.force_login(ada)
    page = client.get("/account/second-factor/")
    app = pyotp.TOTP(page.context["secret"].replace(" ", ""))

    wrong = client.post("/account/second-factor/", {"code": "000000x"})
    done = client.post("/account/second-factor/", {"code": app.at(timezone.now())})
    again = client.get("/account/second-factor/").content.decode()
    new = client.post("/account/second-factor/", {"code": done.context["codes"][0], "codes": ""})
    old = client.post("/account/second-factor/", {"code": done.context["codes"][1], "remove": ""})
    kept = SecondFactor.objects.exists()
    client.post("/account/second-factor/", {"code": new.context["codes"][1], "remove": ""})

    assert 'src="data:image/svg+xml' in page.content.decode()
    assert wrong.status_code == 422
    assert len(done.context["codes"]) == RECOVERY_CODES
    assert "no-store" in done.headers["Cache-Control"]
    assert done.context["codes"][0] not in again
    assert old.status_code == 422
    assert kept
    assert not SecondFactor.objects.exists()


def test_wrong_codes_on_the_page_count_too(client, ada, app):
    client.force_login(ada)

    client.post("/account/second-factor/", {"code": "123", "remove": ""})

    assert SecondFactor.objects.get().wrong_codes == 1


def test_a_second_app_is_refused(ada, app):
    secret = new_secret()

    with pytest.raises(CodeRefused, match="already"):
        add_second_factor(user=ada, secret=secret, code=pyotp.TOTP(secret).at(NOON), at=NOON)


def test_an_operator_removes_the_app_and_the_teams_log_says_so(ada, app, capsys):
    call_command("remove_second_factor", "ada")

    assert "password alone" in capsys.readouterr().out
    assert sign_in().status_code == 302
    entry = TeamChange.objects.get(team__slug="lab")
    assert (entry.text, entry.actor) == ("Authenticator app of ada removed by an operator", None)
    for name, message in (("ada", "no authenticator app"), ("nobody", "No account")):
        with pytest.raises(CommandError, match=message):
            call_command("remove_second_factor", name)
