"""Signing in by password and code, locks after wrong passwords, and links for new ones."""

import re
from datetime import timedelta

import pyotp
import pytest
from axes.models import AccessAttempt
from django.contrib.auth.backends import ModelBackend
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.limits import is_over
from accounts.pages.sign_in import MAILS_PER_HOUR, mails
from hits.services.retention import delete_old_attempts
from shared.second_factors.services import add_second_factor, new_secret
from tests.factories import NOON, UserFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase"
NEW = "an even longer pass phrase"
FORGOTTEN = "/sign-in/forgotten/"
HERE = "192.0.2.1"
PAGES = ["/sign-in/", "/admin/login/"]


@pytest.fixture(autouse=True)
def ada():
    user = UserFactory(username="ada", email="ada@example.org", is_staff=True)
    user.set_password(PASSWORD)
    user.save()
    return user


# Wrong passwords until a lock: for an account from one address, from an address, for an account.
FROM_ONE_ADDRESS, OF_ADDRESS, OF_ACCOUNT = LIMITS = (3, 5, 8)


@pytest.fixture
def low_limits(settings):
    settings.SIGN_IN_LIMITS = LIMITS


def sign_in(client, *, password="wrong", username="ada", address=HERE, page="/sign-in/", **headers):
    fields = {"username": username, "password": password}
    return client.post(page, fields, REMOTE_ADDR=address, headers=headers)


def tries(client, count, **options):
    """Response statuses of this number of wrong passwords."""
    return [sign_in(client, **options).status_code for _ in range(count)]


def addresses(count):
    return [f"198.51.100.{number}" for number in range(1, count + 1)]


def test_the_start_page_is_shown_after_signing_in(client):
    assert sign_in(client, password=PASSWORD).url == "/"


def test_a_wrong_password_is_answered_with_an_error(client):
    assert 'role="alert"' in sign_in(client).content.decode()


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


def test_a_lock_of_one_page_holds_for_the_others(client, low_limits):
    tries(client, FROM_ONE_ADDRESS, page="/admin/login/")

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_wrong_passwords_of_a_clock_that_was_ahead_lock_nobody(client, low_limits):
    tries(client, FROM_ONE_ADDRESS)
    AccessAttempt.objects.update(attempt_time=timezone.now() + timedelta(days=365))

    assert sign_in(client, password=PASSWORD).status_code == 302


def test_a_name_that_nobody_has_is_locked_like_one_that_somebody_has(client, low_limits):
    unknown = tries(client, FROM_ONE_ADDRESS, username="nobody", address="192.0.2.2")

    assert unknown == tries(client, FROM_ONE_ADDRESS) == [200, 200, 429]


def test_another_address_may_still_sign_in(client, low_limits):
    tries(client, 4)

    assert sign_in(client, password=PASSWORD, address="192.0.2.2").status_code == 302


def test_an_address_that_tries_many_accounts_is_locked(client, low_limits):
    for number in range(OF_ADDRESS):
        sign_in(client, username=f"name{number}")

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_an_account_that_many_addresses_try_is_locked(client, low_limits):
    for address in addresses(OF_ACCOUNT):
        sign_in(client, address=address)

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_one_address_cannot_lock_everybody_out_of_an_account(client, low_limits):
    tries(client, 100)

    assert sign_in(client, password=PASSWORD, address="192.0.2.2").status_code == 302


def test_other_browsers_at_an_address_count_together(client, low_limits):
    for number in range(FROM_ONE_ADDRESS):
        sign_in(client, **{"User-Agent": f"browser {number}"})

    assert sign_in(client, password=PASSWORD).status_code == 429


def test_a_lock_ends_after_a_quarter_of_an_hour(client, low_limits):
    tries(client, FROM_ONE_ADDRESS)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))

    assert sign_in(client, password=PASSWORD).status_code == 302


def test_tries_during_a_lock_neither_prolong_it_nor_grow_a_table(client, low_limits):
    tries(client, FROM_ONE_ADDRESS)
    before = list(AccessAttempt.objects.values())

    tries(client, 50)
    for number in range(20):
        sign_in(client, **{"User-Agent": f"browser {number}"})

    assert list(AccessAttempt.objects.values()) == before


