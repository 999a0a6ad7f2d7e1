"""Operators' own accounts: password, authenticator app, and further operators."""

import re
from datetime import timedelta
from uuid import uuid4

import pyotp
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

import shared.once
from marketplace.errors import DomainError
from marketplace.models import Activity
from marketplace.operator.account import MOST_TRIES
from marketplace.services.operators import add_operator, remove_operator
from shared.second_factors.models import SecondFactor
from shared.second_factors.services import MOST_WRONG, RECOVERY_CODES, add_second_factor, new_secret
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PASSWORD, NEW = "a long pass phrase", "another long phrase"
APP = "/operator/account/app"


@pytest.fixture
def root():
    return User.objects.create_user("root", password=PASSWORD, is_staff=True)


@pytest.fixture
def app(root):
    """The operator's app, set up an hour ago."""
    secret, at = new_secret(), timezone.now() - timedelta(hours=1)
    app = pyotp.TOTP(secret)
    app.recovery = add_second_factor(user=root, secret=secret, code=app.at(at), at=at)
    return app


def sign_in(name="root", password=PASSWORD, code=""):
    client = Client()
    fields = {"name": name, "password": password, "code": code}
    client.answer = client.post("/operator/sign-in", fields)
    return client


def is_signed_in(client):
    return client.get("/operator/").status_code == 200


def logged():
    """The activity log, oldest first."""
    return [f"{each.actor} {each.action} {each.about}" for each in Activity.objects.order_by("pk")]


def test_only_failed_sign_ins_count_towards_their_limit(root):
    assert all(is_signed_in(sign_in()) for _ in range(MOST_TRIES + 1))

    failed = [sign_in(password="guessed").answer.status_code for _ in range(MOST_TRIES + 1)]

    assert failed == [403] * MOST_TRIES + [429]


def test_a_new_password_ends_other_sessions_and_is_logged_without_it(root):
    here, elsewhere = sign_in(), sign_in()
    given = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}

    answer = here.post("/operator/account", given, follow=True)

    assert "Password changed." in answer.content.decode()
    assert is_signed_in(here)
    assert not is_signed_in(elsewhere)
    assert not is_signed_in(sign_in())
    assert is_signed_in(sign_in(password=NEW))
    assert logged() == ["operator root changed their password "]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("guessed", NEW, "old password was entered incorrectly"), (PASSWORD, "short", "too short")],
)
def test_a_wrong_or_weak_password_changes_nothing(root, old, new, message):
    client = sign_in()

    answer = client.post(
        "/operator/account", {"old_password": old, "new_password1": new, "new_password2": new}
    )

    assert answer.status_code == 400
    assert message in answer.content.decode()
    assert is_signed_in(sign_in())


def test_the_page_turns_the_app_on_and_off(root):
    client = sign_in()
    app = pyotp.TOTP(client.get(APP).context["secret"].replace(" ", ""))

    wrong = client.post(APP, {"code": "000000x"})
    done = client.post(APP, {"code": app.at(timezone.now())})
    codes = done.context["codes"]
    again = client.get(APP).content.decode()
    new = client.post(APP, {"code": codes[0], "codes": ""}).context["codes"]
    old = client.post(APP, {"code": codes[1], "remove": ""})
    kept = SecondFactor.objects.exists()
    client.post(APP, {"code": new[0], "remove": ""})

    assert (wrong.status_code, old.status_code) == (422, 422)
    assert "no-store" in done.headers["Cache-Control"]
    assert codes[0] not in again
    assert kept
    assert not SecondFactor.objects.exists()
    assert logged() == [
        "operator root set up an authenticator app ",
        "operator root set up an authenticator app ",
        "operator root made new recovery codes ",
        "operator root removed their authenticator app ",
        "operator root removed their authenticator app ",
    ]
    assert [bool(each.refusal) for each in Activity.objects.order_by("pk")] == [
        True, False, False, True, False,
    ]  # fmt: skip


def test_an_operator_with_an_app_needs_its_code(app):
    without, wrong = sign_in(), sign_in(code="000000")
    # Asked for once: a half minute later the app shows another code, which is right.
    code = app.at(timezone.now())
    right, used = sign_in(code=code), sign_in(code=code)
    by_recovery_code = sign_in(code=app.recovery[0])

    assert without.answer.status_code == wrong.answer.status_code == 403
    assert "Wrong name, password or code." in wrong.answer.content.decode()
    assert is_signed_in(right)
    assert not is_signed_in(used)
    assert is_signed_in(by_recovery_code)


