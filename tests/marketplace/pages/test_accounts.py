"""Signing in and up with Django's client."""

import time
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse

from marketplace import clock
from marketplace.errors import AccountRefused
from marketplace.models import Attempt, ExternalIdentity, UsedLink, Worker
from marketplace.services import accounts
from marketplace.services.accounts import count_attempt
from marketplace.services.links import invitation_url, sign_in_url, sso_signature
from marketplace.services.retention import forget
from tests.marketplace.factories import NOON, make_worker

pytestmark = pytest.mark.django_db

PASSWORD = "four quiet brown horses"
ACCOUNT = {"name": "Ada", "password": PASSWORD, "country": "nl"}


def path_of(url: str, settings) -> str:
    return url.removeprefix(settings.MARKETPLACE_URL)


def invitation(settings, *, uses: int = 1, days: int = 1) -> str:
    at = clock.now()
    made = accounts.invite(uses=uses, expires_at=at + timedelta(days=days), at=at)
    return path_of(invitation_url(made), settings)


def account(**changes: str) -> Worker:
    fields = {**ACCOUNT, **changes}
    return accounts.sign_up(**fields, address="192.0.2.1", at=clock.now())


def signed_in(worker: Worker, settings) -> Client:
    client = Client()
    client.get(path_of(sign_in_url(worker), settings))
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/profile").status_code == 200


def sso_link(**changes: str) -> str:
    fields = {"id": "member-17", "expires": str(int(time.time()) + 60), **changes}
    return "/sso?" + urlencode({**fields, "signature": sso_signature(fields)})


def test_an_invitation_makes_an_account_that_is_signed_in(client, settings):
    response = client.post(invitation(settings), ACCOUNT)

    worker = Worker.objects.get()
    assert (response.status_code, response.url) == (303, "/")
    assert (worker.name, worker.country) == ("Ada", "NL")
    assert PASSWORD not in worker.password
    assert is_signed_in(client)


def test_a_name_is_the_same_however_the_device_sends_it(client, settings):
    settings.SIGN_UP_IS_OPEN = True
    client.post("/sign-up", {**ACCOUNT, "name": "Zoe\u0301  Ada"})

    again = Client().post("/sign-in", {"name": "Zo\u00e9 Ada", "password": PASSWORD})
    spaced = Client().post("/sign-in", {"name": "Zoe\u0301   Ada", "password": PASSWORD})
    other = Client().post("/sign-up", {**ACCOUNT, "name": "Zo\u00e9 Ada", "password": "x" * 20})
    call_command("marketplace_worker", "Zoe\u0301 Ada")

    assert [each.status_code for each in (again, spaced, other)] == [303, 303, 400]
    assert Worker.objects.get().name == "Zo\u00e9 Ada"


@pytest.mark.parametrize("is_invited", [True, False])
def test_a_form_that_is_sent_twice_makes_one_account_and_signs_in_twice(settings, is_invited):
    settings.SIGN_UP_IS_OPEN = True
    path = invitation(settings) if is_invited else "/sign-up"
    here, elsewhere = Client(), Client()

    assert [one.post(path, ACCOUNT).status_code for one in (here, elsewhere)] == [303, 303]

    Worker.objects.update(created_at=F("created_at") - timedelta(minutes=2))
    assert (Worker.objects.count(), is_signed_in(elsewhere)) == (1, True)
    assert Client().post(path, ACCOUNT).status_code in (400, 403)


def test_an_invitation_is_good_for_its_number_of_accounts(client, settings):
    path = invitation(settings, uses=2)

    answers = [client.post(path, {**ACCOUNT, "name": f"Ada {n}"}).status_code for n in range(3)]

    assert answers == [303, 303, 403]
    assert Worker.objects.count() == 2


def test_a_second_click_on_a_used_invitation_leads_on_who_is_signed_in(client, settings):
    path = invitation(settings)
    client.post(path, ACCOUNT)

    again = client.get(path)

    assert (again.status_code, again.url) == (302, reverse("groups"))
    assert Client().get(path).status_code == 403


def test_a_refused_account_does_not_use_the_invitation_up(client, settings):
    path = invitation(settings)

    refused = client.post(path, {**ACCOUNT, "password": "short"})

    assert refused.status_code == 400
    assert client.post(path, ACCOUNT).status_code == 303


