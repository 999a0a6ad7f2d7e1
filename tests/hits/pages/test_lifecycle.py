"""The page that publishes a campaign: what it says is what exists afterwards."""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from django.conf import settings

from annotate.kinds.reading import parse_plan
from annotate.models import CampaignStatus
from annotate.services.campaigns import create_campaigns
from annotate.services.drafts import begin_draft
from hits.pages.new_campaign.sides import side_of
from hits.pages.new_campaign.steps import BY_NAME
from hits.queries.costs import outstanding_slots, spend
from hits.reconcile.top_up import plan_slots
from tests.factories import (
    NOON,
    BoxFactory,
    CaptionSetFactory,
    ClassFactory,
    GivenCaptionFactory,
    HitTypeFactory,
    SelectionFactory,
    UserFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def captions(**values):
    selection = SelectionFactory(images=10)
    BoxFactory(image=selection.images.first())
    return {"kind": "caption", "selection": selection.name, "references": 2, **values}


def ratings(**values):
    """Nine of ten images have captions to rate."""
    selection, source = SelectionFactory(images=10), CaptionSetFactory()
    for image in selection.images.all()[:9]:
        GivenCaptionFactory(caption_set=source, image=image)
    sources = [{"name": "model", "caption_set": source.name}]
    file = {"kind": "rating", "selection": selection.name, "rating": {"sources": sources}}
    return {**file, **values}


def links(**values):
    source = CaptionSetFactory()
    for _ in range(4):
        given = GivenCaptionFactory(caption_set=source, text="A man feeds a dog.")
        BoxFactory(image=given.image, object_class=ClassFactory(name=f"Dog {given.number}"))
    return {"kind": "correspondence", "caption_set": source.name, **values}


@pytest.fixture
def signed_in(client):
    client.force_login(UserFactory())
    return client


def created(file):
    plan = parse_plan({"name": "pilot", "budget": "500", **file})
    return create_campaigns(plan=plan, endpoint=settings.MTURK_ENDPOINT, at=NOON)


def numbers_on(client, campaign):
    """The second column of the page's sums, by the words of the first."""
    page = BeautifulSoup(client.get(f"/campaigns/{campaign.slug}/publish/").content, "html.parser")
    rows = page.select("table.sums tr")
    return {row.th.text.split(" of ")[0].split(" in ")[0]: row.td.text for row in rows}


def publish(campaign):
    campaign.status = CampaignStatus.RUNNING
    campaign.save()
    plan_slots(SimpleNamespace(campaign=campaign, at=NOON), HitTypeFactory(campaign=campaign))


@pytest.mark.parametrize("who", ["own", "panel", "nocaps"])
@pytest.mark.parametrize(
    ("make", "values", "responses", "by_own", "by_many"),
    [
        (captions, {}, 30, 30, 30),
        (captions, {"priming": {"by": "none"}}, 30, 30, 30),
        (captions, {"priming": {"by": "response", "share": 0.5}}, 30, 30, 30),
        # Three own people with four pages each: nobody describes an image twice.
        (captions, {"hit": {"images": 3}}, 30, 12, 10),
        (captions, {"hit": {"images": 20}}, 30, 3, 3),
        (captions, {"baselines": 0}, 20, 20, 20),
        (ratings, {}, 27, 27, 27),
        (ratings, {"hit": {"images": 2}}, 27, 15, 14),
        (links, {"responses": 5}, 20, 20, 20),
    ],
)
def test_what_the_page_says_is_what_exists_afterwards(
    signed_in, who, make, values, responses, by_own, by_many
):
    assignments = by_own if who == "own" else by_many
    file = {**make(**values), "workers": {"who": who}}
    (campaign,) = created(file)

    shown = numbers_on(signed_in, campaign)
    publish(campaign)

    money = spend(campaign)
    answers = campaign.tasks.count() * campaign.config.wanted
    assert int(shown[next(iter(shown))]) == answers == responses
    assert (
        int(shown.get("Assignments", shown.get("Task pages", answers)))
        == outstanding_slots(campaign)
        == assignments
    )
    assert Decimal(shown["Total"].strip("$")) == money.open == money.committed
    assert (f"in {campaign.hits.count()} HIT" in page_of(signed_in, campaign)) == (who == "nocaps")


def page_of(client, campaign):
    campaign.status = CampaignStatus.PAUSED
    campaign.save()
    return client.get(f"/campaigns/{campaign.slug}/publish/").content.decode()


@pytest.mark.parametrize(
    ("make", "values"),
    [(captions, {"hit": {"images": 3}}), (ratings, {}), (ratings, {"hit": {"images": 2}})],
)
def test_the_steps_say_the_same_before_the_campaign_exists(signed_in, make, values):
    file = make(**values)
    draft = begin_draft(owner=UserFactory(), file={"name": "a", "budget": "500", **file}, at=NOON)

    cost = side_of(BY_NAME["reward"], draft)["cost"]
    (campaign,) = created(file)
    publish(campaign)

    assert (cost.tasks, cost.assignments) == (campaign.tasks.count(), outstanding_slots(campaign))
    assert (cost.hits, cost.total) == (campaign.hits.count(), spend(campaign).open)


def test_the_page_of_one_language_says_what_all_of_them_cost(signed_in):
    translations = {"de": {"hit": {"reward": "0.20", "images": 2}}}
    members = created(captions(languages=["en", "de", "ja"], translations=translations))

    page = BeautifulSoup(
        signed_in.get(f"/campaigns/{members[1].slug}/publish/").content, "html.parser"
    )
    for member in members:
        publish(member)

    together = [cell.text for cell in page.select("tfoot td")]
    slots, hits = (
        sum(map(outstanding_slots, members)),
        sum(each.hits.count() for each in members),
    )
    cost = sum(spend(member).open for member in members)
    assert together == ["90", str(slots), str(hits), f"${cost:,.2f}", "$1,500.00"]
    assert [link.text for link in page.select("tbody a")] == ["English", "Japanese"]


def test_a_draft_in_several_languages_says_what_all_of_them_cost(signed_in):
    first, *_ = created(captions(languages=["en", "de"]))

    page = signed_in.get(f"/campaigns/{first.slug}/").content.decode()

    assert "30 captions: $3.60, including fees. 60 in all 2 languages: $7.20." in page


def test_a_title_that_is_the_default_of_another_language_is_objected_to(signed_in):
    title = "Describe a photograph in one sentence"
    (wrong,) = created(captions(language="de", hit={"title": title}))
    (right,) = created(captions(language="de", name="right"))

    assert "The title is in English, and the campaign in German." in (
        signed_in.get(f"/campaigns/{wrong.slug}/publish/").content.decode()
    )
    assert "The title is in" not in (
        signed_in.get(f"/campaigns/{right.slug}/publish/").content.decode()
    )
    assert right.config.hit.title == "Ein Foto in einem Satz beschreiben"