def test_wrong_codes_lock_the_account(app):
    SecondFactor.objects.update(wrong_codes=MOST_WRONG - 1)

    sign_in(code="000000")

    assert sign_in(code=app.recovery[0]).answer.status_code == 403


def test_the_command_removes_a_lost_app(app, capsys):
    call_command("marketplace_operator", "root", remove_app=True)

    assert "password alone" in capsys.readouterr().out
    assert is_signed_in(sign_in())
    assert logged() == ["A command removed the authenticator app of root"]
    for name, message in (("root", "no authenticator app"), ("nobody", "No account")):
        with pytest.raises(CommandError, match=message):
            call_command("marketplace_operator", name, remove_app=True)


def test_a_new_password_by_the_command_keeps_the_app(app, capsys):
    call_command("marketplace_operator", "root", new_password=True)
    password = capsys.readouterr().out.split()[1]

    assert sign_in(password=password).answer.status_code == 403
    assert is_signed_in(sign_in(password=password, code=app.recovery[0]))


def test_a_new_password_for_a_misspelt_name_makes_no_operator():
    with pytest.raises(CommandError, match="No account is called 'roto'"):
        call_command("marketplace_operator", "roto", new_password=True)

    assert not User.objects.exists()


def test_a_second_operator_sets_a_password_by_a_link_that_works_once(root):
    page = sign_in().post("/operator/operators", {"name": "ada"}).content.decode()
    link = re.search(r"http://[^<]+/operator/new-password/[^<]+", page)[0]
    path = link.removeprefix("http://127.0.0.1:8001")
    early = sign_in("ada", "!")
    guest = Client()

    form = guest.get(path, follow=True)
    fields = {"new_password1": NEW, "new_password2": NEW}
    weak = guest.post(form.request["PATH_INFO"], {"new_password1": "ada", "new_password2": "ada"})
    done = guest.post(form.request["PATH_INFO"], fields, follow=True)
    again = Client().get(path, follow=True).content.decode()

    assert not is_signed_in(early)
    assert "too short" in weak.content.decode()
    assert "Your password is set." in done.content.decode()
    assert "used already, or has expired" in again
    assert is_signed_in(sign_in("ada", NEW))
    assert logged() == ["operator root added an operator ada"]


@pytest.mark.parametrize("name", ["root", "ROOT", "two words", "", "x" * 151])
def test_a_name_that_is_taken_or_odd_is_refused(root, name):
    answer = sign_in().post("/operator/operators", {"name": name})

    assert answer.status_code == 400
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    "command",
    [
        ("marketplace_operator", "ROOT"),
        ("createsuperuser", "--noinput", "--username=ROOT", "--email=root@example.org"),
    ],
)
def test_no_command_makes_an_operator_whose_name_differs_only_in_case(root, command):
    with pytest.raises(CommandError, match="already exists|perhaps with other capitals"):
        call_command(*command)


def test_a_removed_operator_is_signed_out_and_cannot_come_back(root):
    ada = User.objects.create_user("ada", password=NEW, is_staff=True)
    mine, theirs = sign_in(), sign_in("ada", NEW)

    mine.post(f"/operator/operators/{ada.pk}/removal")

    assert not is_signed_in(theirs)
    assert not is_signed_in(sign_in("ada", NEW))
    assert "ada" not in mine.get("/operator/operators").context["operators"].values_list(
        "username", flat=True
    )
    assert logged() == ["operator root removed an operator ada"]


def test_nobody_removes_themselves(root):
    client = sign_in()

    answer = client.post(f"/operator/operators/{root.pk}/removal", follow=True)

    assert "You cannot remove yourself" in answer.content.decode()
    assert is_signed_in(client)


@pytest.mark.django_db(transaction=True)
def test_of_two_operators_who_remove_each_other_one_stays(root):
    ada = add_operator(name="ada")

    def remove(pair):
        actor, operator = pair
        try:
            remove_operator(actor=actor, operator=operator)
        except DomainError:
            return "refused"
        return "removed"

    done = at_once(remove, [(root, ada), (ada, root)])

    assert sorted(done) == ["refused", "removed"]
    assert User.objects.count() == 1


def test_a_double_click_says_how_to_get_recovery_codes_that_were_not_seen(root, app):
    client = sign_in(code=app.recovery[0])
    form = {shared.once.FIELD: str(uuid4()), "code": app.recovery[1], "codes": ""}

    first, second = (client.post(APP, form, follow=True) for _ in range(2))

    assert len(first.context["codes"]) == RECOVERY_CODES
    assert "Links, keys and codes in its first answer" in second.content.decode()