@pytest.mark.parametrize("end", ["x", "", ":"])
def test_a_forged_or_old_invitation_makes_no_account(client, settings, end):
    path = invitation(settings, days=1 if end else -1) + end

    assert client.get(path).status_code == 403
    assert client.post(path, ACCOUNT).status_code == 403
    assert not Worker.objects.exists()


def test_signing_up_is_closed_unless_the_operator_opens_it(client, settings):
    assert client.post("/sign-up", ACCOUNT).status_code == 403
    settings.SIGN_UP_IS_OPEN = True

    assert client.post("/sign-up", ACCOUNT).status_code == 303


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "a" * 101}, "name"),
        ({"name": "Ada\u202e"}, "name"),
        ({"name": "taken"}, "name"),
        ({"password": "password123"}, "password"),
        ({"password": "8472910365"}, "password"),
        ({"password": "Ada Lovelace", "name": "Ada Lovelace"}, "password"),
        ({"country": "XX"}, "country"),
    ],
)
def test_an_error_of_an_account_is_shown_at_its_field(client, settings, changes, field):
    account(name="taken", password="five quiet brown horses")
    settings.SIGN_UP_IS_OPEN = True

    response = client.post("/sign-up", {**ACCOUNT, **changes})

    marked = BeautifulSoup(response.content, "lxml").find(attrs={"aria-invalid": "true"})
    assert response.status_code == 400
    assert marked["name"] == field
    assert Worker.objects.count() == 1


def test_name_and_password_sign_in(client):
    account()

    response = client.post("/sign-in", {"name": "Ada", "password": PASSWORD, "next": "/earnings"})

    assert (response.status_code, response.url) == (303, "/earnings")
    assert is_signed_in(client)


@pytest.mark.parametrize("name", ["Ada", "nobody", "by link", "a\0b"])
def test_a_wrong_password_gets_the_same_answer_for_every_name(client, name):
    account()
    make_worker()
    Worker.objects.create(name="by link", created_at=NOON)

    response = client.post("/sign-in", {"name": name, "password": "wrong"})

    assert response.status_code == 403
    assert "Wrong name or password." in response.content.decode()
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    "target", ["https://example.org/", "//example.org", "/\\example.org", "javascript:alert(1)"]
)
def test_signing_in_never_leads_to_another_site(client, target):
    account()

    response = client.post("/sign-in", {"name": "Ada", "password": PASSWORD, "next": target})

    assert response.url == "/"


def test_signing_in_leads_to_an_address_and_not_to_a_page_of_this_name(client):
    account()

    answers = [
        client.post("/sign-in", {"name": "Ada", "password": PASSWORD, "next": name})
        for name in ("nothing", "queue")
    ]

    assert [(answer.status_code, answer.url) for answer in answers] == [
        (303, "nothing"), (303, "queue"),
    ]  # fmt: skip


def test_signing_in_needs_the_forms_token():
    account()
    client = Client(enforce_csrf_checks=True)

    assert client.post("/sign-in", {"name": "Ada", "password": PASSWORD}).status_code == 403


def test_a_planted_session_is_not_the_one_that_is_signed_in(client, settings):
    account()
    client.get("/sign-in")
    session = client.session
    session["planted"] = True
    session.save()
    client.cookies["marketplace_session"] = session.session_key

    client.post("/sign-in", {"name": "Ada", "password": PASSWORD})

    assert client.session.session_key != session.session_key
    assert "planted" not in client.session


def test_an_account_can_be_tried_so_often_even_from_many_addresses(client, settings):
    account()
    settings.ATTEMPTS_PER_ACCOUNT = 3

    answers = [
        client.post(
            "/sign-in", {"name": "Ada", "password": "wrong"}, REMOTE_ADDR=f"192.0.2.{number}"
        ).status_code
        for number in range(4)
    ]

    assert answers == [403, 403, 403, 429]
    assert client.post("/sign-in", {"name": "Ada", "password": PASSWORD}).status_code == 429


def test_an_address_can_try_a_limited_number_of_accounts(client, settings):
    settings.ATTEMPTS_PER_ADDRESS = 3

    answers = [
        client.post("/sign-in", {"name": f"name {number}", "password": "wrong"}).status_code
        for number in range(4)
    ]

    assert answers == [403, 403, 403, 429]
    elsewhere = client.post(
        "/sign-in", {"name": "name 9", "password": "wrong"}, REMOTE_ADDR="198.51.100.7"
    )
    assert elsewhere.status_code == 403


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_an_ipv6_network_counts_as_one_address(client, settings, first, second, is_same):
    settings.ATTEMPTS_PER_ADDRESS = 1

    answers = [
        client.post("/sign-in", {"name": name, "password": "wrong"}, REMOTE_ADDR=address)
        for name, address in (("one", first), ("two", second))
    ]

    assert answers[1].status_code == (429 if is_same else 403)


