"""Every form of the marketplace's pages, sent twice and sent with rubbish.

The addresses are those of the URL list, and the forms are those that the pages show, filled in with
VALUES.
"""

from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, get_resolver, resolve, reverse

import shared.once
from marketplace import clock
from marketplace.models import Activity, Hit, SentForm, Worker
from marketplace.pages import decorators
from marketplace.services import accounts
from marketplace.services.links import sign_in_url
from marketplace.services.qualification_types import create_qualification_type
from tests.marketplace.factories import (
    NOON,
    make_hit,
    make_hit_type,
    make_requester,
    make_study,
    make_worker,
)
from tests.marketplace.people import join, make_group, make_offer
from tests.marketplace.questions import forms as questions
from tests.rubbish import FORM, RUBBISH, PageForm, filled_in, forms_of, query, urlencoded

pytestmark = pytest.mark.django_db

OPERATOR = sorted(
    each.name
    for each in get_resolver("marketplace.operator.urls").url_patterns
    if isinstance(each, URLPattern)
)
VALUES = {
    "amount": "2.50",
    "balance": "5.00",
    "code": "C0FFEE",
    "completion_code": "C0FFEE",
    "consent": "You may stop at any time.",
    "contact": "lab@university.example",
    "days": "7",
    "name": "second",
    "organizer": "Dr. Example",
    "purpose": "We study descriptions.",
    "return_url": "https://panel.example/done",
    "uses": "1",
    "maximum": "1",
}
# What says that a form was sent; neither is what the form makes.
NOT_COUNTED = {Activity, SentForm, Session}


@pytest.fixture
def addresses():
    """The address of each of the operator's pages, about rows that exist."""
    requester, worker = make_requester(), make_worker()
    hit_type = make_hit_type(requester)
    hit = make_hit(hit_type)
    group = make_group()
    offer = make_offer(group)
    join(group)
    accounts.invite(uses=1, expires_at=NOON.replace(year=2100), at=NOON)
    make_study(hit_type)
    found = {
        "requester": requester.pk,
        "worker": worker.public_id,
        "hit": hit.public_id,
        "people": group.pk,
        "offer_pk": offer.pk,
        "slug": "scenes",
    }
    return {name: _address(name, found) for name in OPERATOR}


def _address(name, found):
    arguments = {
        "requester": ["requester"],
        "worker": ["worker"],
        "hit": ["hit"],
        "people_group": ["people"],
        "people_hours": ["people"],
        "study_at_panel": ["slug"],
    }
    try:
        return reverse(f"operator:{name}", args=[found[key] for key in arguments.get(name, [])])
    except NoReverseMatch:  # An address that only takes a POST, or shows a file.
        return ""


def rows() -> Counter:
    return Counter(
        {model: model.objects.count() for model in apps.get_models() if model not in NOT_COUNTED}
    )


def own_forms(client: Client, address: str) -> list[PageForm]:
    page = client.get(address)
    if page.status_code != 200 or not page["Content-Type"].startswith("text/html"):
        return []
    forms = forms_of(page.content.decode(), address)
    return [form for form in forms if form.address != reverse("operator:sign_out")]


@pytest.mark.slow
def test_an_operators_form_that_is_posted_twice_creates_its_rows_once(operator, addresses):
    accepted = set()
    for address in filter(None, addresses.values()):
        for form in own_forms(operator, address):
            for fields in filled_in(form, VALUES):
                with transaction.atomic():
                    first = operator.post(form.address, fields)
                    before, balances = rows(), money()
                    second = operator.post(form.address, fields)
                    made, after = rows() - before, money()
                    transaction.set_rollback(True)
                said = f"{form.address} {fields}: {first.status_code}, {second.status_code}"
                assert not made, f"{said} makes twice: {made}"
                assert balances == after, f"{said} moves money twice"
                assert second.status_code < 500, said
                if first.status_code < 400:
                    accepted.add(resolve(form.address).url_name)

    assert accepted >= {"add_money", "invitations", "people", "requesters", "replace_keys"}


def money() -> list:
    model = apps.get_model("marketplace", "Requester")
    return list(model.objects.order_by("pk").values_list("available_balance", "held_balance"))


@pytest.mark.slow
def test_rubbish_in_an_operators_form_is_refused_in_words(operator, addresses):
    for address in filter(None, addresses.values()):
        for value in RUBBISH:
            assert operator.get(address + query(value)).status_code < 500, (address, value)
        for form in own_forms(operator, address):
            for fields in form.with_rubbish():
                assert sent(operator, form.address, fields) < 500, (form.address, fields)


def sent(client: Client, address: str, fields: dict) -> int:
    """The status of the answer to a form with these fields; its changes are undone."""
    with transaction.atomic():
        answer = client.post(address, urlencoded(fields), content_type=FORM)
        transaction.set_rollback(True)
    return answer.status_code


