"""The next steps on a campaign's page."""

from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotate.models import Campaign, CampaignStatus
from annotate.queries.progress import progress
from background.jobs.requests import request_job
from hits.models import Sync
from hits.pages.next_steps import how_people_get_in, next_steps
from hits.queries.costs import spend
from hits.services.lifecycle import MOST_BUDGET, BadAmount, add_to_budget
from qualcontrol.models import Appeal, Proposal
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    ExclusionFactory,
    HitFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def campaign_of(*, answered: int = 0, **fields):
    """A campaign of one image with two captions."""
    campaign = CampaignFactory(config={"references": 1}, **fields)
    task = TaskFactory(campaign=campaign, number=1)
    for _ in range(answered):
        ResponseFactory(task=task)
    return campaign


def sentences(campaign, *, open_checks: int = 0, last_sync: Sync | None = None) -> list[str]:
    steps = next_steps(
        campaign,
        progress=progress(campaign),
        spend=spend(campaign),
        open_checks=open_checks,
        last_sync=last_sync,
    )
    return [step.sentence for step in steps]


def test_a_draft_wants_to_be_published_and_says_what_it_costs():
    campaign = campaign_of(status=CampaignStatus.DRAFT)

    assert sentences(campaign) == [
        "Nothing is published yet. Estimated cost of 2 captions: $0.24, including fees."
    ]


def test_a_draft_that_lacks_one_caption_says_what_it_costs():
    assert sentences(campaign_of(status=CampaignStatus.DRAFT, answered=1)) == [
        "Nothing is published yet. Estimated cost of 1 caption: $0.12, including fees."
    ]


def test_a_draft_whose_captions_were_all_imported_is_reviewed_and_released():
    campaign = campaign_of(status=CampaignStatus.DRAFT, answered=2)

    assert sentences(campaign, open_checks=1) == ["1 caption needs review."]
    assert sentences(campaign) == [
        "Every image has all its captions, and all required checks are done."
    ]

    release_campaign(campaign=campaign, name="v1", seed=1, at=timezone.now())

    assert sentences(campaign) == []


def test_a_draft_that_a_job_publishes_does_not_want_to_be_published():
    campaign = campaign_of(status=CampaignStatus.DRAFT)
    request_job(kind="publish", arguments={}, user=None, at=NOON, about=campaign)

    assert sentences(campaign) == []


def test_a_campaign_that_continues_by_itself_wants_nothing():
    assert sentences(campaign_of(answered=1)) == []


def test_a_sync_that_stopped_comes_before_all_else():
    campaign = campaign_of(status=CampaignStatus.PAUSED)
    stopped = Sync(campaign=campaign, started_at=NOON, error="no answer")

    found = sentences(campaign, open_checks=1, last_sync=stopped)

    assert found == [
        "The last sync failed; this page may be out of date.",
        "The campaign is paused and gets no new workers.",
        "1 caption needs review.",
    ]


def test_the_problems_of_the_last_sync_are_counted():
    partly = Sync(started_at=NOON, error="HIT HIT1: no answer", problems=3)

    assert sentences(campaign_of(answered=1), last_sync=partly) == [
        "The last sync could not deal with 3 things. The next sync tries again."
    ]


def test_a_spent_budget_is_told_while_captions_are_missing():
    assert sentences(campaign_of(budget=Decimal("0.05"))) == [
        "The budget is used up. Captions missing: 2. Left: $0.05. "
        "Add at least $0.19, including fees."
    ]
    assert "used up" not in " ".join(sentences(campaign_of(budget=Decimal("0.05"), answered=2)))


def test_the_end_of_the_budget_is_told_before_it_comes():
    """Two captions at 12 cents; the slot for the first of them is open."""
    campaign = campaign_of(budget=Decimal("0.23"))
    HitFactory(hit_type__campaign=campaign, slots=1, available=1, reward="0.10", fee="0.02")

    assert sentences(campaign) == [
        "The budget does not cover the rest of the campaign. Captions missing: 2. "
        "Left: $0.11. Add at least $0.01, including fees."
    ]

    add_to_budget(campaign=campaign, amount=Decimal("0.01"), actor=None, at=NOON)
    assert sentences(campaign) == []


