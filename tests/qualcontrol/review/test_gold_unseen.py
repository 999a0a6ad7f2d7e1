"""Reviewers cannot distinguish gold items from responses."""

import re
from uuid import UUID

import pytest
from django.urls import reverse

from annotate.models import Response
from qualcontrol.models import GoldAnswer, Judgement
from qualcontrol.review import judging
from qualcontrol.review.gold import mark_gold, seed_gold
from qualcontrol.review.items import item_by_key
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.worker_risks import refresh_worker_risks
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
)
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, key_of, sentence

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.one_database,
    pytest.mark.usefixtures("reviewer"),
]

TEXT = "A purple cow drives a tram into into the a harbour."
FLOORS = {
    "firsts are drawn": {"first": 3, "share": 0},
    "all are drawn": {"first": 0, "share": 1},
    "none is drawn": NO_REQUIRED_CHECKS,
}


@pytest.fixture
def image():
    return BoxFactory(object_class__name="Cow", image=ImageFactory()).image


def written(campaign, text, **task):
    """A new worker's response, ingested as by the reconciler."""
    response = ResponseFactory(task=TaskFactory(campaign=campaign, **task), text=text)
    review_submitted(campaign=campaign, responses=[response], at=NOON)
    refresh_worker_risks(campaign=campaign)
    return response


def made_up(campaign, text, **task):
    values = {"task": TaskFactory(campaign=campaign, **task), "reason": "wrong", "at": NOON}
    return seed_gold(text=text, actor=UserFactory(), **values)


def campaign_of(slug, review, *, others=4):
    """A campaign in which a gold item follows every item, while there are any."""
    campaign = CampaignFactory(slug=slug, config={"review": {**review, "gold_every": 1}})
    for number in range(others):
        written(campaign, sentence(number))
    return campaign


def page_of(client, campaign):
    return client.get(f"/review/{campaign.slug}/", {"only": "all"}).content.decode()


def items_in(page):
    """The source of each item, both the shown one and the preloaded ones."""
    return re.findall(r'<div class="review"\s+data-review .*?</aside>', page, re.DOTALL)


def item_with(client, campaign, text):
    """The page's HTML for the item with this text, without keys and numbers."""
    (html,) = [html for html in items_in(page_of(client, campaign)) if text in html]
    html = re.sub(r'(name="csrfmiddlewaretoken" value=)"[^"]*"', r"\1", html)
    key = re.search(r'data-key="([^"]*)"', html)[1]
    html = html.replace(key, "KEY").replace(f"/{campaign.slug}/", "/SLUG/")
    return re.sub(r"\d+(\.\d+)? %", "N %", html)


@pytest.mark.parametrize("review", FLOORS.values(), ids=FLOORS)
def test_a_made_up_caption_looks_like_a_new_workers(client, image, review):
    real, gold = campaign_of("real", review, others=2), campaign_of("gold", review, others=2)
    response = written(real, TEXT, image=image)
    made_up(gold, TEXT, image=image)

    shown = item_with(client, real, TEXT)

    assert item_with(client, gold, TEXT) == shown
    assert "Words in no order" in shown
    assert "Cow" in shown
    assert response.worker.pseudonym not in shown


def test_a_made_up_caption_is_compared_with_the_images_others():
    campaign = campaign_of("gold", NO_REQUIRED_CHECKS)
    gold = made_up(campaign, "A purple tram.")
    for text in ("A cow stands on a meadow near a low fence.", "A cow near a fence on a meadow."):
        response = ResponseFactory(task=gold.task, text=text)
        review_submitted(campaign=campaign, responses=[response], at=NOON)

    item = item_by_key(campaign, gold.key)

    assert {"too_short", "very_unlike", "names_none"} <= {flag["code"] for flag in item.flags}
    assert 0 < item.risk < 1


def test_looking_at_a_made_up_caption_files_nothing_that_others_could_copy(client):
    campaign = campaign_of("gold", NO_REQUIRED_CHECKS)
    gold = made_up(campaign, TEXT)
    assert item_by_key(campaign, gold.key).flags

    response = written(campaign, TEXT)

    assert "copies_other" not in response.assessment.codes


