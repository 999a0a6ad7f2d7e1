"""Who published, paused, resumed and finished a campaign is logged."""

from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotate.campaign_file import CampaignConfig
from annotate.models import Campaign, Submission
from annotate.services.campaigns import change_campaign
from annotate.services.responses import close_or_reopen
from background.jobs.requests import cancel_job
from background.models import Job
from hits.services.lifecycle import (
    CannotMove,
    ChangedMeanwhile,
    add_to_budget,
    ask_to_publish,
    finish,
    pause,
    publish,
    terms_of,
)
from qualcontrol.models import Act, Decision
from qualcontrol.queries.decision_log import found_decisions
from tests.factories import NOON, CampaignFactory, ResponseFactory, UserFactory, make_campaign
from tests.jobs import run_jobs
from tests.races import just_before_lock
from tests.threads import at_once, locked_elsewhere

pytestmark = pytest.mark.django_db

PUBLISHED = [Act.PUBLISH, Act.HALT, Act.CONTINUE, Act.FINISH]


def acts_of(campaign):
    return [decision.act for decision in campaign.decisions.order_by("pk")]


def test_each_move_is_in_the_decision_log_with_its_actor(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    ada = UserFactory(username="ada")
    by = {"campaign": campaign, "actor": ada, "at": NOON}

    publish(**by)
    pause(**by)
    publish(**by)
    finish(**by)

    assert acts_of(campaign) == PUBLISHED
    assert {(one.decided_by, one.at) for one in campaign.decisions.all()} == {("ada", NOON)}


def test_a_move_that_is_not_possible_is_not_logged():
    campaign = CampaignFactory(status="DRAFT")

    for move in (pause, finish):
        with pytest.raises(CannotMove):
            move(campaign=campaign, actor=None, at=NOON)

    assert not Decision.objects.exists()


def test_commands_are_named_in_place_of_an_actor(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")

    call_command("publish", campaign.slug)
    call_command("pause", campaign.slug)
    call_command("add_to_budget", campaign.slug, "5")
    call_command("finish", campaign.slug)

    assert acts_of(campaign) == [Act.PUBLISH, Act.HALT, Act.BUDGET, Act.FINISH]
    assert {one.decided_by for one in campaign.decisions.all()} == {"command"}


def test_pages_and_the_api_name_the_account(client, requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    client.force_login(UserFactory(username="ada"))
    page, api = f"/campaigns/{campaign.slug}", f"/api/campaigns/{campaign.slug}"
    steps = [
        (f"{page}/publish/", {}),
        (f"{page}/pause/", {}),
        (f"{api}/publish/", {}),
        (f"{api}/budget/", {"amount": "2.50"}),
        (f"{api}/pause/", {}),
        (f"{api}/finish/", {}),
    ]

    for address, fields in steps:
        sent = {"content_type": "application/json"} if address.startswith(api) else {}
        assert client.post(address, fields, **sent).status_code in {200, 202, 302}
        run_jobs()

    assert acts_of(campaign) == [
        Act.PUBLISH,
        Act.HALT,
        Act.CONTINUE,
        Act.BUDGET,
        Act.HALT,
        Act.FINISH,
    ]
    assert {one.decided_by for one in campaign.decisions.all()} == {"ada"}


def test_the_log_and_the_overview_say_it_in_words(client):
    campaign = CampaignFactory(slug="pilot", status="RUNNING", budget="10.00")
    client.force_login(UserFactory(username="ada"))
    add_to_budget(campaign=campaign, amount=Decimal("2.5"), actor=None, at=NOON)
    pause(campaign=campaign, actor=UserFactory(username="grace"), at=NOON)

    log = client.get("/review/pilot/decisions/").content.decode()
    overview = client.get("/campaigns/pilot/")

    assert "campaign paused" in log
    assert "From $10.00 to $12.50." in log
    assert "command" in {cell.text.strip() for cell in BeautifulSoup(log, "lxml").select("td")}
    assert overview.status_code == 200
    assert "Campaign paused by grace" in " ".join(overview.content.decode().split())


def test_entries_are_found_by_command():
    campaign = CampaignFactory(status="RUNNING")
    pause(campaign=campaign, actor=None, at=NOON)

    assert found_decisions(campaign, {"actor": "command"}).get().act == Act.HALT
    assert not found_decisions(campaign, {"actor": "campaign"}).exists()


@pytest.mark.django_db(transaction=True)
def test_of_several_pauses_at_once_one_is_logged():
    campaign = CampaignFactory(status="RUNNING")
    users = UserFactory.create_batch(4)

    def act(user):
        try:
            pause(campaign=Campaign.objects.get(pk=campaign.pk), actor=user, at=NOON)
        except CannotMove:
            return False
        return True

    assert at_once(act, users).count(True) == 1
    assert acts_of(campaign) == [Act.HALT]


def with_reward(campaign, reward):
    """A colleague saves the draft with another reward."""
    file = {**campaign.config_json, "hit": {**campaign.config_json["hit"], "reward": reward}}
    change_campaign(
        campaign=campaign,
        config=CampaignConfig.model_validate(file),
        begun_from=campaign.config_json,
    )


def publish_by_page(client, campaign, change):
    page = client.get(f"/campaigns/{campaign.slug}/publish/")
    change()
    fields = {field["name"]: field["value"] for field in main_fields(page)}
    return client.post(f"/campaigns/{campaign.slug}/publish/", fields, follow=True)


def publish_by_api(client, campaign, change):
    api = f"/api/campaigns/{campaign.slug}"
    estimate = client.get(f"{api}/estimate/").json()
    change()
    seen = {name: estimate[name] for name in ("responses", "reward")} | {"cost": estimate["total"]}
    return client.post(f"{api}/publish/", seen, content_type="application/json")


def main_fields(page):
    return BeautifulSoup(page.content, "lxml").select("main form input[type=hidden][value]")


@pytest.mark.parametrize("publish_as_seen", [publish_by_page, publish_by_api])
def test_a_cost_that_nobody_has_seen_is_not_published(client, requester, publish_as_seen):
    campaign = make_campaign(tasks=1, status="DRAFT")
    client.force_login(UserFactory())

    answer = publish_as_seen(client, campaign, lambda: with_reward(campaign, "9.00"))

    assert "at a reward of $9.00 now" in answer.content.decode()
    assert not Job.objects.exists()


@pytest.mark.parametrize("publish_as_seen", [publish_by_page, publish_by_api])
@pytest.mark.parametrize(("reward", "other"), [("0.10", "0.05"), ("0.00", "0.00")])
def test_other_work_at_the_same_cost_is_not_published(
    client, requester, reward, other, publish_as_seen
):
    values = {"budget": "1000.00", "hit": {"reward": reward}, "workers": {"who": "own"}}
    campaign = make_campaign(tasks=1, status="DRAFT", **values)
    seen = terms_of(campaign)
    client.force_login(UserFactory())

    def change():
        with_reward(campaign, other)
        campaign.tasks.update(wanted=6)

    answer = publish_as_seen(client, campaign, change)

    assert terms_of(Campaign.objects.get())[2:] == seen[2:]
    assert f"6 responses at a reward of ${other}" in answer.content.decode()
    assert not Job.objects.exists()


def test_a_cost_that_is_the_same_is_published(client, requester):
    client.force_login(UserFactory())

    for publish_as_seen in (publish_by_page, publish_by_api):
        campaign = make_campaign(tasks=1, status="DRAFT")
        publish_as_seen(client, campaign, lambda: None)
        run_jobs()
        campaign.refresh_from_db()
        assert campaign.status == "RUNNING"


def test_a_page_that_was_loaded_before_a_pause_does_not_undo_it(client, requester):
    campaign = make_campaign(tasks=1, status="PAUSED")
    client.force_login(UserFactory())

    def resume_and_pause():
        Campaign.objects.update(status="RUNNING")
        pause(campaign=campaign, actor=None, at=NOON)

    answer = publish_by_page(client, campaign, resume_and_pause)

    assert "is paused meanwhile" in answer.content.decode()
    assert not Job.objects.exists()


def test_the_command_publishes_at_the_given_cost_only(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")

    with pytest.raises(CommandError, match="costs about"):
        call_command("publish", campaign.slug, "--cost=0.35")
    call_command("publish", campaign.slug, "--cost=0.36")

    campaign.refresh_from_db()
    assert campaign.status == "RUNNING"


def test_a_draft_that_is_saved_before_the_job_runs_is_not_published(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    ask_to_publish(campaign=campaign, actor=None, at=NOON)
    with_reward(campaign, "9.00")

    (job,) = run_jobs()

    campaign.refresh_from_db()
    assert (job.status, campaign.status) == ("FAILED", "DRAFT")
    assert "was changed meanwhile" in job.error
    assert "$" not in job.error


@pytest.mark.django_db(transaction=True)
def test_a_draft_that_is_saved_at_the_moment_of_publishing_is_not_published(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")

    with just_before_lock(lambda: with_reward(campaign, "9.00")), pytest.raises(ChangedMeanwhile):
        publish(campaign=campaign, actor=None, at=NOON)

    campaign.refresh_from_db()
    assert campaign.status == "DRAFT"


def test_real_money_is_confirmed_together_with_its_amount(client, settings, monkeypatch):
    settings.MTURK_ENDPOINT = "production"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    campaign = CampaignFactory(slug="pilot", status="DRAFT", endpoint="production", tasks=1)
    client.force_login(UserFactory())
    page = "/campaigns/pilot/publish/"
    shown = {field["name"]: field["value"] for field in main_fields(client.get(page))}

    client.post(page, {"confirmed": "yes"})
    without = Job.objects.count()
    client.post(page, {**shown, "confirmed": "yes"})

    assert without == 0
    assert Job.objects.get().about == campaign


@pytest.mark.django_db(transaction=True)
def test_a_resumption_that_waits_does_not_undo_a_later_pause(requester):
    campaign = make_campaign(tasks=1, status="PAUSED")
    ask_to_publish(campaign=campaign, actor=None, at=NOON)
    with locked_elsewhere(f"sync-{campaign.pk}"):
        (job,) = run_jobs()
    resumed = Campaign.objects.get().status, job.status
    pause(campaign=campaign, actor=None, at=NOON)
    Job.objects.update(due_at=timezone.now())

    (job,) = run_jobs()

    assert resumed == ("RUNNING", "WAITING")
    assert (Campaign.objects.get().status, job.status) == ("PAUSED", "FAILED")
    assert "is paused meanwhile" in job.error


@pytest.mark.django_db(transaction=True)
def test_a_job_that_has_published_does_not_say_that_it_was_never_started(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    ask_to_publish(campaign=campaign, actor=None, at=NOON)
    with locked_elsewhere(f"sync-{campaign.pk}"):
        (job,) = run_jobs()

    cancel_job(job=job, user=None, at=timezone.now())

    assert Campaign.objects.get().status == "RUNNING"
    assert "What it has done stays." in job.lines.order_by("pk").last().text


def test_a_paused_campaign_that_costs_less_by_now_continues():
    rules = {"cannot_describe": ["Too dark"], "cannot_describe_quorum": 1}
    campaign = make_campaign(tasks=2, status="PAUSED", captions=rules)
    seen = terms_of(campaign)
    task = campaign.tasks.first()
    submission = Submission.objects.create()
    ResponseFactory(task=task, cannot_describe="Too dark", submission=submission)
    close_or_reopen([task.pk])
    assert terms_of(campaign).cost < seen.cost

    job = ask_to_publish(campaign=campaign, actor=None, at=NOON, seen=seen)

    assert job.kind == "publish"