def test_slots_show_several_images():
    """Two people describe the images, two on a page, and one of them the third."""
    config = {"references": 1, "hit": {"images": 2}}
    campaign = CampaignFactory(config=config, budget=Decimal("0.35"))
    TaskFactory.create_batch(2, campaign=campaign)
    TaskFactory(campaign=campaign, wanted=1)

    (sentence,) = sentences(campaign)

    assert "Captions missing: 5. Left: $0.35. Add at least $0.01," in sentence


def test_a_finished_campaign_lacks_no_money():
    campaign = campaign_of(budget=Decimal("0.05"), status=CampaignStatus.FINISHED)

    assert sentences(campaign) == []


@pytest.mark.parametrize(
    "amount", ["0", "-1", "0.001", "NaN", "Infinity", "1e9", "1e2", "1_0", "much"]
)
def test_an_invalid_amount_is_not_added(amount):
    campaign = campaign_of(budget=Decimal("5.00"))

    with pytest.raises(CommandError, match="amount"):
        call_command("add_to_budget", campaign.slug, "--", amount)

    campaign.refresh_from_db()
    assert campaign.budget == 5


def test_a_budget_does_not_grow_beyond_what_its_column_holds():
    campaign = campaign_of(budget=Decimal("5.00"))
    add_to_budget(campaign=campaign, amount=MOST_BUDGET - 5, actor=None, at=NOON)

    with pytest.raises(BadAmount, match="A budget can be at most"):
        add_to_budget(campaign=campaign, amount=Decimal("0.01"), actor=None, at=NOON)

    assert Campaign.objects.get().budget == MOST_BUDGET


def test_a_budget_grows_until_the_campaign_is_finished(capsys):
    campaign = campaign_of(budget=Decimal("5.00"))

    call_command("add_to_budget", campaign.slug, "2.50")
    assert capsys.readouterr().out == f"The budget of {campaign} is $7.50.\n"

    Campaign.objects.update(status=CampaignStatus.FINISHED)
    with pytest.raises(CommandError, match="is finished"):
        call_command("add_to_budget", campaign.slug, "2.50")


def test_proposals_and_appeals_that_wait_for_a_decision_are_counted():
    campaign = campaign_of()
    for _ in range(2):
        Proposal.objects.create(
            campaign=campaign, worker=WorkerFactory(), reason="lists", proposed_at=NOON
        )
    exclusion = ExclusionFactory(campaign=campaign)
    Appeal.objects.create(exclusion=exclusion, text="Look again.", received_at=NOON)

    assert sentences(campaign) == [
        "2 workers are proposed for exclusion and 1 appeal needs an answer."
    ]


def test_a_complete_campaign_is_released_and_then_finished():
    campaign = campaign_of(answered=2)
    assert sentences(campaign) == [
        "Every image has all its captions, and all required checks are done."
    ]

    release_campaign(campaign=campaign, name="v1", seed=1, at=timezone.now())
    assert sentences(campaign) == [
        "The campaign is complete and released. Use “Finish campaign” to close it permanently."
    ]

    campaign.status = CampaignStatus.FINISHED
    assert sentences(campaign) == []


def test_the_campaigns_page_leads_to_each_step(client):
    campaign = campaign_of(answered=2)
    client.force_login(UserFactory())

    page = client.get(campaign.get_absolute_url()).content.decode()

    assert "all required checks are done." in page
    assert f'class="button" href="/review/{campaign.slug}/releases/"' in page


