"""Groups of own people by API: a program signs requests with its requester's keys."""

import json
from time import sleep
from unittest.mock import Mock

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db import InterfaceError
from django.test import Client

from marketplace import clock
from marketplace.errors import GroupRefused
from marketplace.models import Activity, Membership, PeopleGroup, Worker
from marketplace.services import people_groups, retention
from marketplace.services.links import group_url
from marketplace.services.reviews import block_worker
from tests.marketplace.factories import make_hit_type, make_requester
from tests.marketplace.people import (
    TEXTS,
    begin,
    join,
    make_group,
    make_offer,
    membership_of,
    path_of,
    work,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db
GROUPS, HIT_TYPES = "/people/groups", "/people/hit-types"


class Program:
    """A program with the keys of a requester."""

    def __init__(self) -> None:
        self.requester = make_requester()
        self.secret = self.requester.secret_key

    def send(self, method, path, body=None, **headers):
        """The status and the JSON of the answer to a signed request."""
        content = b"" if body is None else json.dumps(body).encode()
        request = AWSRequest(method, f"http://testserver{path}", data=content)
        keys = Credentials(self.requester.access_key, self.secret)
        SigV4Auth(keys, "mturk-requester", "us-east-1").add_auth(request)
        signed = {**dict(request.headers), "Host": "testserver", **headers}
        client = Client(raise_request_exception=False)
        answer = client.generic(method, path, content, "application/json", headers=signed)
        return answer.status_code, answer.json()

    def make(self, **texts):
        status, group = self.send("POST", GROUPS, {**TEXTS, **texts})
        assert status == 201, group
        return group


@pytest.fixture
def program():
    return Program()


def test_a_program_lets_its_own_people_in(program):
    offer = make_offer(make_group(name="another group"), requester=program.requester)

    group = program.make()
    given = {"hit_type_id": offer.hit_type.public_id, "share": 2}
    _, with_tasks = program.send("POST", f"{GROUPS}/{group['id']}/tasks", given)
    person = join(PeopleGroup.objects.get(pk=group["id"]))

    assert Client().get(group["link"]).status_code == 200
    assert with_tasks["tasks"] == [{**given, "is_open": True}]
    assert begin(person, PeopleGroup.objects.get(pk=group["id"]).offers.get())
    _, (listed,) = program.send("GET", GROUPS)
    assert (listed["name"], listed["members"]) == (TEXTS["name"], 1)
    assert Activity.objects.filter(actor=program.requester.name, action="GiveTasks").exists()


def test_a_group_is_made_with_its_tasks_or_not_at_all(program):
    hit_type = make_hit_type(requester=program.requester)
    given = {"hit_type_id": hit_type.public_id, "share": 2}

    refused, _ = program.send("POST", GROUPS, {**TEXTS, **given, "share": 0})
    unknown, _ = program.send("POST", GROUPS, {**TEXTS, "hit_type_id": "x"})
    group = program.make(**given)

    assert (refused, unknown) == (400, 404)
    assert group["tasks"] == [{**given, "is_open": True}]
    assert PeopleGroup.objects.count() == 1


def test_names_of_groups_are_unique_within_a_requester(program):
    """Others' names are neither taken nor told."""
    make_group()
    Program().make()
    program.make()
    other = program.make(name="other")

    for method, path in (("POST", GROUPS), ("PATCH", f"{GROUPS}/{other['id']}")):
        status, answer = program.send(method, path, TEXTS)
        assert (status, answer["field"]) == (400, "name")
    with pytest.raises(GroupRefused, match="called"):
        make_group()


def test_a_closed_account_is_no_member(program, client):
    group = PeopleGroup.objects.get(pk=program.make()["id"])
    for name in ("Mia", "Eve"):
        join(group, name)
    retention.erase_worker(worker=Worker.objects.get(name="Eve"), at=clock.now())
    client.force_login(User.objects.create_user("root", is_staff=True))

    page = BeautifulSoup(client.get("/operator/people").content, "lxml")

    assert program.send("GET", GROUPS)[1][0]["members"] == 1
    assert [cell.text for cell in page.select('[data-label="People"]')] == ["1"]


def test_addresses_are_invited_once(program, mailoutbox, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    address = f"{GROUPS}/{program.make()['id']}/invitations"
    body = {"addresses": ["ada@example.org", "grace@example.org"]}

    first, again = program.send("POST", address, body), program.send("POST", address, body)

    assert first == (201, {"new": 2, "known": 0})
    assert again == (201, {"new": 0, "known": 2})


@pytest.mark.parametrize(("backend", "sends"), [("locmem", True), ("smtp", False)])
def test_a_group_says_whether_its_link_can_be_mailed(program, settings, backend, sends):
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{backend}.EmailBackend"

    assert program.make()["sends_mail"] is sends


def test_a_group_is_changed_closed_and_gets_a_new_link(program):
    group = program.make()
    address = f"{GROUPS}/{group['id']}"

    _, renewed = program.send("POST", f"{address}/link", {})
    _, changed = program.send("PATCH", address, {"consent": "A new text.", "is_open": False})

    assert renewed["link"] != group["link"]
    assert (changed["consent"], changed["is_open"], changed["link"]) == ("A new text.", False, None)
    assert changed["purpose"] == TEXTS["purpose"]
    assert PeopleGroup.objects.get().consent_texts.count() == 2


@pytest.mark.parametrize(
    ("method", "path", "headers", "fails", "expected"),
    [
        ("GET", f"{GROUPS}/none", {}, None, (404, "nothing at this address")),
        ("GET", GROUPS, {"Host": "other.example"}, None, (400, "host name is not allowed")),
        ("POST", GROUPS, {"Content-Length": "9000000"}, None, (413, "too large")),
        ("GET", GROUPS, {}, ZeroDivisionError(), (500, "Try again")),
        ("GET", GROUPS, {}, InterfaceError(), (503, "cannot reach its database")),
    ],
)
def test_errors_other_than_wrong_keys_are_answered_in_json_too(
    program, monkeypatch, settings, method, path, headers, fails, expected
):
    settings.ALLOWED_HOSTS = ["testserver"]
    if fails:
        monkeypatch.setattr("marketplace.api.people.count_call", Mock(side_effect=fails))

    status, answer = program.send(method, path, **headers)

    assert status == expected[0]
    assert expected[1] in answer["error"]


def test_a_request_that_is_too_large_is_answered_in_json_while_debugging(program, settings):
    settings.DEBUG = True

    status, answer = program.send("POST", GROUPS, **{"Content-Length": "9000000"})

    assert (status, answer["error"]) == (413, "The request is too large.")


def test_tasks_of_a_group_are_closed(program):
    group = program.make()
    hit_type = make_hit_type(requester=program.requester).public_id
    program.send("POST", f"{GROUPS}/{group['id']}/tasks", {"hit_type_id": hit_type, "share": None})

    _, closed = program.send("DELETE", f"{GROUPS}/{group['id']}/tasks/{hit_type}")

    assert closed["tasks"] == [{"hit_type_id": hit_type, "share": None, "is_open": False}]


def given_to(program, group, **changes):
    """The type of HITs of the program's that a group sees, and the address of the type."""
    offer = make_offer(group, requester=program.requester, **changes)
    return offer, f"{HIT_TYPES}/{offer.hit_type.public_id}"


def test_withdrawn_work_of_all_groups_is_listed_once_as_the_import_reads_it(program):
    first, of_operators = PeopleGroup.objects.get(pk=program.make()["id"]), make_group(name="other")
    offer, address = given_to(program, first)
    other = people_groups.offer(group=of_operators, hit_type=offer.hit_type, share=None)
    mia, ben = join(first, "Mia"), join(of_operators, "Ben")
    sent = [work(mia, offer), work(ben, other)]
    join(of_operators, client=mia)
    assert program.send("GET", f"{address}/withdrawals") == (200, [])
    both = {each.worker.public_id for each in Membership.objects.all()}
    assert sorted(program.send("PUT", address, {})[1]["members"]) == sorted(both)

    for member in Membership.objects.all():
        people_groups.withdraw(membership=member, by="operator", at=clock.now())

    _, listed = program.send("GET", f"{address}/withdrawals")
    assert [(each["worker_id"], each["assignment_id"]) for each in listed] == [
        (membership_of_group("Mia", first).worker.public_id, sent[0]),
        (membership_of_group("Ben", of_operators).worker.public_id, sent[1]),
    ]
    told = program.send("PUT", address, {})[1]
    assert (told["withdrawn"], told["members"]) == (2, [])


def membership_of_group(name, group):
    return Membership.objects.get(worker__name=name, group=group)


def test_a_program_says_what_its_hits_belong_to(program):
    group = PeopleGroup.objects.get(pk=program.make()["id"])
    offer, address = given_to(program, group)
    belongs = {"campaign": "dogs-de", "language": "de", "url": "http://lab:8000/campaigns/dogs-de/"}

    status, answer = program.send("PUT", address, belongs)

    offer.hit_type.refresh_from_db()
    assert status == 200
    assert answer["page"].endswith(f"/operator/people/{group.pk}")
    assert (offer.hit_type.campaign, offer.hit_type.language_name) == ("dogs-de", "German")
    assert offer.hit_type.campaign_url == belongs["url"]
    people_groups.offer(group=make_group(name="other"), hit_type=offer.hit_type, share=None)
    page = program.send("PUT", address, belongs)[1]["page"]
    assert page.endswith(f"/operator/groups?q={offer.hit_type.public_id}")


@pytest.mark.parametrize(
    "wrong",
    [
        {"campaign": "x" * 101},
        {"campaign": "a\nb"},
        {"language": "German, of course"},
        {"url": "javascript:alert(1)//https://lab.example/"},
        {"url": "https://lab.example/ onclick=x"},
        {"url": "https://marketplace.example@evil.example/"},
        {"url": f"https://lab.example/{'x' * 500}"},
        {"title": "x"},
    ],
)
def test_texts_that_no_page_could_show_are_refused(program, wrong):
    offer, address = given_to(program, make_group())

    assert program.send("PUT", address, wrong)[0] == 400
    offer.hit_type.refresh_from_db()
    assert offer.hit_type.campaign == offer.hit_type.campaign_url == ""


def test_names_are_told_as_far_as_the_consent_goes(program):
    group = PeopleGroup.objects.get(pk=program.make(shows_names=True)["id"])
    silent = make_group(name="silent")
    offer, address = given_to(program, group)
    for each, is_told in [(group, True), (silent, False)]:
        page = Client().get(path_of(group_url(each))).content.decode()
        assert ("sees your name beside your answers" in page) == is_told
    people_groups.offer(group=silent, hit_type=offer.hit_type, share=None)
    for name in ("Mia", "Gone", "Erased"):
        join(group, name)
    join(silent, "Ben")
    people_groups.withdraw(membership=membership_of("Gone"), by="person", at=clock.now())
    retention.erase_worker(worker=membership_of("Erased").worker, at=clock.now())

    _, told = program.send("GET", f"{address}/names")

    worker_id = membership_of("Mia").worker.public_id
    assert told == {"people": [{"worker_id": worker_id, "name": "Mia"}], "unnamed": 3}


def test_a_changed_text_hides_names_until_people_agree(program):
    made = program.make(shows_names=True)
    group = PeopleGroup.objects.get(pk=made["id"])
    _, address = given_to(program, group)
    mia = join(group, "Mia")
    program.send("PATCH", f"{GROUPS}/{group.pk}", {"consent": "Another text."})

    assert program.send("GET", f"{address}/names")[1] == {"people": [], "unnamed": 1}
    mia.post(f"/home/groups/{group.pk}/agreement", {"agree": "yes", "version": 2})
    assert program.send("GET", f"{address}/names")[1]["unnamed"] == 0
    program.send("PATCH", f"{GROUPS}/{group.pk}", {"shows_names": False})
    assert program.send("GET", f"{address}/names")[1] == {"people": [], "unnamed": 1}


def test_no_requester_sees_the_groups_or_gives_the_tasks_of_another(program):
    group, stranger = program.make(), Program()
    of_operators = make_group(name="of the operators")
    own = stranger.make(name="of the stranger")
    hit_type = make_hit_type(requester=program.requester).public_id

    for pk in (group["id"], of_operators.pk):
        for method, path in [
            ("GET", ""), ("PATCH", ""), ("POST", "/tasks"), ("POST", "/invitations"),
            ("POST", "/link"), ("DELETE", f"/tasks/{hit_type}"),
        ]:  # fmt: skip
            body = None if method in {"GET", "DELETE"} else {}
            assert stranger.send(method, f"{GROUPS}/{pk}{path}", body)[0] == 404
    taken = stranger.send("POST", f"{GROUPS}/{own['id']}/tasks", {"hit_type_id": hit_type})
    assert taken[0] == 404
    for method, path in [("PUT", ""), ("GET", "/withdrawals"), ("GET", "/names")]:
        body = {} if method == "PUT" else None
        assert stranger.send(method, f"{HIT_TYPES}/{hit_type}{path}", body)[0] == 404
    assert [each["name"] for each in stranger.send("GET", GROUPS)[1]] == ["of the stranger"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**TEXTS, "consent": ""}, "consent"),
        ({**TEXTS, "name": 3}, "name"),
        ({**TEXTS, "language": "tlh"}, "language"),
        ({**TEXTS, "purpose": None}, "purpose"),
        ({**TEXTS, "shares": 3}, "shares"),
        ({"name": "a name alone"}, "organizer"),
    ],
)
def test_a_wrong_group_is_refused_by_field(program, body, field):
    status, answer = program.send("POST", GROUPS, body)

    assert (status, answer["field"]) == (400, field)
    assert not PeopleGroup.objects.exists()


