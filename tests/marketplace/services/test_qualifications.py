"""Workers' histories: counts and rates of approved assignments."""

import json
import uuid

import pytest
from django.core.management import call_command

from marketplace import requirements
from marketplace.countries import Place, read_place
from marketplace.models import Worker
from marketplace.requirements import Locale
from marketplace.services import assignments, notifications
from marketplace.services.qualifications import system_values
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker


@pytest.mark.parametrize(
    ("text", "place"),
    [("us", ("US", "")), (" US-pa ", ("US", "PA")), ("", ("", "")), ("FR-75", ("FR", "75"))],
)
def test_a_place_is_a_country_and_perhaps_a_part_of_it(text, place):
    assert read_place(text) == Place(*place)


@pytest.mark.parametrize("text", ["USA", "U", "US-", "US-PAX", "US PA", "ÜS", "-PA"])
def test_what_is_no_place(text):
    with pytest.raises(ValueError, match="not a country"):
        read_place(text)


@pytest.mark.django_db
def test_a_worker_states_a_state_and_that_they_are_of_age(marketplace):
    worker = marketplace.worker()

    worker.post("/profile/country", country="US-PA")
    worker.post("/profile/adult", adult="1")

    found = Worker.objects.get(public_id=worker.worker_id)
    values = system_values(found)
    assert (values[requirements.LOCALE], values[requirements.ADULT]) == (Locale("US", "PA"), 1)
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
