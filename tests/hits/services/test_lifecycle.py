"""Who published, paused, resumed and finished a campaign, or changed a published one, is logged."""

import html
from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from annotate.campaign_file import CampaignConfig
from annotate.kinds import CampaignNotPossible
from annotate.models import Campaign, Submission, Task
from annotate.services.campaigns import change_campaign
from annotate.services.drafts import begin_draft
from annotate.services.responses import close_or_reopen
from background.jobs.requests import cancel_job
from background.models import Job
from hits.models import HitStatus
from hits.queries.costs import spend
from hits.reconcile.reconciler import reconcile
from hits.services.lifecycle import (
    BadAmount,
    BadChange,
    CannotMove,
    ChangedMeanwhile,
    add_to_budget,
    ask_to_publish,
    change_reward,
    finish,
    pause,
    publish,
    raise_review_share,
    save_draft,
    terms_of,
)
from qualcontrol.models import Act, Decision, SpotCheck
from qualcontrol.queries.decision_log import found_decisions
from qualcontrol.review.gold import seed_gold
from qualcontrol.review.judging import judge
from qualcontrol.risk.estimate import random_order
from qualcontrol.services.sampling import draw_spot_checks
from tests.factories import (
    NOON,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
    make_campaign,
)
from tests.jobs import run_jobs
from tests.races import just_before_lock, while_open
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


@pytest.mark.django_db(transaction=True)
def test_amounts_added_at_once_are_all_added_and_logged():
    campaign = CampaignFactory(status="RUNNING", budget="10.00")

    def act(_):
        row = Campaign.objects.get(pk=campaign.pk)
        add_to_budget(campaign=row, amount=Decimal(1), actor=None, at=NOON)

    at_once(act, range(4))

    campaign.refresh_from_db()
    assert campaign.budget == 14
    assert campaign.decisions.filter(act=Act.BUDGET).count() == 4


def with_reward(campaign, reward):
    """What a colleague does: save the draft with another reward."""
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
    seen = client.get(f"{api}/estimate/").json()["total"]
    change()
    return client.post(f"{api}/publish/", {"cost": seen}, content_type="application/json")


def main_fields(page):
    return BeautifulSoup(page.content, "lxml").select("main form input[type=hidden][value]")


@pytest.mark.parametrize("publish_as_seen", [publish_by_page, publish_by_api])
def test_a_cost_that_nobody_has_seen_is_not_published(client, requester, publish_as_seen):
    campaign = make_campaign(tasks=1, status="DRAFT")
    client.force_login(UserFactory())

    answer = publish_as_seen(client, campaign, lambda: with_reward(campaign, "9.00"))

    assert "now, and $0.36 with a budget" in html.unescape(answer.content.decode())
    assert not Job.objects.exists()


def test_a_cost_that_is_the_same_is_published(client, requester):
    client.force_login(UserFactory())

    for publish_as_seen in (publish_by_page, publish_by_api):
        campaign = make_campaign(tasks=1, status="DRAFT")
        publish_as_seen(client, campaign, lambda: None)
        run_jobs()
        campaign.refresh_from_db()
        assert campaign.status == "RUNNING"


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


@pytest.fixture
def user():
    return UserFactory()


@pytest.fixture
def signed_in(client, user):
    client.force_login(user)
    return client


@pytest.fixture
def by(user):
    return {"reason": "a pilot took longer", "actor": user, "at": NOON}


def test_a_raised_budget_is_in_the_decision_log(by):
    campaign = CampaignFactory(budget="10.00")

    add_to_budget(campaign=campaign, amount=Decimal("5.50"), seen=Decimal("10.00"), **by)

    decision = Decision.objects.get()
    assert campaign.budget == Decimal("15.50")
    assert (decision.act, decision.actor) == (Act.BUDGET, by["actor"])
    assert decision.reason == "From $10.00 to $15.50. a pilot took longer"


