"""The reconciler against a real marketplace over HTTP, the task page against Django's client."""

from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

from annotate.models import CampaignStatus, Response, ResponseStatus
from annotate.services.campaigns import progress, recount_places
from hits.models import Assignment, AssignmentStatus, Hit, HitStatus
from hits.reconciler import reconcile
from qualcontrol import services as quality
from tests.factories import UserFactory
from tests.hits.conftest import make_campaign
from tests.hits.marketplace_process import NotOffered

pytestmark = pytest.mark.django_db(transaction=True)

SENTENCE = "A brown dog jumps over a low wooden fence number {}."


def open_page(client, frame):
    parts = urlsplit(frame.src)
    return client.get(f"{parts.path}?{parts.query}")


def fields_of(page, selector):
    form = BeautifulSoup(page.content, "html.parser").select_one(selector)
    assert form is not None, page.content.decode()
    return {field["name"]: field.get("value", "") for field in form.select("[name]")}


def write(client, frame, text):
    """Fill in our form; the page that hands the answer on."""
    page = open_page(client, frame)
    fields = fields_of(page, "form[data-task]")
    answers = {
        name: text if name.startswith("caption-") else value for name, value in fields.items()
    }
    return client.post(urlsplit(frame.src).path, answers)


def work(client, worker, campaign, number=0):
    """One whole assignment: accept, write, hand on."""
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    fields = fields_of(write(client, frame, SENTENCE.format(number)), "form[data-forward]")
    answer = worker.submit(fields.pop("assignmentId"), **fields)
    assert answer.ok, answer.text
    return frame


def test_a_campaign_goes_from_seats_to_approved_captions(client, marketplace, requester):
    campaign = make_campaign(tasks=2)
    workers = [w.sign_in() for w in marketplace.workers("a1", "a2", "a3")]

    created = reconcile(campaign)
    for worker in workers:
        for number in range(2):
            work(client, worker, campaign, number)
    ingested = reconcile(campaign)

    assert created.hits_created == 2  # of three seats each: a worker may take one of each
    assert (ingested.ingested, ingested.approved) == (6, 6)
    assert progress(campaign).complete == 2
    assert set(Assignment.objects.values_list("status", flat=True)) == {AssignmentStatus.APPROVED}
    assert recount_places(campaign) == 0