def test_addresses_and_keys_are_of_one_form(client):
    campaign = campaign_of("pilot", NO_REQUIRED_CHECKS)
    gold = [made_up(campaign, f"A made-up caption, number {n}.") for n in range(4)]

    page = page_of(client, campaign)

    keys = re.findall(r'data-key="([^"]*)"', page)
    assert {key_of(one) for one in gold} & set(keys)
    assert {key_of(one) for one in Response.objects.all()} & set(keys)
    # A random UUID has 122 bits that tell nothing; the other six say that it is one.
    assert {UUID(key).version for key in keys} == {4}
    addresses = re.findall(r'action="(/review/pilot/checks/[^"]*)"', page)
    judge = [reverse("qualcontrol:judge", args=["pilot", key]) for key in keys]
    ask = [reverse("qualcontrol:ask", args=["pilot", key]) for key in keys]
    assert sorted(addresses) == sorted([*judge, *judge, *ask])


@pytest.mark.parametrize("review", FLOORS.values(), ids=FLOORS)
def test_a_verdict_is_answered_alike(client, review):
    """With and without the page's script, and also when given twice."""
    campaign = campaign_of("pilot", review)
    gold, [response, *_] = made_up(campaign, TEXT), Response.objects.order_by("pk")
    told = []
    for subject in (response, gold):
        address = reverse("qualcontrol:judge", args=["pilot", key_of(subject)])
        before = left_in(page_of(client, campaign))
        once = client.post(address, {"verdict": "BAD", "reason": "vague"})
        after = left_in(page_of(client, campaign))
        again = client.post(address, {"verdict": "GOOD", "ahead": key_of(subject)})
        text = again.content.decode()
        told.append(
            [
                once.url,
                before - after,
                re.findall(r'<p class="message.*?</p>', text),
                re.search(r'data-gone="([^"]*)"', text)[1] == key_of(subject),
            ]
        )

    assert told[0] == told[1]
    assert told[0][3]
    assert (Judgement.objects.count(), GoldAnswer.objects.count()) == (1, 1)


def left_in(page):
    """The number of required checks left, as shown on the page."""
    found = re.search(r"<strong>(\d+)</strong> required check", page)
    return int(found[1]) if found else 0


def test_gold_that_looks_drawn_comes_only_while_something_drawn_is_left(client):
    campaign = campaign_of("pilot", {"first": 1, "share": 0}, others=3)
    made_up(campaign, TEXT)
    assert TEXT in page_of(client, campaign)
    drawn = Response.objects.order_by("pk")
    worker = drawn[0].worker
    for response in drawn:
        judging.judge(response=response, verdict="GOOD", reason="", reviewer=None, at=NOON)
    for number in range(10, 14):
        task = TaskFactory(campaign=campaign)
        response = ResponseFactory(task=task, worker=worker, text=sentence(number))
        review_submitted(campaign=campaign, responses=[response], at=NOON)
    refresh_worker_risks(campaign=campaign)

    page = page_of(client, campaign)

    assert len(items_in(page)) == 4
    assert TEXT not in page
    assert "All required checks are done" in page


def test_marked_gold_that_a_page_holds_stays_until_the_reviewer_has_judged_it(client):
    campaign = campaign_of("pilot", NO_REQUIRED_CHECKS)
    [response, *_] = Response.objects.order_by("pk")
    mark_gold(response=response, verdict="GOOD", reason="", actor=UserFactory(), at=NOON)
    key = key_of(response)
    assert key in page_of(client, campaign)

    before = client.get("/review/pilot/", {"ahead": key}).content.decode()
    client.post(reverse("qualcontrol:judge", args=["pilot", key]), {"verdict": "GOOD"})
    after = client.get("/review/pilot/", {"ahead": key}).content.decode()

    assert 'data-gone=""' in before
    assert f'data-gone="{key}"' in after


def test_the_head_of_the_queue_for_scripts_has_no_gold(client):
    campaign = campaign_of("pilot", NO_REQUIRED_CHECKS)
    made_up(campaign, TEXT)
    [response, *others] = Response.objects.order_by("pk")
    mark_gold(response=response, verdict="GOOD", reason="", actor=UserFactory(), at=NOON)

    items = next_checks(campaign=campaign, reviewer=None, count=10, at=NOON)

    assert {item.response for item in items} == set(others)