def test_a_budget_is_not_raised_twice_by_one_form(by):
    campaign = CampaignFactory(budget="10.00")
    once = {"campaign": campaign, "amount": Decimal(5), "seen": Decimal(10), **by}
    add_to_budget(**once)

    with pytest.raises(ChangedMeanwhile):
        add_to_budget(**once)

    assert Campaign.objects.get().budget == 15
    assert Decision.objects.count() == 1


def test_a_finished_campaign_is_not_changed(by):
    campaign = CampaignFactory(status="FINISHED", budget="10.00")

    for change, values in (
        (add_to_budget, {"amount": Decimal(1), "seen": Decimal(10)}),
        (change_reward, {"reward": Decimal("0.20"), "seen": Decimal("0.10")}),
        (raise_review_share, {"share": 0.5, "seen": 0.02}),
    ):
        with pytest.raises(CannotMove):
            change(campaign=campaign, **values, **by)

    assert not Decision.objects.exists()


def test_an_impossible_amount_changes_nothing(by):
    campaign = CampaignFactory(budget="10.00", config={"review": {"share": 0.02}})

    with pytest.raises(BadAmount):
        add_to_budget(campaign=campaign, amount=Decimal(-1), seen=Decimal(10), **by)
    with pytest.raises(BadChange):
        change_reward(campaign=campaign, reward=Decimal("0.10"), seen=Decimal("0.10"), **by)
    with pytest.raises(BadChange):
        change_reward(campaign=campaign, reward=Decimal("0.001"), seen=Decimal("0.10"), **by)
    with pytest.raises(BadChange):
        raise_review_share(campaign=campaign, share=0.01, seen=0.02, **by)

    assert not Decision.objects.exists()


def test_a_changed_reward_gives_new_hits_of_a_new_type(requester, by):
    campaign = make_campaign(tasks=2, budget="50.00")
    reconcile(campaign)
    old = campaign.hit_types.get()

    changed = change_reward(campaign=campaign, reward=Decimal("0.25"), seen=Decimal("0.10"), **by)
    for _ in range(3):
        reconcile(Campaign.objects.get(pk=campaign.pk))

    new = changed.hit_types.exclude(pk=old.pk).get()
    open_now = changed.hits.filter(status=HitStatus.OPEN)
    assert {hit.reward for hit in open_now} == {Decimal("0.25")}
    assert {hit.hit_type_id for hit in open_now} == {new.pk}
    assert new.exclusion_type_id == old.exclusion_type_id
    assert sum(hit.slots for hit in open_now) == 6
    assert not changed.hits.filter(hit_type=old, available__gt=0).exists()
    assert Decision.objects.get().reason.startswith("From $0.10 to $0.25.")


def test_the_budget_holds_after_the_reward_is_raised(requester, by):
    campaign = make_campaign(tasks=4)
    Campaign.objects.filter(pk=campaign.pk).update(budget="1.44")
    reconcile(Campaign.objects.get(pk=campaign.pk))

    change_reward(campaign=campaign, reward=Decimal("0.50"), seen=Decimal("0.10"), **by)
    for _ in range(3):
        found = Campaign.objects.get(pk=campaign.pk)
        reconcile(found)
        assert spend(found).committed <= found.budget

    assert sum(hit.slots for hit in found.hits.filter(status=HitStatus.OPEN)) == 2


def test_hit_types_found_at_the_marketplace_keep_the_earlier_reward(by):
    hit_type = HitTypeFactory()

    change_reward(campaign=hit_type.campaign, reward=Decimal("0.25"), seen=Decimal("0.10"), **by)

    hit_type.refresh_from_db()
    assert hit_type.reward == Decimal("0.10")


def test_a_raised_share_draws_the_checks_that_it_adds(by):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    task = TaskFactory(campaign=campaign, wanted=30)
    responses = [ResponseFactory(task=task) for _ in range(20)]

    raise_review_share(campaign=campaign, share=0.5, seen=0.0, **by)
    some = SpotCheck.objects.filter(campaign=campaign, is_random=True).count()
    raise_review_share(campaign=campaign, share=1.0, seen=0.5, **by)

    assert some < SpotCheck.objects.filter(is_random=True).count() == len(responses)
    assert set(Decision.objects.values_list("act", flat=True)) == {Act.SHARE}


