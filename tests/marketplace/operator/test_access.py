"""One sign-in for both sites: what the marketplace's admin pages believe."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.core import signing
from django.test import Client
from django.utils import timezone

from marketplace.models import Activity, SiteAccount
from marketplace.services.operators import add_operator
from shared import hand_over
from shared.hand_over import SignedIn
from shared.second_factors.models import SecondFactor

pytestmark = pytest.mark.django_db

SECRET = "a secret of both sites, and of nobody else"
KARIN = SignedIn(name="karin", is_operator=True, has_second_factor=False)
BEGIN, END = "/operator/hand-over", "/operator/hand-over/end"


@pytest.fixture(autouse=True)
def both_sites(settings):
    settings.HAND_OVER_SECRET = SECRET
    settings.HAND_OVER_OPERATORS = True
    settings.SITE_URL = "https://site.example"
    settings.MARKETPLACE_URL = "http://testserver"


def state_of(client: Client, page: str = "/operator/people") -> str:
    """Begin a hand-over; return the state that the requester site is sent."""
    answer = client.get(BEGIN, {"next": page})
    parts = urlsplit(answer.url)
    assert (parts.netloc, parts.path) == ("site.example", "/hand-over/")
    return parse_qs(parts.query)["state"][0]


def text_for(state: str, user: SignedIn = KARIN) -> str:
    return hand_over.signed(user, to="http://testserver", state=state)


def arrive(client: Client, text: str):
    return client.get(END, {"text": text})


def is_in(client: Client) -> bool:
    return client.get("/operator/").status_code == 200


def test_an_operator_of_the_requester_site_is_signed_in_and_led_to_the_page():
    client = Client()

    answer = arrive(client, text_for(state_of(client)))

    assert (answer.status_code, answer.url) == (302, "/operator/people")
    assert is_in(client)
    operator = User.objects.get()
    assert (operator.username, operator.is_staff) == ("karin", True)
    assert not operator.has_usable_password()
    assert client.session.get_expiry_age() <= 8 * 3600
    assert Activity.objects.filter(action="came from the requester site").exists()
    for page in ("/operator/hits", "no-page"):
        assert client.get(BEGIN, {"next": page}).url == page


def test_an_operator_from_the_requester_site_sets_a_password_without_an_old_one():
    client, other = Client(), Client()
    assert "Sign in at Caption campaigns" in client.get("/operator/sign-in").content.decode()
    for each in (client, other):
        arrive(each, text_for(state_of(each)))
    page = client.get("/operator/account").content.decode()
    assert "You sign in at Caption campaigns" in page
    assert "by your password alone" not in page
    assert "old_password" not in page

    password = "a password of this site"
    client.post("/operator/account", {"new_password1": password, "new_password2": password})

    assert User.objects.get().check_password(password)
    assert [is_in(client), is_in(other)] == [True, False]
    assert "old_password" in client.get("/operator/account").content.decode()


def test_a_text_works_once_and_in_the_session_that_asked():
    client, other = Client(), Client()
    text = text_for(state_of(client))
    state_of(other)

    assert arrive(other, text).status_code == 403
    assert arrive(Client(), text).status_code == 403
    assert arrive(client, text).status_code == 302
    client.post("/operator/sign-out")
    assert arrive(client, text).status_code == 403
    assert not any(is_in(each) for each in (client, other))


def forged(state: str) -> str:
    given = [state, "karin", True, False]
    return signing.dumps(given, key="another secret", salt="shared.hand_over:http://testserver")


def by_the_sites_own_key(state: str) -> str:
    return signing.dumps([state, "karin", True, False], salt="shared.hand_over:http://testserver")


def for_another_site(state: str) -> str:
    return hand_over.signed(KARIN, to="https://other.example", state=state)


def changed(state: str) -> str:
    return text_for(state).replace(":", "x:", 1)


@pytest.mark.parametrize("make", [forged, by_the_sites_own_key, for_another_site, changed, str])
def test_a_text_that_the_requester_site_did_not_sign_for_this_one_signs_nobody_in(make):
    client = Client()

    assert arrive(client, make(state_of(client))).status_code == 403
    assert not is_in(client)


def test_an_old_text_signs_nobody_in(monkeypatch):
    client = Client()
    text = text_for(state_of(client))
    later = timezone.now().timestamp() + timedelta(seconds=61).total_seconds()
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)

    assert arrive(client, text).status_code == 403


def test_without_a_secret_there_is_no_hand_over(settings):
    client = Client()
    text = text_for(state_of(client))
    settings.HAND_OVER_SECRET = ""

    assert arrive(client, text).status_code == 403
    assert client.get(BEGIN).url == "/operator/sign-in"
    assert "requester site" not in client.get("/operator/sign-in").content.decode()


@pytest.mark.parametrize(
    "page", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"]
)
def test_the_page_afterwards_is_one_of_this_site(page):
    client = Client()

    assert arrive(client, text_for(state_of(client, page))).url == "/operator/"


def test_an_operator_whose_name_differs_only_in_case_is_the_same_here():
    client, karin = Client(), add_operator(name="Karin")

    arrive(client, text_for(state_of(client)))

    assert client.get("/operator/").wsgi_request.user == karin


def test_elsewhere_an_operator_allows_each_account(settings):
    settings.HAND_OVER_OPERATORS = False
    client, root = Client(), Client()
    root.force_login(add_operator(name="root"))
    lab = add_operator(name="lab")
    assert "No operator lets karin" in arrive(client, text_for(state_of(client))).content.decode()

    root.post(f"/operator/operators/{lab.pk}/site-account", {"name": "Kar\0in"})
    arrive(client, text_for(state_of(client)))

    assert is_in(client)
    assert client.get("/operator/").wsgi_request.user == lab
    assert 'value="karin"' in root.get("/operator/operators").content.decode()
    root.post(f"/operator/operators/{lab.pk}/site-account", {"name": ""})
    again = Client()
    assert arrive(again, text_for(state_of(again))).status_code == 403


def test_one_account_is_one_operator():
    root = Client()
    root.force_login(add_operator(name="root"))
    first, second = add_operator(name="first"), add_operator(name="second")
    for operator, name in ((first, "karin"), (second, "Karin")):
        root.post(f"/operator/operators/{operator.pk}/site-account", {"name": name})

    assert SiteAccount.objects.get().operator == first
    assert "signed in as another operator" in root.get("/operator/operators").content.decode()


def test_a_researcher_who_is_no_operator_is_not_let_in():
    client = Client()
    user = SignedIn(name="ben", is_operator=False, has_second_factor=False)

    assert arrive(client, text_for(state_of(client), user)).status_code == 403
    assert not User.objects.exists()


@pytest.mark.parametrize(("has_it_there", "status"), [(True, 302), (False, 403)])
def test_an_authenticator_app_here_needs_one_there(has_it_there, status):
    client, operator = Client(), add_operator(name="karin")
    SecondFactor.objects.create(user=operator, secret="A", created_at=timezone.now(), last_step=0)
    user = SignedIn(name="karin", is_operator=True, has_second_factor=has_it_there)

    assert arrive(client, text_for(state_of(client), user)).status_code == status


def test_a_removed_operator_account_is_not_entered():
    client = Client()
    User.objects.create_user("karin", is_staff=True, is_active=False)

    assert arrive(client, text_for(state_of(client))).status_code == 403