def test_signing_in_forgets_the_wrong_passwords_for_that_account_alone(client, low_limits):
    tries(client, 2)
    tries(client, 2, username="grace")

    sign_in(client, password=PASSWORD)

    assert AccessAttempt.objects.get().username == "grace"


def test_a_header_that_anybody_can_send_does_not_change_the_address(client, low_limits):
    for address in addresses(3):
        sign_in(client, **{"X-Forwarded-For": address, "X-Real-IP": address})

    answer = sign_in(client, password=PASSWORD, **{"X-Forwarded-For": "203.0.113.9"})

    assert answer.status_code == 429


def test_behind_a_proxy_the_address_is_the_one_that_the_proxy_added(client, low_limits, settings):
    settings.BEHIND_PROXY = True
    for forged in addresses(3):
        sign_in(client, address="127.0.0.1", **{"X-Forwarded-For": f"{forged}, {HERE}"})

    locked = sign_in(client, password=PASSWORD, **{"X-Forwarded-For": f"203.0.113.9, {HERE}"})
    free = sign_in(client, password=PASSWORD, **{"X-Forwarded-For": f"{HERE}, 203.0.113.9"})

    assert (locked.status_code, free.status_code) == (429, 302)


def test_requests_without_an_address_share_one_limit(client, low_limits):
    for number in range(OF_ADDRESS):
        sign_in(client, username=f"name{number}", address="")

    assert sign_in(client, password=PASSWORD, username="grace", address="").status_code == 429


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", [HERE, ""])
def test_wrong_passwords_at_the_same_time_count_together(low_limits, address):
    statuses = at_once(lambda _: sign_in(Client(), address=address).status_code, range(8))

    # Each thread may have looked at one password before the others were counted.
    assert set(statuses) <= {200, 429}
    assert sign_in(Client(), password=PASSWORD, address=address).status_code == 429


@pytest.mark.django_db(transaction=True)
def test_passwords_looked_at_exceed_the_limit_by_fewer_than_the_threads(low_limits, monkeypatch):
    looked_at = []
    check = ModelBackend.authenticate

    def note(self, request, **credentials):
        looked_at.append(credentials)
        return check(self, request, **credentials)

    monkeypatch.setattr(ModelBackend, "authenticate", note)
    threads, limit = 4, FROM_ONE_ADDRESS

    at_once(lambda _: tries(Client(), 5), range(threads))

    assert limit <= len(looked_at) <= limit - 1 + threads


def test_an_operator_can_lift_a_lock(client, low_limits):
    tries(client, FROM_ONE_ADDRESS)

    call_command("axes_reset_username", "ada")

    assert sign_in(client, password=PASSWORD).status_code == 302


@pytest.mark.parametrize("username", ["\x00", "x" * 100_000, "𝒶𝒹𝒶", b"a\xff"])
@pytest.mark.parametrize("page", PAGES)
def test_odd_names_are_refused_without_an_error(client, username, page):
    assert sign_in(client, username=username, page=page).status_code == 200


def test_no_log_line_has_a_name_or_an_address(client, low_limits, caplog):
    tries(client, 4, username="typed a password here")

    assert "AXES" in caplog.text
    assert "typed a password here" not in caplog.text
    assert HERE not in caplog.text


def test_old_counts_are_deleted(client):
    tries(client, 1)
    AccessAttempt.objects.update(attempt_time=NOON)

    assert delete_old_attempts(at=NOON + timedelta(minutes=15)) == 0
    assert delete_old_attempts(at=NOON + timedelta(minutes=16)) == 1


# With an authenticator app


@pytest.fixture
def recovery(ada):
    """Recovery codes of an app that the user set up an hour before NOON."""
    secret, at = new_secret(), NOON - timedelta(hours=1)
    return add_second_factor(user=ada, secret=secret, code=pyotp.TOTP(secret).at(at), at=at)


def sign_in_with(code, *, page="/sign-in/"):
    return Client().post(page, {"username": "ada", "password": PASSWORD, "code": code})