def test_attempts_beyond_the_limit_fill_no_table_and_prolong_no_wait(client, settings):
    settings.ATTEMPTS_PER_ACCOUNT = 3

    for _ in range(10):
        client.post("/sign-in", {"name": "Ada", "password": "wrong"})

    # Of the account, and of the address, which may try further names.
    assert Attempt.objects.count() == 3 + 10
    oldest = Attempt.objects.order_by("made_at").first().made_at
    at = oldest + settings.ATTEMPTS_WITHIN
    count_attempt(what="sign-in as", who="Ada", most=3, at=at)


def test_attempts_of_a_clock_that_was_ahead_lock_nobody(settings):
    count = {"what": "sign-in as", "who": "Ada", "most": 1}
    count_attempt(**count, at=clock.now() + timedelta(days=365))

    count_attempt(**count, at=clock.now())


@pytest.mark.parametrize(
    "name", ["\N{CYRILLIC SMALL LETTER A}da", "Ad\N{GREEK SMALL LETTER ALPHA}"]
)
def test_a_name_that_mixes_letters_that_look_alike_is_refused(name):
    with pytest.raises(AccountRefused, match="one script"):
        account(name=name)


@pytest.mark.parametrize(
    "name", ["Анна Шмидт", "Αθηνά", "日本 カナ", "Zoë Ó Brien-3", "Анна Smith", "\U00017000"]
)
def test_a_name_may_be_in_any_script(name):
    assert account(name=name).name == name


def test_names_that_are_taken_are_not_found_out_by_one_invitation_without_limit(client, settings):
    settings.NEW_ACCOUNTS_PER_ADDRESS = 2
    account()
    path = invitation(settings)

    answers = [
        client.post(path, {"name": "Ada", "password": f"{PASSWORD}!"}).status_code for _ in range(3)
    ]

    assert answers == [400, 400, 429]


def test_a_forwarded_address_counts_only_behind_a_proxy(client, settings):
    settings.ATTEMPTS_PER_ADDRESS = 1

    def answers() -> list[int]:
        Attempt.objects.all().delete()
        return [
            client.post(
                "/sign-in",
                {"name": f"name {number}", "password": "wrong"},
                headers={"X-Forwarded-For": f"203.0.113.9, 192.0.2.{number}"},
            ).status_code
            for number in range(2)
        ]

    alone = answers()
    settings.BEHIND_PROXY = True

    assert alone == [403, 429]
    assert answers() == [403, 403]


def test_attempts_are_forgotten_and_never_name_anybody(client, settings):
    client.post("/sign-in", {"name": "Ada", "password": "wrong"}, REMOTE_ADDR="192.0.2.77")
    kept = [str(row) for row in Attempt.objects.values()]

    assert len(kept) == 2
    assert not any("Ada" in row or "192.0.2.77" in row for row in kept)
    forget(at=clock.now() + settings.ATTEMPTS_WITHIN)
    assert not Attempt.objects.exists()


def test_new_accounts_from_one_address_are_limited(client, settings):
    settings.SIGN_UP_IS_OPEN = True
    settings.NEW_ACCOUNTS_PER_ADDRESS = 2

    answers = [
        client.post("/sign-up", {**ACCOUNT, "name": f"Ada {n}"}).status_code for n in range(3)
    ]

    assert answers == [303, 303, 429]


def test_another_site_signs_people_in_as_the_same_worker_each_time(client, settings):
    settings.SSO_SECRET = "shared"

    answers = [Client().get(sso_link(country="NL", next=page)) for page in ("/queue", "/profile")]

    assert [(each.status_code, each.url) for each in answers] == [
        (302, "/queue"), (302, "/profile"),
    ]  # fmt: skip
    assert Worker.objects.get().country == "NL"
    assert ExternalIdentity.objects.get().identifier == "member-17"


def test_a_link_of_another_site_signs_in_once(client, settings):
    settings.SSO_SECRET = "shared"
    link = sso_link(next="/queue")
    client.get(link)

    again, stranger = client.get(link), Client()

    assert (again.status_code, again.url) == (302, "/queue")
    assert stranger.get(link).status_code == 403
    assert not is_signed_in(stranger)


