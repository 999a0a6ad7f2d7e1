"""Signing in, and locks after wrong passwords."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.backends import ModelBackend
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from hits.services.retention import delete_old_attempts
from tests.factories import NOON, UserFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase"
HERE = "192.0.2.1"
PAGES = ["/sign-in/", "/admin/login/"]


@pytest.fixture(autouse=True)
def ada():
    user = UserFactory(username="ada", is_staff=True)
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def limits(settings):
    """Low limits: per account and address, per address, per account."""
    settings.SIGN_IN_LIMITS = (3, 5, 8)


def sign_in(client, *, password="wrong", username="ada", address=HERE, page="/sign-in/", **headers):
    fields = {"username": username, "password": password}
    return client.post(page, fields, REMOTE_ADDR=address, headers=headers)


def tries(client, count, **options):
    """Response statuses of this number of wrong passwords."""
    return [sign_in(client, **options).status_code for _ in range(count)]


def addresses(count):
    return [f"198.51.100.{number}" for number in range(1, count + 1)]


@pytest.mark.parametrize("page", PAGES)
def test_the_right_password_signs_in(client, page):
    assert sign_in(client, password=PASSWORD, page=page).status_code == 302


@pytest.mark.parametrize("page", PAGES)
def test_after_ten_wrong_passwords_the_right_one_is_not_looked_at(client, page):
    statuses = tries(client, 10, page=page)

    answer = sign_in(client, password=PASSWORD, page=page)

    assert statuses == [200] * 9 + [429]
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "900"
    assert "Wait 15 minutes" in answer.content.decode()
    assert "_auth_user_id" not in client.session


def test_a_lock_of_one_page_holds_for_the_others(client, limits):
    tries(client, 3, page="/admin/login/")

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_a_name_that_nobody_has_is_locked_like_one_that_somebody_has(client, limits):
    unknown = tries(client, 3, username="nobody", address="192.0.2.2")

    assert unknown == tries(client, 3) == [200, 200, 429]


def test_another_address_may_still_sign_in(client, limits):
    tries(client, 4)

    assert sign_in(client, password=PASSWORD, address="192.0.2.2").status_code == 302


def test_an_address_that_tries_many_accounts_is_locked(client, limits):
    for number in range(5):
        sign_in(client, username=f"name{number}")

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_an_account_that_many_addresses_try_is_locked(client, limits):
    for address in addresses(8):
        sign_in(client, address=address)

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_one_address_cannot_lock_everybody_out_of_an_account(client, limits):
    tries(client, 100)

    assert sign_in(client, password=PASSWORD, address="192.0.2.2").status_code == 302


def test_other_browsers_at_an_address_count_together(client, limits):
    for number in range(3):
        sign_in(client, **{"User-Agent": f"browser {number}"})

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_a_lock_ends_after_a_quarter_of_an_hour(client, limits):
    tries(client, 3)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))

    assert sign_in(client, password=PASSWORD).status_code == 302


def test_tries_during_a_lock_neither_prolong_it_nor_grow_a_table(client, limits):
    tries(client, 3)
    before = list(AccessAttempt.objects.values())

    tries(client, 50)
    for number in range(20):
        sign_in(client, **{"User-Agent": f"browser {number}"})

    assert list(AccessAttempt.objects.values()) == before


def test_signing_in_forgets_the_wrong_passwords_for_that_account_alone(client, limits):
    tries(client, 2)
    tries(client, 2, username="grace")

    sign_in(client, password=PASSWORD)

    assert AccessAttempt.objects.get().username == "grace"


def test_a_header_that_anybody_can_send_does_not_change_the_address(client, limits):
    for address in addresses(3):
        sign_in(client, **{"X-Forwarded-For": address, "X-Real-IP": address})

    answer = sign_in(client, password=PASSWORD, **{"X-Forwarded-For": "203.0.113.9"})

    assert answer.status_code == 429


def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_added(client, limits, settings):
    settings.BEHIND_PROXY = True
    for forged in addresses(3):
        sign_in(client, address="127.0.0.1", **{"X-Forwarded-For": f"{forged}, {HERE}"})

    locked = sign_in(client, password=PASSWORD, **{"X-Forwarded-For": f"203.0.113.9, {HERE}"})
    free = sign_in(client, password=PASSWORD, **{"X-Forwarded-For": f"{HERE}, 203.0.113.9"})

    assert (locked.status_code, free.status_code) == (429, 302)


def test_requests_without_an_address_share_one_limit(client, limits):
    for number in range(5):
        sign_in(client, username=f"name{number}", address="")

    assert sign_in(client, password=PASSWORD, username="grace", address="").status_code == 429


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", [HERE, ""])
def test_wrong_passwords_at_the_same_time_count_together(limits, address):
    statuses = at_once(lambda _: sign_in(Client(), address=address).status_code, range(8))

    # Each thread may have looked at one password before the others were counted.
    assert set(statuses) <= {200, 429}
    assert sign_in(Client(), password=PASSWORD, address=address).status_code == 429


@pytest.mark.django_db(transaction=True)
def test_passwords_looked_at_exceed_the_limit_by_fewer_than_the_threads(limits, monkeypatch):
    looked_at = []
    check = ModelBackend.authenticate

    def note(self, request, **credentials):
        looked_at.append(credentials)
        return check(self, request, **credentials)

    monkeypatch.setattr(ModelBackend, "authenticate", note)
    threads, limit = 4, 3

    at_once(lambda _: tries(Client(), 5), range(threads))

    assert limit <= len(looked_at) <= limit - 1 + threads


def test_an_operator_can_lift_a_lock(client, limits):
    tries(client, 3)

    call_command("axes_reset_username", "ada")

    assert sign_in(client, password=PASSWORD).status_code == 302


@pytest.mark.parametrize("username", ["\x00", "x" * 100_000, "𝒶𝒹𝒶", b"a\xff"])
@pytest.mark.parametrize("page", PAGES)
def test_odd_names_are_refused_without_an_error(client, username, page):
    assert sign_in(client, username=username, page=page).status_code == 200


def test_no_log_line_has_a_name_or_an_address(client, limits, caplog):
    tries(client, 4, username="typed a password here")

    assert "AXES" in caplog.text
    assert "typed a password here" not in caplog.text
    assert HERE not in caplog.text


def test_old_counts_are_deleted(client):
    tries(client, 1)
    AccessAttempt.objects.update(attempt_time=NOON)

    assert delete_old_attempts(at=NOON + timedelta(minutes=15)) == 0
    assert delete_old_attempts(at=NOON + timedelta(minutes=16)) == 1