def test_nothing_is_answered_without_a_right_signature(program):
    group = program.make()
    program.secret = "x" * 40

    for method, path in [("GET", GROUPS), ("POST", GROUPS), ("GET", f"{GROUPS}/{group['id']}")]:
        assert program.send(method, path, None)[0] == 401
        assert program.send(method, path, None, Authorization="")[0] == 401
    assert program.send("PUT", GROUPS, {})[0] == 405


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_neither_undoes_the_other(program, monkeypatch):
    group, plan_of = program.make(), people_groups.plan_of

    def slow(found):
        plan = plan_of(found)
        sleep(0.3)
        return plan

    monkeypatch.setattr(people_groups, "plan_of", slow)
    changes = [{"organizer": "Another lab"}, {"contact": "help@lab.example"}]
    path = f"{GROUPS}/{group['id']}"

    answers = at_once(lambda change: program.send("PATCH", path, change), changes)

    assert [status for status, _ in answers] == [200, 200]
    found = PeopleGroup.objects.get(pk=group["id"])
    assert (found.organizer, found.contact) == ("Another lab", "help@lab.example")


def test_people_who_can_do_no_tasks_are_not_among_the_members(program):
    """The requester's site counts them to say how many more people to invite."""
    group = make_group()
    offer = make_offer(group, requester=program.requester)
    for name in ("Mia", "Ben", "Ida", "Eve"):
        join(group, name)
    ida = membership_of("Ida").worker
    block_worker(requester=program.requester, worker=ida, reason="No", at=clock.now())
    retention.erase_worker(worker=membership_of("Mia").worker, at=clock.now())
    Worker.objects.filter(name="Ben").update(is_suspended=True)

    _, told = program.send("PUT", f"{HIT_TYPES}/{offer.hit_type.public_id}", {})

    assert told["members"] == [Worker.objects.get(name="Eve").public_id]


@pytest.mark.parametrize("text", ["half \ud83d", "nothing \x00"])
def test_a_text_that_no_database_stores_is_refused(program, text):
    status, answer = program.send("POST", GROUPS, {**TEXTS, "purpose": text})
    assert (status, answer["field"]) == (400, "purpose")

    given = {"hit_type_id": text}
    status, answer = program.send("POST", f"{GROUPS}/{program.make()['id']}/tasks", given)
    assert (status, answer["field"]) == (400, "hit_type_id")