def test_a_sync_that_has_read_the_old_share_draws_by_the_new_one(by):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    raise_review_share(campaign=Campaign.objects.get(), share=1.0, seen=0.0, **by)
    response = ResponseFactory(task__campaign=campaign)

    draw_spot_checks(campaign=campaign, responses=[response], at=NOON)

    assert SpotCheck.objects.get().is_random


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("comes_first", ["sync", "share"])
def test_a_raised_share_misses_nothing_that_is_stored_at_this_moment(by, comes_first):
    campaign = CampaignFactory(config={"review": {"share": 0.0, "first": 0}})
    task = TaskFactory(campaign=campaign)

    def store():
        response = ResponseFactory(task=task)
        draw_spot_checks(campaign=campaign, responses=[response], at=NOON)

    def raise_share():
        raise_review_share(campaign=Campaign.objects.get(), share=1.0, seen=0.0, **by)

    while_open(*((store, raise_share) if comes_first == "sync" else (raise_share, store)))

    assert SpotCheck.objects.get().is_random


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


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_once_one_is_made(by):
    campaign = CampaignFactory(budget="10.00")

    def change(amount):
        try:
            add_to_budget(campaign=campaign, amount=Decimal(amount), seen=Decimal(10), **by)
        except ChangedMeanwhile:
            return 0
        return amount

    added = at_once(change, [1, 2])

    assert sorted(map(bool, added)) == [False, True]
    assert Campaign.objects.get().budget == 10 + sum(added)
    assert Decision.objects.count() == 1


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
        BeautifulSoup(signed_in.get("/campaigns/pilot/finish/confirm/").content, "html.parser")
        .get_text(" ")
        .split()
    )

    assert "cannot be resumed" in text
    assert "Assignments that nobody has begun: withdrawn 7" in text
    assert "Begun assignments: can be submitted, and are paid 2" in text
    assert "released $0.84" in text
    assert "0 of 1 image is complete" in text
    assert Campaign.objects.get().status == "RUNNING"


@pytest.mark.parametrize("page", ["finish/confirm", "pause/confirm", "change"])
def test_researchers_of_own_people_read_of_task_pages_and_of_no_assignments(signed_in, page):
    CampaignFactory(slug="pilot", tasks=1, config={"workers": {"who": "own"}})

    text = " ".join(signed_in.get(f"/campaigns/pilot/{page}/").content.decode().split())

    assert "ask pages that nobody has begun" in text
    assert "assignment" not in text.lower()


def test_pausing_shows_its_consequences_first(signed_in):
    CampaignFactory(slug="pilot")

    page = signed_in.get("/campaigns/pilot/pause/confirm/").content.decode()

    assert "you can resume the campaign" in page
    assert Campaign.objects.get().status == "RUNNING"


def saved_with(section, **values):
    """The only campaign, a draft, saved with these values in a section of its file."""
    row = Campaign.objects.get()
    file = {**row.config_json, section: {**row.config_json[section], **values}}
    draft = begin_draft(owner=UserFactory(), campaign=row, file=file, at=NOON)
    return save_draft(draft=draft, endpoint="local", at=NOON)


def test_a_draft_that_is_edited_keeps_what_was_added_to_its_budget():
    campaign = CampaignFactory(status="DRAFT")
    add_to_budget(campaign=campaign, amount=Decimal(500), actor=None, at=NOON)

    saved = saved_with("instructions", intro="Look closely.")

    assert saved.budget == saved.config.budget == 1500


