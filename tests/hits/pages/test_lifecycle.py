"""The pages that publish, pause and finish a campaign: what they say is what exists afterwards."""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.db.models import Sum

from annotate.kinds.campaign_files import parse_plan
from annotate.models import Campaign, CampaignStatus
from annotate.services.campaigns import create_campaigns
from annotate.services.drafts import begin_draft
from background.models import Job
from hits.pages.new_campaign.sides import side_of
from hits.pages.new_campaign.steps import BY_NAME
from hits.queries.costs import outstanding_slots, spend
from hits.reconcile.top_up import plan_slots
from qualcontrol.models import Decision
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    CaptionSetFactory,
    ClassFactory,
    GivenCaptionFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    UserFactory,
    make_campaign,
)
from tests.jobs import run_jobs

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
def test_the_numbers_on_the_page_are_those_that_exist_afterwards(
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


def test_the_publish_page_shows_the_cost(signed_in):
    CampaignFactory(slug="pilot", status="DRAFT", tasks=2)

    page = signed_in.get("/campaigns/pilot/publish/").content.decode()

    assert "$2.64" in page  # 22 captions at $0.10, and $0.02 for each as the fee
    assert "confirmed" not in page
    assert "only numbers in its ledger" not in page


def test_the_publish_page_says_what_fees_for_own_people_are(signed_in):
    CampaignFactory(slug="pilot", status="DRAFT", tasks=2, config={"workers": {"who": "own"}})

    page = signed_in.get("/campaigns/pilot/publish/").content.decode()

    assert "At a marketplace of your own they are only numbers in its ledger." in page


def test_the_publish_page_of_unpaid_work_shows_no_dollars(signed_in):
    config = {"workers": {"who": "own"}, "hit": {"reward": 0}, "budget": 0}
    CampaignFactory(slug="pilot", status="DRAFT", tasks=2, budget=0, config=config)

    publish = signed_in.get("/campaigns/pilot/publish/").content.decode()
    assert "budget $" not in signed_in.get("/").content.decode()
    overview = signed_in.get("/campaigns/pilot/").content.decode()

    assert "$" not in publish.partition("<main")[2]
    assert "Estimated cost of 22 captions: nothing." in overview


def test_the_pages_of_unpaid_work_say_nothing_of_payments(signed_in):
    config = {"workers": {"who": "own"}, "hit": {"reward": 0}, "budget": 0}
    campaign = CampaignFactory(slug="pilot", status="RUNNING", tasks=2, budget=0, config=config)
    worker = ResponseFactory(task__campaign=campaign).worker

    exclude = f"workers/{worker.pseudonym}/exclude"
    addresses = ["pause", "finish", "change", exclude]
    pages = [signed_in.get(f"/campaigns/pilot/{address}/") for address in addresses]

    texts = [BeautifulSoup(page.content, "html.parser").main.get_text() for page in pages]
    assert [page.status_code for page in pages] == [200] * len(pages)
    assert not [text for text in texts if "$" in text or " paid" in text]
    assert "Reward: none" in texts[2]


def test_the_production_marketplace_wants_a_confirmation(signed_in, settings, monkeypatch):
    settings.MTURK_ENDPOINT = "production"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    campaign = CampaignFactory(slug="pilot", status="DRAFT", endpoint="production", tasks=1)

    shown = signed_in.get("/campaigns/pilot/publish/").content.decode()
    answer = signed_in.post("/campaigns/pilot/publish/", follow=True).content.decode()

    assert 'name="confirmed"' in shown
    assert "Confirm that you want to spend real money" in answer
    campaign.refresh_from_db()
    assert campaign.status == CampaignStatus.DRAFT


def test_a_draft_cannot_be_paused(signed_in):
    campaign = CampaignFactory(slug="pilot", status="DRAFT")

    answer = signed_in.post("/campaigns/pilot/pause/", follow=True)

    assert "cannot become paused" in answer.content.decode()
    campaign.refresh_from_db()
    assert campaign.status == CampaignStatus.DRAFT


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_publishing_opens_hits_and_pausing_closes_them(signed_in, requester):
    campaign = make_campaign(tasks=2, status="DRAFT")

    published = signed_in.post(f"/campaigns/{campaign.slug}/publish/", follow=True)
    made_by_the_page = campaign.hits.count()
    run_jobs()
    opened = campaign.hits.filter(status="OPEN").aggregate(slots=Sum("available"))["slots"]
    paused = signed_in.post(f"/campaigns/{campaign.slug}/pause/", follow=True)
    run_jobs()

    assert "Starts in a moment" in published.content.decode()
    assert made_by_the_page == 0
    assert opened == 6
    assert "Starts in a moment" in paused.content.decode()
    assert not campaign.hits.filter(status="OPEN").exists()
    page = signed_in.get(f"/campaigns/{campaign.slug}/").content.decode()
    assert "data-sync-progress" not in page


@pytest.mark.parametrize(("act", "status"), [("pause", 200), ("finish", 200), ("sync", 405)])
def test_a_campaign_is_moved_by_a_post_alone(signed_in, act, status):
    CampaignFactory(slug="pilot")

    assert signed_in.get(f"/campaigns/pilot/{act}/").status_code == status
    assert Campaign.objects.get().status == "RUNNING"


def test_a_sync_that_fails_is_told(signed_in, settings, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    settings.MTURK_MAX_ATTEMPTS = 1
    settings.MARKETPLACE_URL = "http://127.0.0.1:9"  # nobody listens there
    CampaignFactory(slug="pilot")
    signed_in.post("/campaigns/pilot/sync/")

    (job,) = run_jobs()
    page = signed_in.get("/campaigns/pilot/").content.decode()

    assert "The marketplace at" in job.error
    assert "The last sync failed" in page
    assert "The marketplace at" in page
    assert "data-sync-progress" not in page


def test_a_campaign_of_another_marketplace_is_not_asked_to_sync(signed_in):
    CampaignFactory(slug="pilot", endpoint="https://elsewhere.example")

    answer = signed_in.post("/campaigns/pilot/sync/", follow=True)

    assert "belongs to the marketplace" in answer.content.decode()
    assert not Job.objects.exists()


def test_a_surplus_caption_makes_up_for_no_missing_one(signed_in):
    campaign = CampaignFactory(slug="kites", config={"references": 1})
    first, second = TaskFactory.create_batch(2, campaign=campaign, wanted=2)
    for task in [first] * 3 + [second]:
        ResponseFactory(task=task)

    overview = signed_in.get("/campaigns/kites/").content.decode()
    finish = signed_in.get("/campaigns/kites/finish/").content.decode()

    assert "3 <small>of 4 wanted</small>" in overview
    assert "1 <small>of 2</small>" in overview
    assert "1 <small>not needed</small>" in overview
    assert "3 of 4 wanted captions" in finish


def test_the_page_changes_each_value_once(signed_in):
    CampaignFactory(slug="pilot", budget="10.00")

    def post(what, value):
        page = BeautifulSoup(signed_in.get("/campaigns/pilot/change/").content, "html.parser")
        seen = page.find("input", {"name": f"{what}-seen"})["value"]
        fields = {"what": what, f"{what}-seen": seen, f"{what}-value": value, f"{what}-note": "x"}
        return [signed_in.post("/campaigns/pilot/change/", fields).status_code for _ in range(2)]

    assert post("budget", "5") == [302, 422]
    assert post("reward", "0.20") == [302, 422]
    assert post("share", "30") == [302, 422]

    campaign = Campaign.objects.get()
    assert campaign.budget == 15
    assert campaign.config.hit.reward == Decimal("0.20")
    assert campaign.config.review.share == 0.3
    log = signed_in.get("/review/pilot/decisions/").content.decode()
    assert "From $10.00 to $15.00. x" in log


@pytest.mark.parametrize("fields", [{}, {"what": "reward", "reward-value": "much"}, {"what": "x"}])
def test_bad_input_changes_nothing(signed_in, fields):
    campaign = CampaignFactory(slug="pilot")

    answer = signed_in.post("/campaigns/pilot/change/", fields)

    assert answer.status_code in {200, 422}
    assert Campaign.objects.get().config_json == campaign.config_json
    assert not Decision.objects.exists()


@pytest.mark.parametrize("status", ["DRAFT", "FINISHED"])
def test_only_a_campaign_under_way_has_the_page(signed_in, status):
    CampaignFactory(slug="pilot", status=status)

    assert signed_in.get("/campaigns/pilot/change/").status_code == 302


def test_finishing_shows_its_consequences_first(signed_in):
    campaign = CampaignFactory(slug="pilot", tasks=1)
    HitFactory(hit_type__campaign=campaign, slots=9, available=7, pending=2)

    text = " ".join(
        BeautifulSoup(signed_in.get("/campaigns/pilot/finish/").content, "html.parser")
        .get_text(" ")
        .split()
    )

    assert "cannot be resumed" in text
    assert "Assignments that nobody has begun: withdrawn 7" in text
    assert "Begun assignments: can be submitted, and are paid 2" in text
    assert "released $0.84" in text
    assert "0 of 1 image is complete" in text
    assert Campaign.objects.get().status == "RUNNING"


@pytest.mark.parametrize("page", ["finish", "pause", "change"])
def test_researchers_of_own_people_read_of_task_pages_and_of_no_assignments(signed_in, page):
    CampaignFactory(slug="pilot", tasks=1, config={"workers": {"who": "own"}})

    text = " ".join(signed_in.get(f"/campaigns/pilot/{page}/").content.decode().split())

    assert "ask pages that nobody has begun" in text
    assert "assignment" not in text.lower()


def test_pausing_shows_its_consequences_first(signed_in):
    CampaignFactory(slug="pilot")

    page = signed_in.get("/campaigns/pilot/pause/").content.decode()

    assert "you can resume the campaign" in page
    assert Campaign.objects.get().status == "RUNNING"