@pytest.mark.parametrize("page", [*PAGES, "/api/token/"])
def test_the_password_alone_opens_nothing(recovery, page):
    answer = sign_in_with("", page=page)

    assert answer.status_code in {200, 400}
    assert "_auth_user_id" not in answer.client.session


def test_sign_in_and_tokens_take_a_code(recovery):
    signed_in = sign_in_with(recovery[0])
    token = sign_in_with(recovery[1], page="/api/token/")
    again = sign_in_with(recovery[0])

    assert signed_in.status_code == 302
    assert token.status_code == 200
    assert "Name, password or code is wrong." in again.content.decode()


def test_accounts_without_an_app_leave_the_code_empty():
    assert sign_in_with("").status_code == 302


# A forgotten password


def ask_for_link(client, email="ada@example.org"):
    """The answer, once the mails are sent."""
    answer = client.post(FORGOTTEN, {"email": email}, headers={"host": "127.0.0.1"})
    mails.submit(lambda: None).result()
    return answer


def set_password(link):
    client = Client()
    form = client.get(link, follow=True)
    fields = {"new_password1": NEW, "new_password2": NEW}
    return client.post(form.request["PATH_INFO"], fields, follow=True)


def test_a_link_by_mail_sets_a_new_password_once(client, ada):
    ask_for_link(client)
    (sent,) = mail.outbox
    link = re.search(r"http://127\.0\.0\.1:8000(/sign-in/new-password/\S+)", sent.body)[1]

    done = set_password(link)
    again = Client().get(link, follow=True).content.decode()

    assert sent.to == ["ada@example.org"]
    assert "Your new password is set" in done.content.decode()
    assert "_auth_user_id" not in done.client.session
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    assert "was used, or has expired" in again


def test_a_link_goes_to_the_domain_of_the_accounts_address(client, ada):
    ada.email = "ada@straße.de"
    ada.save()

    ask_for_link(client, "ada@straße.de")

    assert [sent.to for sent in mail.outbox] == [["ada@xn--strae-oqa.de"]]


@pytest.mark.parametrize("email", ["nobody@example.org", "ADA@example.org"])
def test_the_answer_is_the_same_for_any_address(client, ada, email):
    answer = ask_for_link(client, email)

    assert (answer.status_code, answer["Location"]) == (302, f"{FORGOTTEN}sent/")
    assert "If an account has this" in client.get(answer["Location"]).content.decode()


def test_closed_accounts_get_no_link(client, ada):
    ada.is_active = False
    ada.save()

    ask_for_link(client)

    assert not mail.outbox


def test_an_address_gets_few_mails(client, ada):
    answers = [ask_for_link(client).status_code for _ in range(MAILS_PER_HOUR + 2)]

    assert set(answers) == {302}
    assert len(mail.outbox) == MAILS_PER_HOUR


def test_one_network_sends_few_forms(client, ada, settings):
    settings.PUBLIC_POSTS_PER_HOUR = 2

    answers = [ask_for_link(client, f"{n}@example.org") for n in range(3)]
    sign_up = client.post("/account/invitations/none/", {})
    other = client.post(FORGOTTEN, {"email": "a@example.org"}, REMOTE_ADDR="192.0.2.9")

    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert answers[2].headers["Retry-After"] == "3600"
    assert sign_up.status_code == 429
    assert other.status_code == 302


def test_other_visitors_do_not_end_a_count():
    assert not is_over("links to ada", 1)

    for number in range(1000):
        is_over(f"reads of visitor {number}", 1)

    assert is_over("links to ada", 1)


def test_a_site_without_mail_has_no_such_page(client, settings):
    settings.EMAIL_HOST, settings.EMAIL_BACKEND = "", "django.core.mail.backends.smtp.EmailBackend"

    page = client.get("/sign-in/").content.decode()

    assert client.get(FORGOTTEN).status_code == 404
    assert FORGOTTEN not in page
    assert "Ask an operator" in page


@pytest.mark.parametrize(
    ("path", "kept"), [("/", "no-store"), ("/jobs/", "no-store"), ("/api/campaigns/", None)]
)
def test_browsers_keep_no_page_to_show_again_after_signing_out(client, ada, path, kept):
    client.force_login(ada)

    assert client.get(path).headers.get("Cache-Control") == kept