def test_a_draft_with_gold_items_keeps_its_tasks():
    campaign = CampaignFactory(status="DRAFT", tasks=1)
    made_up = {"text": "A dog.", "reason": "vague", "actor": UserFactory(), "at": NOON}
    seed_gold(task=campaign.tasks.get(), **made_up)

    with pytest.raises(CampaignNotPossible, match="gold items"):
        saved_with("priming", share=0)

    assert campaign.tasks.count() == 1


@pytest.mark.parametrize("verdict", ["GOOD", "BAD"])
def test_a_draft_that_wants_one_reviewer_takes_the_judgement_that_there_is(verdict):
    review = {"share": 0, "first": 0, "reviewers": 2}
    response = ResponseFactory(
        task__campaign=CampaignFactory(status="DRAFT", config={"review": review})
    )
    judge(response=response, verdict=verdict, reason="vague", reviewer=UserFactory(), at=NOON)
    assert not SpotCheck.objects.get().verdict

    saved_with("review", reviewers=1)

    response.refresh_from_db()
    assert SpotCheck.objects.get().verdict == verdict
    assert (response.status == "DISCARDED") == (verdict == "BAD")


def test_a_draft_that_wants_fewer_first_checks_drops_those_of_what_was_imported():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 3}})
    tasks, worker = TaskFactory.create_batch(5, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)

    saved_with("review", first=1)

    assert [check.response for check in SpotCheck.objects.filter(is_first=True)] == responses[:1]


def test_a_draft_that_wants_more_first_checks_takes_those_that_are_drawn_by_chance():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0, "first": 1}})
    tasks, worker = TaskFactory.create_batch(4, campaign=campaign), WorkerFactory()
    responses = [ResponseFactory(task=task, worker=worker) for task in tasks]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)
    SpotCheckFactory(response=responses[1])

    saved_with("review", first=3)

    firsts = SpotCheck.objects.filter(is_first=True).order_by("response")
    assert [check.response for check in firsts] == responses[:3]


@pytest.mark.parametrize(("quorum", "missing"), [(5, 9), (1, 0)])
def test_a_draft_with_another_quorum_opens_or_closes_imported_images(quorum, missing):
    rules = {"cannot_describe": ["Too dark"], "cannot_describe_quorum": 2}
    campaign = CampaignFactory(status="DRAFT", config={"captions": rules})
    task = TaskFactory(campaign=campaign, wanted=11)
    ResponseFactory.create_batch(2, task=task, cannot_describe="Too dark")
    Task.objects.update(answers_missing=9, places_left=9)
    close_or_reopen([task.pk])

    saved_with("captions", cannot_describe_quorum=quorum)

    task.refresh_from_db()
    assert task.answers_missing == missing


def test_a_paused_campaign_that_costs_less_by_now_goes_on():
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


def test_a_draft_with_another_share_draws_the_checks_of_what_was_imported_into_it():
    campaign = CampaignFactory(status="DRAFT", config={"review": {"share": 0.2, "first": 0}})
    task = TaskFactory(campaign=campaign, wanted=30)
    responses = [ResponseFactory(task=task) for _ in range(30)]
    draw_spot_checks(campaign=campaign, responses=responses, at=NOON)
    order = {one.pk: random_order(campaign.config.seed, one.pk) for one in responses}
    last = max(responses, key=lambda one: order[one.pk])

    def drawn_by(share):
        row = Campaign.objects.get()
        file = {**row.config_json, "review": {**row.config_json["review"], "share": share}}
        draft = begin_draft(owner=UserFactory(), campaign=row, file=file, at=NOON)
        assert save_draft(draft=draft, endpoint="local", at=NOON) == row
        return set(SpotCheck.objects.filter(is_random=True).values_list("response", flat=True))

    assert drawn_by(1.0) == set(order)
    judge(response=last, verdict="GOOD", reason="", reviewer=None, at=NOON)
    assert drawn_by(0.3) == {one for one in order if order[one] < 0.3}
    assert SpotCheck.objects.get(response=last).verdict == "GOOD"
    assert SpotCheck.objects.open().count() == len([one for one in order if order[one] < 0.3])
