"""API tokens: issue, expiry, withdrawal, and the page that lists them."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from django.db import IntegrityError, connection
from django.test.client import MULTIPART_CONTENT
from django.utils import timezone

from accounts.models import ApiToken
from accounts.services import api_tokens
from accounts.services.api_tokens import (
    MOST_DAYS,
    TokenRefused,
    delete_old_tokens,
    issue_token,
    use_token,
    withdraw_all_tokens,
    withdraw_token,
)
from tests.factories import NOON, UserFactory

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase"
DAY = timedelta(days=1)


@pytest.fixture
def ada():
    user = UserFactory(username="ada")
    user.set_password(PASSWORD)
    user.save()
    return user


def ask(client, **fields):
    return client.post("/api/token/", {"username": "ada", "password": PASSWORD, **fields})


def read(client, text):
    return client.get("/api/campaigns/", headers={"Authorization": f"Token {text}"})


def test_a_name_and_a_password_give_a_token_that_opens_the_api(client, ada):
    answer = ask(client)

    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert read(client, answer.json()["token"]).status_code == 200


@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "application/json", MULTIPART_CONTENT]
)
def test_a_token_has_every_scope_however_the_request_is_written(client, ada, content_type):
    fields = {"username": "ada", "password": PASSWORD}
    is_form = content_type == "application/x-www-form-urlencoded"

    answer = client.post(
        "/api/token/", urlencode(fields) if is_form else fields, content_type=content_type
    )

    assert answer.json()["scopes"] == ["read", "review", "run", "pay"]


def test_the_answer_says_when_the_token_ends(client, ada):
    answer = ask(client).json()

    token = ApiToken.objects.get()
    assert token.expires_at - token.created_at == MOST_DAYS * DAY
    assert answer["expires_at"] == token.expires_at.isoformat().replace("+00:00", "Z")


def test_a_program_may_ask_for_less_time_and_say_what_it_is(client, ada):
    ask(client, days=2, name="nightly export")

    token = ApiToken.objects.get()
    assert (token.expires_at - token.created_at, token.name) == (2 * DAY, "nightly export")


@pytest.mark.parametrize(
    "fields",
    [
        {"password": "wrong"},
        {"username": "nobody"},
        {"username": "x" * 10_000},
        {"username": "\x00"},
        {"password": ""},
        {"days": 0},
        {"days": 91},
        {"days": "a while"},
        {"name": "x" * 101},
    ],
)
def test_a_wrong_request_is_refused_and_makes_no_token(client, ada, fields):
    assert ask(client, **fields).status_code == 400
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"[]", "application/json"),
        (b'{"username": ["ada"], "password": {}}', "application/json"),
        (b'{"username": "\\ud800", "password": "x"}', "application/json"),
        (b"\xff\xfe", "application/json"),
        (b"username=%FF&password=%00", "application/x-www-form-urlencoded"),
        (b"", "text/plain"),
    ],
)
def test_an_odd_body_is_refused_without_an_error(client, ada, body, content_type):
    answer = client.post("/api/token/", body, content_type=content_type)

    assert 400 <= answer.status_code < 500


def test_an_account_that_is_closed_gets_none_and_its_tokens_end(client, ada):
    text = ask(client).json()["token"]
    ada.is_active = False
    ada.save()

    assert ask(client).status_code == 400
    assert read(client, text).status_code == 401


def test_a_session_alone_makes_no_token(client, ada):
    client.force_login(ada)

    assert client.post("/api/token/", {}).status_code == 400


def test_wrong_passwords_lock_the_tokens_address_too(client, ada, settings):
    settings.SIGN_IN_LIMITS = (3, 50, 100)

    statuses = [ask(client, password="wrong").status_code for _ in range(3)]
    answer = ask(client)

    assert statuses == [400, 400, 429]
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "900"
    message = "Too many wrong passwords. Wait 15 minutes, then try again."
    assert answer.json()["detail"] == message
    assert not ApiToken.objects.exists()


def test_wrong_passwords_as_json_count_too(client, ada, settings):
    settings.SIGN_IN_LIMITS = (3, 50, 100)
    fields = {"username": "ada", "password": "wrong"}

    statuses = [
        client.post("/api/token/", fields, content_type="application/json").status_code
        for _ in range(3)
    ]

    assert statuses == [400, 400, 429]


def test_a_lock_does_not_end_a_token(client, ada, settings):
    text = ask(client).json()["token"]
    settings.SIGN_IN_LIMITS = (1, 1, 1)
    ask(client, password="wrong")

    assert read(client, text).status_code == 200


def test_a_program_withdraws_its_own_token(client, ada):
    text, other = ask(client).json()["token"], ask(client).json()["token"]

    answer = client.delete("/api/token/", headers={"Authorization": f"Token {text}"})

    assert answer.status_code == 204
    assert (read(client, text).status_code, read(client, other).status_code) == (401, 200)


def test_a_session_withdraws_nothing_there(client, ada):
    client.force_login(ada)

    assert client.delete("/api/token/").status_code == 401


@pytest.mark.parametrize(
    "header",
    [
        b"Token",
        b"Token a b",
        b"Token \xff\xfe",
        b"Token \x00",
        b"Token " + b"x" * 5000,
        b"Bearer x",
    ],
)
def test_an_odd_header_is_refused_without_an_error(client, header):
    answer = client.get("/api/campaigns/", HTTP_AUTHORIZATION=header.decode("latin-1"))

    assert answer.status_code == 401


def test_the_text_of_a_token_is_not_stored(ada):
    _, text = issue_token(user=ada, at=NOON)

    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_apitoken")
        (row,) = cursor.fetchall()
    assert not [value for value in row if text in str(value)]


def test_a_token_ends_at_its_time(ada):
    token, text = issue_token(user=ada, at=NOON, days=1)

    assert use_token(text=text, at=NOON + DAY - timedelta(seconds=1)) == token
    with pytest.raises(TokenRefused):
        use_token(text=text, at=NOON + DAY)


def test_a_token_cannot_last_longer_than_the_site_allows(ada):
    token, _ = issue_token(user=ada, at=NOON, days=500)

    assert token.expires_at == NOON + MOST_DAYS * DAY


def test_a_token_is_withdrawn_once(ada):
    token, text = issue_token(user=ada, at=NOON)

    withdraw_token(token=token, at=NOON)

    with pytest.raises(TokenRefused):
        withdraw_token(token=token, at=NOON)
    with pytest.raises(TokenRefused):
        use_token(text=text, at=NOON)


def test_all_tokens_of_one_account_are_withdrawn(ada):
    issue_token(user=ada, at=NOON)
    issue_token(user=ada, at=NOON)
    _, others = issue_token(user=UserFactory(), at=NOON)

    assert withdraw_all_tokens(user=ada, at=NOON) == 2
    assert use_token(text=others, at=NOON)


def test_of_too_many_tokens_the_oldest_is_withdrawn(ada, monkeypatch):
    monkeypatch.setattr(api_tokens, "MOST_TOKENS", 3)
    texts = [issue_token(user=ada, at=NOON + n * timedelta(minutes=1))[1] for n in range(4)]

    later = NOON + timedelta(hours=1)
    valid = [text for text in texts if ApiToken.objects.valid(later).filter(hint=text[:6]).exists()]
    assert valid == texts[1:]


def test_use_is_noted_once_an_hour(ada, django_assert_num_queries):
    token, text = issue_token(user=ada, at=NOON)

    use_token(text=text, at=NOON)
    with django_assert_num_queries(1):
        use_token(text=text, at=NOON + timedelta(minutes=59))
    use_token(text=text, at=NOON + timedelta(minutes=60))

    token.refresh_from_db()
    assert token.last_used_at == NOON + timedelta(minutes=60)


def test_a_token_must_end_after_it_begins(ada):
    with pytest.raises(IntegrityError, match="api_token_ends_after_it_begins"):
        ApiToken.objects.create(user=ada, digest="d", hint="h", created_at=NOON, expires_at=NOON)


def test_old_tokens_are_deleted(ada):
    issue_token(user=ada, at=NOON, days=1)

    assert delete_old_tokens(at=NOON + 31 * DAY) == 0
    assert delete_old_tokens(at=NOON + 32 * DAY) == 1


def test_the_page_shows_a_new_token_once(client, ada):
    client.force_login(ada)

    made = client.post("/account/tokens/", {"name": "nightly export", "days": 30})
    later = client.get("/account/tokens/")

    text = made.context["new_token"]
    assert text in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert text not in later.content.decode()
    assert "nightly export" in later.content.decode()
    assert read(client, text).status_code == 200


def test_the_page_refuses_more_days_than_the_site_allows(client, ada):
    client.force_login(ada)

    answer = client.post("/account/tokens/", {"name": "nightly export", "days": 1000})

    assert answer.status_code == 422
    assert "less than or equal to 90." in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_the_page_shows_nobody_elses_tokens(client, ada):
    issue_token(user=UserFactory(), name="not yours", at=timezone.now())
    client.force_login(ada)

    assert "not yours" not in client.get("/account/tokens/").content.decode()


def test_the_pages_button_withdraws_a_token(client, ada):
    token, text = issue_token(user=ada, at=timezone.now())
    client.force_login(ada)

    page = BeautifulSoup(client.get("/account/tokens/").content, "html.parser")
    asked = page.select_one("details:not([open]) > form")
    answer = client.post(asked["action"], follow=True)

    assert f"Token {text[:6]}… withdrawn" in answer.content.decode()
    assert read(client, text).status_code == 401


def test_nobody_withdraws_somebody_elses_token(client, ada):
    token, text = issue_token(user=UserFactory(), at=timezone.now())
    client.force_login(ada)

    assert client.post(f"/account/tokens/{token.pk}/withdraw/").status_code == 404
    assert use_token(text=text, at=timezone.now())


def test_a_visit_withdraws_nothing(client, ada):
    token, _ = issue_token(user=ada, at=timezone.now())
    client.force_login(ada)

    assert client.get(f"/account/tokens/{token.pk}/withdraw/").status_code == 405