def test_a_form_that_was_refused_can_be_sent_again(operator):
    fields = {"uses": "0", "days": "7", shared.once.FIELD: str(uuid4())}

    refused = operator.post("/operator/invitations", fields)
    mended = operator.post("/operator/invitations", {**fields, "uses": "1"})

    assert (refused.status_code, mended.status_code) == (400, 302)


def test_money_is_paid_in_once_and_the_second_answer_leads_to_the_same_page(operator):
    requester = make_requester("1.00")
    fields = {"amount": "2.50", shared.once.FIELD: str(uuid4())}
    address = f"/operator/requesters/{requester.pk}/money"

    first, second = (operator.post(address, fields) for _ in range(2))

    requester.refresh_from_db()
    assert str(requester.available_balance) == "3.50"
    assert second.url == first.url


def test_a_double_click_shows_a_sign_in_link(operator):
    page = f"/operator/workers/{make_worker().public_id}"
    forms = forms_of(operator.get(page).content.decode(), page)
    (form,) = [form for form in forms if form.address == f"{page}/link"]

    answers = [operator.post(form.address, form.fields) for _ in range(2)]

    assert all("It signs the worker in" in answer.content.decode() for answer in answers)


def test_a_double_click_that_creates_workers_shows_them(operator):
    fields = {"names": "Ada", "country": "US", "approved": "0", "rate": "99"}
    fields[shared.once.FIELD] = str(uuid4())

    answers = [operator.post("/operator/workers", fields) for _ in range(2)]

    assert answers[1].url == "/operator/workers"
    assert "if you did not see them, make new ones" in operator.get(answers[1].url).content.decode()
    assert Worker.objects.get().name == "Ada"


def test_another_amount_after_going_back_is_paid_in_too(operator):
    requester = make_requester("1.00")
    key, address = str(uuid4()), f"/operator/requesters/{requester.pk}/money"

    for amount in ("2.50", "4.00"):
        operator.post(address, {"amount": amount, shared.once.FIELD: key})

    requester.refresh_from_db()
    assert str(requester.available_balance) == "7.50"


def test_a_double_click_accepts_one_hit():
    worker, hit_type = make_worker(), make_hit_type()
    hits = [make_hit(hit_type) for _ in range(3)]
    Hit.objects.filter(pk__in=[hit.pk for hit in hits]).update(expires_at=NOON.replace(year=2100))
    client = Client()
    client.get("/" + sign_in_url(worker).split("/", 3)[3])
    (form, *_) = [
        form
        for form in forms_of(client.get("/").content.decode(), "/")
        if form.address.endswith("/accept")
    ]

    answers = [client.post(form.address, form.fields) for _ in range(2)]
    client.post(form.address)

    assert answers[0].url == answers[1].url
    assert worker.assignments.count() == 2


def test_the_form_of_a_page_gone_back_to_accepts_another_hit_after_the_first():
    worker, hit_type = make_worker(), make_hit_type()
    hits = [make_hit(hit_type) for _ in range(3)]
    Hit.objects.filter(pk__in=[hit.pk for hit in hits]).update(expires_at=NOON.replace(year=2100))
    client = Client()
    client.get("/" + sign_in_url(worker).split("/", 3)[3])
    address, fields = f"/groups/{hit_type.public_id}/accept", {shared.once.FIELD: str(uuid4())}
    first = client.post(address, fields).url
    client.post("/mturk/externalSubmit", {"assignmentId": first.rpartition("/")[2], "text": "A"})

    second, double_click = (client.post(address, fields).url for _ in range(2))

    assert first != second == double_click
    assert worker.assignments.count() == 2


def test_an_unanswered_form_leads_to_the_queue_of_the_worker(rf, monkeypatch):
    monkeypatch.setattr(shared.once, "sleep", lambda _: None)
    form = rf.post("/", {shared.once.FIELD: uuid4()})
    SentForm.objects.create(key=shared.once.key_of(form), sent_at=NOON.replace(year=2100))

    answer = decorators.carried_out_once(form, fail, otherwise="queue")

    assert answer.url == "/queue"


def fail():
    raise AssertionError("carried out twice")


def test_a_worker_who_clicks_twice_reads_of_no_refusal():
    tested = create_qualification_type(
        requester=make_requester(), name="Knows animals", description="d", at=clock.now(),
        test=questions.form(questions.CHOICE), test_duration=timedelta(hours=1),
    )  # fmt: skip
    client, there = Client(), f"/qualifications/{tested.public_id}"
    client.get("/" + sign_in_url(make_worker()).split("/", 3)[3])

    for page, action, given in (
        ("/profile", "/profile/country", {"country": "NL"}),
        (there, f"{there}/request", {}),
        (there, f"{there}/test", {"animal": "dog"}),
    ):
        forms = forms_of(client.get(page).content.decode(), page)
        [form] = [each for each in forms if each.address == action]
        fields = {name: values[0] for name, values in form.fields.items() if values} | given
        first, second = client.post(action, fields), client.post(action, fields)

        assert first.status_code == second.status_code == 303
        assert "already" not in client.get(page).content.decode()