def test_the_review_says_how_many_workers_wait_for_it():
    review = {"share": 0, "first": 1, "trial": 1}
    campaign = CampaignFactory(config={"references": 1, "review": review})
    for response in ResponseFactory.create_batch(2, task__campaign=campaign):
        SpotCheckFactory(response=response, is_first=True)

    assert sentences(campaign, open_checks=2) == [
        "2 captions need review. 2 workers are waiting for it."
    ]


def entrances(campaign):
    return how_people_get_in(campaign, progress(campaign))


def test_the_link_for_workers_comes_with_the_first_hit():
    campaign = campaign_of()

    assert [step.address for step in entrances(campaign)] == [""]
    HitFactory(hit_type__campaign=campaign, hit_type__hit_type_id="GROUP1")

    assert entrances(campaign)[-1].address.endswith("/mturk/preview?groupId=GROUP1")


def test_the_link_leads_to_the_hits_of_a_reward_that_was_changed_back():
    campaign = campaign_of()
    reward = campaign.config.hit.reward
    for group, paid in [("GROUP1", reward), ("GROUP2", reward + 1)]:
        HitFactory(hit_type__campaign=campaign, hit_type__hit_type_id=group, hit_type__reward=paid)

    assert entrances(campaign)[-1].address.endswith("/mturk/preview?groupId=GROUP1")


@pytest.mark.parametrize(
    ("who", "label", "sentence"),
    [
        ("own", "Invite people", "You can try the task yourself,"),
        ("panel", "Create a study", "Everybody with an account may work."),
        ("nocaps", "Invite people", "Workers need: country US, 5,000 approved HITs, "),
    ],
)
def test_how_people_get_in_depends_on_who_may_work(who, label, sentence):
    campaign = CampaignFactory(config={"references": 1, "workers": {"who": who}}, tasks=1)
    HitFactory(hit_type__campaign=campaign)

    first, last = entrances(campaign)

    assert first.label == label
    assert last.sentence.startswith(sentence)


def test_amazons_workers_are_not_invited():
    campaign = campaign_of(endpoint="sandbox")
    HitFactory(hit_type__campaign=campaign, hit_type__hit_type_id="GROUP1")

    (only,) = entrances(campaign)

    assert only.address == "https://workersandbox.mturk.com/mturk/preview?groupId=GROUP1"


@pytest.mark.parametrize("status", ["DRAFT", "PAUSED", "FINISHED"])
def test_nobody_gets_in_unless_the_campaign_runs(status):
    assert entrances(campaign_of(status=status)) == []


def test_nobody_is_asked_for_when_all_is_done():
    assert entrances(campaign_of(answered=2)) == []


def test_a_reviewer_is_shown_the_next_review(client):
    campaign = CampaignFactory(slug="pilot", status=CampaignStatus.RUNNING)
    SpotCheckFactory(campaign=campaign, response=ResponseFactory(task__campaign=campaign))
    client.force_login(UserFactory(team__role="REVIEWER"))

    page = client.get("/campaigns/pilot/").content.decode()

    assert "1 caption needs review." in page


@pytest.mark.parametrize(("role", "sees"), [("REVIEWER", True), ("VIEWER", False)])
def test_the_start_page_says_what_waits_for_reviewers_in_each_campaign(client, role, sees):
    pilot, other = CampaignFactory(slug="pilot"), CampaignFactory(slug="other")
    for campaign in (pilot, pilot, other):
        SpotCheckFactory(campaign=campaign, response=ResponseFactory(task__campaign=campaign))
    Proposal.objects.create(
        campaign=other, worker=WorkerFactory(), reason="lists", proposed_at=NOON
    )
    CampaignFactory(slug="quiet")
    client.force_login(UserFactory(team__role=role))

    page = client.get("/")

    assert [step.sentence for step in page.context["steps"]] == sees * [
        "other: 1 worker is proposed for exclusion.",
        "other: 1 caption needs review.",
        "pilot: 2 captions need review.",
    ]
    assert ('href="/review/pilot/?only=required"' in page.content.decode()) == sees
