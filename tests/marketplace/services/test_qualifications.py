"""Workers' qualifications, and why a worker does not qualify."""

import json
import uuid

import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command
from django.test import Client

from marketplace import clock, requirements
from marketplace.models import QualificationType, Worker
from marketplace.requirements import LOCALE, NUMBER_APPROVED, PERCENT_APPROVED
from marketplace.services import assignments, notifications
from marketplace.services.links import sign_in_url
from marketplace.services.qualifications import grant, reasons_for, system_values
from marketplace.services.reviews import block_worker
from shared.countries import Place, read_place
from tests.marketplace.factories import (
    NOON,
    make_current_hit,
    make_hit,
    make_hit_type,
    make_requester,
    make_worker,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.mark.parametrize(
    ("text", "place"),
    [("us", ("US", "")), (" US-pa ", ("US", "PA")), ("", ("", "")), ("FR-75", ("FR", "75"))],
)
def test_a_place_is_a_country_and_perhaps_a_part_of_it(text, place):
    assert read_place(text) == Place(*place)


@pytest.mark.parametrize("text", ["USA", "U", "US-", "US-PAX", "US PA", "ÜS", "-PA", "UK"])
def test_an_impossible_place_is_refused(text):
    with pytest.raises(ValueError, match="not a country"):
        read_place(text)


@pytest.mark.django_db
def test_a_worker_states_a_state_and_that_they_are_of_age(marketplace):
    worker = marketplace.worker()

    worker.post("/profile/country", country="US-PA")
    worker.post("/profile/adult", adult="1")

    found = Worker.objects.get(public_id=worker.worker_id)
    values = system_values(found)
    assert (values[requirements.LOCALE], values[requirements.ADULT]) == (Place("US", "PA"), 1)
    assert "US-PA" in worker.get("/profile").text
    worker.post("/profile/adult")
    found.refresh_from_db()
    assert system_values(found)[requirements.ADULT] == 0


@pytest.mark.django_db
def test_an_operators_command_knows_both(capsys):
    call_command("marketplace_worker", "ann", "--country", "us-pa", "--adult")

    worker = Worker.objects.get()
    assert (worker.place, worker.is_adult) == ("US-PA", True)


@pytest.mark.django_db
@pytest.mark.parametrize(("waiting", "percent"), [(0, 100), (1, 98)])
def test_an_approval_rate_counts_from_100_submitted_assignments(waiting, percent):
    """Submitted assignments count, as documented, and not only reviewed ones."""
    hit_type = make_hit_type()
    hit = make_hit(hit_type, max_assignments=1)
    worker = make_worker()
    Worker.objects.filter(pk=worker.pk).update(approved_count=98, rejected_count=1)
    for _ in range(waiting):
        accepted = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
        assignments.submit(assignment=accepted, answer="<a/>", at=NOON)
    worker.refresh_from_db()

    assert system_values(worker)[requirements.PERCENT_APPROVED] == percent


@pytest.mark.django_db
def test_a_notification_names_its_requester_as_live_ones_do():
    requester, other = make_requester(), make_requester()

    def account(of) -> str:
        text = notifications.document(of, "2014-08-15", uuid.uuid4(), [])
        return json.loads(text)["SourceAccount"]

    assert len(account(requester)) == 12
    assert account(requester).isdigit()
    assert account(requester) == account(requester) != account(other)


def requirement(type_id, comparator, **values):
    return {"QualificationTypeId": type_id, "Comparator": comparator, **values}


NOCAPS = [
    requirement(NUMBER_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[5000]),
    requirement(PERCENT_APPROVED, "GreaterThan", IntegerValues=[95]),
    requirement(LOCALE, "EqualTo", LocaleValues=[{"Country": "US"}]),
]


def text_of(worker, path):
    client = Client()
    client.get("/sign-in/" + sign_in_url(worker).partition("/sign-in/")[2])
    soup = BeautifulSoup(client.get(path).content, "lxml")
    return " ".join(soup.get_text(" ").split())


@pytest.mark.parametrize("page", ["/", "/groups/{}/preview"])
def test_each_page_tells_the_requirements_and_the_workers_values(page):
    worker = make_worker(country="FR", approved=12, rate=100)
    hit_type = make_hit_type(qualification_requirements=NOCAPS)
    make_current_hit(hit_type)

    text = text_of(worker, page.format(hit_type.public_id))

    assert "Approved HITs: at least 5,000. Yours: 12." in text
    assert "Country: US. Yours: FR." in text
    assert "Approval rate" not in text


def test_a_worker_without_a_country_is_told_so():
    hit_type = make_hit_type(qualification_requirements=NOCAPS[2:])

    assert reasons_for(make_worker(country=""), [hit_type])[hit_type.pk] == [
        "Country: US. Your profile has no country."
    ]


def test_a_requesters_own_qualification_is_named():
    requester, worker = make_requester(), make_worker()
    own = QualificationType.objects.create(
        requester=requester,
        public_id="OWN",
        name="Reads maps",
        description="A test",
        created_at=NOON,
    )
    hit_type = make_hit_type(
        requester,
        qualification_requirements=[requirement("OWN", "GreaterThan", IntegerValues=[80])],
    )

    before = reasons_for(worker, [hit_type])[hit_type.pk]
    grant(qualification_type=own, worker=worker, value=60, at=clock.now())
    after = reasons_for(worker, [hit_type])[hit_type.pk]

    assert before == ["Reads maps: more than 80. You have no value."]
    assert after == ["Reads maps: more than 80. Yours: 60."]


def test_a_qualified_worker_reads_no_reasons():
    worker = make_worker(country="US", approved=6000, rate=99)
    hit_type = make_hit_type(qualification_requirements=NOCAPS)
    make_current_hit(hit_type)

    assert "Yours:" not in text_of(worker, "/")


def test_a_blocked_worker_reads_of_the_block_alone():
    requester, worker = make_requester(), make_worker()
    hit_type = make_hit_type(requester)
    block_worker(requester=requester, worker=worker, reason="careless", at=NOON)

    assert "has blocked you" in reasons_for(worker, [hit_type])[hit_type.pk][0]
