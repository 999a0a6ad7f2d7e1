"""A campaign of word–box links from slots to release."""

import json
from urllib.parse import urlsplit

import pytest

from annotate.kinds import KINDS
from annotate.models import Box, Correspondence, ResponseStatus
from annotate.queries.progress import progress
from hits.models import Claim
from hits.reconcile.reconciler import reconcile
from hits.services.claims import recount_places
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.releasing import release_campaign
from tests.factories import NOON, LinkCampaignFactory, LinkTaskFactory, UserFactory
from tests.hits.framed_work import fields_of, open_page

pytestmark = pytest.mark.django_db(transaction=True)

UNCHECKED = {"share": 0, "first": 0, "approve_after_hours": 0}


def make_campaign(tasks, **review):
    """A running campaign with captions that mention a man (word 1), a dog (4) and a car (10)."""
    campaign = LinkCampaignFactory(config={"review": UNCHECKED | review, "responses": 2})
    for _ in range(tasks):
        LinkTaskFactory(campaign=campaign, boxes=["Man", "Dog", "Car"])
    return campaign


def links(names):
    """Form fields that link each named word to its box, by the page's numbers."""
    fields = {}
    for name in names:
        _, word, number = name.split("-")
        if label := {"1": "Man", "4": "Dog", "10": "Car"}.get(word):
            box = Box.objects.get(image__tasks__number=number, object_class__name=label)
            fields[name] = f"box:{box.pk}"
    return fields


def work(client, worker, campaign):
    """Do one assignment: accept, link, submit."""
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    fields = fields_of(open_page(client, frame), "data-task")
    answers = fields | links([name for name in fields if name.startswith("word-")])
    page = client.post(urlsplit(frame.src).path, answers)
    handed_on = fields_of(page, "data-forward")
    answer = worker.submit(handed_on.pop("assignmentId"), **handed_on)
    assert answer.ok, answer.text


def test_a_campaign_goes_from_slots_to_a_release(client, marketplace, requester, tmp_path):
    campaign = make_campaign(tasks=2)
    workers = marketplace.fresh_workers(2)

    reconcile(campaign)
    for worker in workers:
        for _ in range(2):
            work(client, worker, campaign)
    done = reconcile(campaign)
    KINDS["correspondence"].write(
        release_campaign(campaign=campaign, name="r", seed=1, at=NOON), tmp_path
    )

    assert (done.ingested, done.approved) == (4, 4)
    assert progress(campaign).complete == 2
    assert recount_places(campaign) == 0
    captions = json.loads((tmp_path / "correspondences.json").read_text())["captions"]
    assert [sorted(caption["links"], key=int) for caption in captions] == [["1", "4", "10"]] * 2
    assert {caption["agreement"]["overlap"] for caption in captions} == {1.0}


def test_links_that_only_the_marketplace_has_are_ingested(client, marketplace, requester):
    campaign = make_campaign(tasks=1)
    (worker,) = marketplace.fresh_workers(1)
    reconcile(campaign)

    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    page = open_page(client, frame)
    names = [name for name in fields_of(page, "data-task") if name.startswith("word-")]
    worker.submit(frame.assignment_id, **links(names))
    reconcile(campaign)

    words = Correspondence.objects.get(response__status=ResponseStatus.SUBMITTED).words
    assert set(words) == {"1", "4", "10"}
    assert not Claim.objects.exists()


def test_an_unfinished_answer_is_refused_and_kept_on_the_page(client, marketplace, requester):
    campaign = make_campaign(tasks=1)
    (worker,) = marketplace.fresh_workers(1)
    reconcile(campaign)
    frame = worker.accept(campaign.hit_types.get().hit_type_id)
    fields = fields_of(open_page(client, frame), "data-task")
    dog = next(name for name in fields if name.startswith("word-4-"))

    page = client.post(urlsplit(frame.src).path, fields | links([dog]))

    assert page.status_code == 422
    assert "“man”, “car”" in page.content.decode()
    assert f'value="{links([dog])[dog]}" selected' in page.content.decode()


def test_spot_checks_and_exclusions_know_nothing_of_the_kind(client, marketplace, requester):
    campaign = make_campaign(tasks=1, first=1)
    workers = marketplace.fresh_workers(2)
    reconcile(campaign)
    for worker in workers:
        work(client, worker, campaign)
    reconcile(campaign)
    first = campaign.tasks.get().responses.order_by("pk")[0]

    exclude_worker(
        campaign=campaign, worker=first.worker, reason="boxes at random", actor=None, at=NOON
    )

    assert progress(campaign).submitted == 1
    assert campaign.tasks.get().places_left == 1


def test_the_researchers_pages_show_such_a_campaign(client, marketplace, requester):
    campaign = make_campaign(tasks=1)
    (worker,) = marketplace.fresh_workers(1)
    reconcile(campaign)
    work(client, worker, campaign)
    reconcile(campaign)
    client.force_login(UserFactory(is_staff=True, is_superuser=True))

    pages = {
        address: client.get(address)
        for address in ("/", campaign.get_absolute_url(), f"/api/campaigns/{campaign.slug}/")
    }

    assert {page.status_code for page in pages.values()} == {200}
    assert campaign.caption_set.name in pages[campaign.get_absolute_url()].content.decode()