def test_a_used_link_is_forgotten_when_it_has_expired(client, settings):
    settings.SSO_SECRET = "shared"
    client.get(sso_link())
    assert UsedLink.objects.exists()

    forget(at=clock.now() + timedelta(minutes=2))

    assert not UsedLink.objects.exists()


@pytest.mark.parametrize("age", [-1, 3600])
def test_an_old_or_far_dated_link_of_another_site_is_refused(client, settings, age):
    settings.SSO_SECRET = "shared"

    assert client.get(sso_link(expires=str(int(time.time()) + age))).status_code == 403
    assert not Worker.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda link: link.replace("member-17", "member-18"),
        lambda link: link + "0",
        lambda link: link.partition("&signature")[0],
        lambda link: link + "&country=US",
    ],
)
def test_a_changed_link_of_another_site_is_refused(client, settings, change):
    settings.SSO_SECRET = "shared"

    assert client.get(change(sso_link())).status_code == 403
    assert not Worker.objects.exists()


def test_without_a_secret_no_other_site_signs_anybody_in(client):
    assert client.get(sso_link()).status_code == 404


def test_another_sites_link_leads_nowhere_else(client, settings):
    settings.SSO_SECRET = "shared"

    assert client.get(sso_link(next="https://example.org/")).url == "/"


def test_a_country_is_stated_once(settings):
    worker = make_worker()
    client = signed_in(worker, settings)

    first = client.post("/profile/country", {"country": "nl"})
    second = client.post("/profile/country", {"country": "US"})

    worker.refresh_from_db()
    assert (first.status_code, second.status_code, worker.country) == (303, 400, "NL")


def test_a_new_password_ends_the_sessions_elsewhere(settings):
    worker = account()
    here, elsewhere = signed_in(worker, settings), signed_in(worker, settings)

    here.post("/profile/password", {"current": PASSWORD, "password": "a quite different one"})

    assert is_signed_in(here)
    assert not is_signed_in(elsewhere)
    sign_in = {"name": "Ada", "password": "a quite different one"}
    assert elsewhere.post("/sign-in", sign_in).status_code == 303


def test_a_password_is_changed_only_with_the_current_one(settings):
    worker = account()
    client = signed_in(worker, settings)

    response = client.post("/profile/password", {"current": "no", "password": "another long one"})

    assert response.status_code == 400
    assert Worker.objects.get().password == worker.password


def test_signing_out_everywhere_ends_sessions_and_links(settings):
    worker = make_worker()
    link = path_of(sign_in_url(worker), settings)
    clients = [signed_in(worker, settings) for _ in range(2)]

    clients[0].post("/profile/sign-out")

    assert [is_signed_in(client) for client in clients] == [False, False]
    assert Client().get(link).status_code == 403


@pytest.mark.parametrize(
    "path", ["/profile/country", "/profile/password", "/profile/sign-out", "/auto-accept"]
)
def test_changes_need_the_forms_token(settings, path):
    client = Client(enforce_csrf_checks=True)
    client.get(path_of(sign_in_url(make_worker()), settings))

    assert client.post(path).status_code == 403


@pytest.mark.parametrize("path", ["/", "/sign-in", "/profile", "/queue", "/earnings"])
def test_no_other_page_can_frame_a_workers_page(settings, path):
    response = signed_in(make_worker(), settings).get(path)

    assert response.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert "[::1]" not in response.headers["Content-Security-Policy"]


def test_the_command_prints_a_link_that_makes_an_account(client, capsys, settings):
    call_command("marketplace_invite", "--uses", "2")

    path = path_of(capsys.readouterr().out.strip(), settings)

    assert client.post(path, ACCOUNT).status_code == 303


@pytest.mark.parametrize("option", [["--uses", "0"], ["--expires", "0"]])
def test_the_command_refuses_what_makes_no_sense(option):
    with pytest.raises(CommandError, match="is not from 1 to"):
        call_command("marketplace_invite", *option)


def test_the_sign_up_page_is_linked_only_where_it_is_open(client, settings):
    assert reverse("sign_up") not in client.get("/sign-in").content.decode()
    settings.SIGN_UP_IS_OPEN = True

    assert reverse("sign_up") in client.get("/sign-in").content.decode()
