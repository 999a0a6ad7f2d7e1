"""The researcher's pages, which need sign-in."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command
from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus, Release, ResponseStatus
from background.models import Job
from hits.models import Sync
from hits.queries.statistics import measured_pay, responses_per_hour
from qualcontrol.models import Act, Decision, Proposal
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ClaimFactory,
    HitFactory,
    ImageFactory,
    LinkResponseFactory,
    ResponseFactory,
    SelectionFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
    make_campaign,
)
from tests.jobs import run_jobs
from tests.routes import named_addresses

pytestmark = [pytest.mark.django_db, pytest.mark.database]

# Addresses that are there for workers' browsers, for signing in, and for the signed-out.
OPEN_TO_ALL = {
    "login",
    "logout",
    "image-copy",
    "hits:task",
    "hits:told",
    "admin:login",
    "api-token",
    "api-schema",
    "leaderboard:board",
    "leaderboard:sign_up",
    "account:invitation",
    "password_reset",
    "password_reset_done",
    "password_reset_confirm",
    "healthz",
    "readyz",
    "metrics",
}


@pytest.fixture
def signed_in(client):
    client.force_login(UserFactory())
    return client


def test_every_address_asks_the_signed_out_to_sign_in(client):
    CampaignFactory(slug="pilot")
    seen = set()

    for name, arguments in named_addresses():
        if name in OPEN_TO_ALL:
            continue
        answer = client.get(reverse(name, kwargs=arguments))
        asks = answer.status_code == 401 or (
            answer.status_code == 302 and answer.url.startswith(("/sign-in/", "/admin/login/"))
        )
        assert asks, f"{name} answers {answer.status_code}"
        seen.add(name)

    assert {"hits:campaign", "qualcontrol:queue", "annotate:release", "api-release-file"} <= seen


def test_the_sign_in_page_lets_a_user_in(client):
    user = UserFactory(username="ada")
    user.set_password("a long one")
    user.save()

    answer = client.post("/sign-in/", {"username": "ada", "password": "a long one"})

    assert (answer.status_code, answer.url) == (302, "/")


def test_a_wrong_password_is_answered_with_an_error(client):
    answer = client.post("/sign-in/", {"username": "ada", "password": "a wrong one"})

    assert 'role="alert"' in answer.content.decode()


def test_the_pages_allow_no_inline_script_or_style(signed_in):
    CampaignFactory(slug="pilot", tasks=1)

    answer = signed_in.get("/campaigns/pilot/")

    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert " style=" not in answer.content.decode()


@pytest.mark.parametrize(
    ("endpoint", "label"),
    [
        ("local", "local"),
        ("sandbox", "sandbox"),
        ("production", "production · real money"),
        ("https://market.example:9000", "market.example:9000"),
    ],
)
@pytest.mark.parametrize(
    "address", ["hits:campaign", "qualcontrol:queue", "qualcontrol:workers", "qualcontrol:releases"]
)
def test_a_campaigns_marketplace_stands_on_each_of_its_pages(signed_in, address, endpoint, label):
    CampaignFactory(slug="pilot", endpoint=endpoint)

    page = signed_in.get(reverse(address, args=["pilot"])).content.decode()

    header = " ".join(page.split("</header>")[0].split())
    assert f"{label} </span>" in header


def test_other_pages_show_the_installations_marketplace(signed_in, settings):
    settings.MTURK_ENDPOINT = "sandbox"

    assert 'class="endpoint sandbox"' in signed_in.get("/").content.decode()


def test_the_campaign_list_shows_progress_within_what_is_wanted(
    signed_in, django_assert_max_num_queries
):
    campaign = CampaignFactory(slug="pilot", config={"references": 1})
    task = TaskFactory(campaign=campaign)
    for _ in range(3):
        ResponseFactory(task=task)
    ClaimFactory(task=TaskFactory(campaign=campaign))
    CampaignFactory.create_batch(4, tasks=2)

    with django_assert_max_num_queries(8):
        page = signed_in.get("/")

    numbers = {found.slug: overview for found, overview in page.context["campaigns"]}["pilot"]
    assert (numbers.tasks, numbers.wanted, numbers.answered) == (2, 4, 2)


def slugs_of(page):
    return [campaign.slug for campaign, _ in page.context["campaigns"]]


def test_the_campaign_list_is_filtered_ordered_and_downloaded(signed_in):
    for slug, status in (("cats", "DRAFT"), ("dogs", "RUNNING"), ("cats-again", "FINISHED")):
        CampaignFactory(slug=slug, status=status, tasks=2)

    assert slugs_of(signed_in.get("/", {"name": "CAT", "sort": "name"})) == ["cats", "cats-again"]
    assert slugs_of(signed_in.get("/", {"status": "RUNNING"})) == ["dogs"]
    assert slugs_of(signed_in.get("/", {"kind": "rating"})) == []
    assert KINDS["rating"].label in signed_in.get("/").content.decode()
    assert "No campaign fits these filters." in signed_in.get("/", {"name": "x"}).content.decode()
    file = signed_in.get("/", {"format": "csv", "sort": "name"}).getvalue().decode()
    assert [line.split(",")[0] for line in file.splitlines()] == [
        "campaign", "cats", "cats-again", "dogs",
    ]  # fmt: skip


def test_the_list_counts_a_release_in_all_languages_for_each_campaign_of_the_family(signed_in):
    first = CampaignFactory(slug="english", family="scenes")
    CampaignFactory(slug="german", family="scenes")
    CampaignFactory(slug="other")
    Release.objects.create(
        name="all", campaign=first, languages=["en", "de"], seed=1, context={}, created_at=NOON
    )
    Release.objects.create(name="one", campaign=first, seed=1, context={}, created_at=NOON)

    page = signed_in.get("/", {"sort": "name"})

    counted = {campaign.slug: campaign.release_count for campaign, _ in page.context["campaigns"]}
    assert counted == {"english": 2, "german": 1, "other": 0}


def test_a_reviewer_gets_no_budgets_with_the_list(client):
    CampaignFactory(slug="pilot", budget="61.25")
    client.force_login(UserFactory(team__role="REVIEWER"))

    file = client.get("/", {"format": "csv"}).getvalue().decode()

    assert "pilot" in file
    assert "budget" not in file
    assert "61.25" not in file


def test_without_campaigns_the_page_says_how_to_begin(signed_in):
    page = signed_in.get("/").content.decode()

    assert 'href="/images/import/"' in page
    assert 'href="/new/"' in page


def test_the_campaign_page_shows_its_numbers(signed_in):
    campaign = CampaignFactory(slug="pilot", budget="60.00", config={"references": 2})
    task = TaskFactory(campaign=campaign)
    ResponseFactory(task=task, seconds=40, submitted_at=timezone.now())
    ResponseFactory(task=task, status="DISCARDED")
    hit = HitFactory(hit_type__campaign=campaign, slots=2, available=1)
    AssignmentFactory(hit=hit, status="APPROVED", submitted_at=NOON, decided_at=NOON)
    Sync.objects.create(campaign=campaign, started_at=NOON, error="The marketplace is away.")

    page = " ".join(signed_in.get("/campaigns/pilot/").content.decode().split())

    assert "1 <small>of 3 wanted</small>" in page
    assert "$0.24 <small>of $60.00</small>" in page
    assert "$9.00 <small>per hour (median)</small>" in page
    assert "The marketplace is away." in page


@pytest.mark.parametrize("year", [2, 2100])
def test_a_response_of_an_absurd_date_leaves_the_campaign_page_small(signed_in, year):
    task = TaskFactory(campaign=CampaignFactory(slug="pilot"))
    ResponseFactory(task=task, submitted_at=datetime(year, 2, 22, tzinfo=UTC))
    ResponseFactory(task=task, submitted_at=NOON)

    page = signed_in.get("/campaigns/pilot/").content

    assert len(page) < 60_000


def test_the_campaign_page_takes_the_same_queries_for_many_rows(
    signed_in, django_assert_max_num_queries
):
    campaign = CampaignFactory(slug="pilot")
    for _ in range(12):
        ResponseFactory(task__campaign=campaign)

    with django_assert_max_num_queries(42):
        signed_in.get("/campaigns/pilot/")


def test_an_unknown_campaign_is_not_found_in_the_sites_own_page(signed_in):
    answer = signed_in.get("/campaigns/nothing/")

    assert answer.status_code == 404
    assert "There is no page at this address" in answer.content.decode()


def test_responses_per_hour_counts_each_whole_hour():
    campaign = CampaignFactory()
    for minutes in (0, 30, 59, 61, 60 * 30):
        ResponseFactory(
            task__campaign=campaign,
            submitted_at=NOON.replace(minute=59) - timedelta(minutes=minutes),
        )
    ResponseFactory(submitted_at=NOON)

    hours = responses_per_hour(campaign, at=NOON.replace(minute=59), hours=3)

    assert [(hour.begins_at.hour, hour.responses) for hour in hours] == [(10, 0), (11, 1), (12, 3)]


def test_measured_pay_is_at_the_median_pace_of_an_image():
    campaign = CampaignFactory(config={"hit": {"images": 2, "reward": "0.20"}})
    for seconds in (10, 60, 3600):
        ResponseFactory(task__campaign=campaign, seconds=seconds)
    ResponseFactory(task__campaign=campaign, seconds=None)

    pay = measured_pay(campaign)

    assert (pay.median_seconds, pay.per_hour) == (60, Decimal("6.00"))


def test_measured_pay_is_unknown_before_the_first_response():
    assert measured_pay(CampaignFactory()) is None


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
    addresses = ["pause/confirm", "finish/confirm", "change", exclude]
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


@pytest.mark.parametrize("act", ["pause", "finish", "sync"])
def test_a_campaign_is_moved_by_a_post_alone(signed_in, act):
    CampaignFactory(slug="pilot")

    assert signed_in.get(f"/campaigns/pilot/{act}/").status_code == 405


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


def test_finishing_without_keys_finishes_and_says_what_is_left_to_do(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    campaign = CampaignFactory(slug="pilot", status=CampaignStatus.RUNNING)

    with pytest.raises(CommandError) as failure:
        call_command("finish", "pilot")

    campaign.refresh_from_db()
    assert campaign.status == CampaignStatus.FINISHED
    message = str(failure.value)
    assert message.startswith("pilot is finished, but the sync failed.")
    assert "submitted work is not imported or paid" in message
    assert "run `sync pilot`" in message
    assert "Unable to locate credentials" in message


def test_captions_without_a_time_are_not_taken_for_no_captions(signed_in):
    campaign = CampaignFactory(slug="pilot")
    ResponseFactory(task__campaign=campaign, seconds=0)

    page = signed_in.get("/campaigns/pilot/").content.decode()

    assert "no time has been recorded yet" in page


@pytest.mark.parametrize(("ingested", "said"), [(0, "nothing new"), (3, "3 imported")])
def test_a_sync_that_imported_nothing_shows_no_zeros(signed_in, ingested, said):
    campaign = CampaignFactory(slug="pilot", status="RUNNING")
    times = {"started_at": NOON, "seen_at": NOON, "finished_at": NOON}
    Sync.objects.create(campaign=campaign, ingested=ingested, **times)

    page = signed_in.get("/campaigns/pilot/").content.decode()

    assert said in page
    assert not re.search("<span>0 (imported|approved|rejected)", page)


def test_a_campaign_of_another_marketplace_is_not_asked_to_sync(signed_in):
    CampaignFactory(slug="pilot", endpoint="https://elsewhere.example")

    answer = signed_in.post("/campaigns/pilot/sync/", follow=True)

    assert "belongs to the marketplace" in answer.content.decode()
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("number", "hours_ago", "rate"),
    # The rate reads the same if the next hour begins meanwhile.
    [
        (1, 5, "less than <strong>1</strong> caption per hour"),
        (4, 3, "<strong>1</strong> caption per hour"),
        (8, 4, "<strong>2</strong> captions per hour"),
    ],
)
def test_a_slow_campaign_has_a_rate(signed_in, number, hours_ago, rate):
    campaign = CampaignFactory(status=CampaignStatus.RUNNING, config={"references": 20})
    for _ in range(number):
        at = timezone.now() - timedelta(hours=hours_ago)
        ResponseFactory(task__campaign=campaign, submitted_at=at)

    page = signed_in.get(f"/campaigns/{campaign.slug}/").content.decode()

    assert rate in page


def test_the_exclusion_page_shows_what_it_discards_and_costs(signed_in):
    campaign = CampaignFactory(slug="pilot")
    response = ResponseFactory(task__campaign=campaign)
    ResponseFactory(task__campaign=campaign, worker=response.worker)

    page = signed_in.get(f"/campaigns/pilot/workers/{response.worker.pseudonym}/exclude/")

    assert page.context["preview"].responses == 2
    assert "$0.24" in page.content.decode()
    assert not campaign.exclusions.exists()


def test_the_exclusion_page_of_links_speaks_of_responses_and_captions(signed_in):
    response = LinkResponseFactory(task__campaign__slug="pilot")

    page = signed_in.get(f"/campaigns/pilot/workers/{response.worker.pseudonym}/exclude/")

    assert "<dt>Responses discarded</dt><dd>1</dd>" in page.content.decode()
    assert "<dt>Captions reopened</dt><dd>1</dd>" in page.content.decode()


def test_excluding_needs_a_reason_and_is_logged(signed_in):
    campaign = CampaignFactory(slug="pilot")
    response = ResponseFactory(task__campaign=campaign)
    address = f"/campaigns/pilot/workers/{response.worker.pseudonym}/exclude/"

    without_reason = signed_in.post(address)
    with_reason = signed_in.post(address, {"reason": "keyword lists"}, follow=True)

    assert without_reason.status_code == 422
    assert "captions discarded: 1" in with_reason.content.decode()
    assert Decision.objects.get(act=Act.EXCLUDE).reason == "keyword lists"
    response.refresh_from_db()
    assert response.status == ResponseStatus.DISCARDED


def test_a_draft_is_made_from_a_pasted_file(signed_in):
    SelectionFactory(name="few", images=[ImageFactory(), ImageFactory()])
    text = 'name = "mine"\npreset = "coco-c5"\nselection = "few"\nbudget = "25.00"\n'

    answer = signed_in.post("/new/", {"text": text})

    campaign = Campaign.objects.get()
    assert answer.url == "/campaigns/mine/"
    assert (campaign.status, campaign.tasks.count()) == (CampaignStatus.DRAFT, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Choose a campaign file or paste its text."),
        ("name = ", "The text: not TOML: Invalid value"),
        ('name = "mine"', "budget: "),
        ('name = "mine"\nbudget = "1"', "one of selection"),
        ('name = "mine"\nselection = "few"\nbudget = "1"', "there is no selection"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(signed_in, text, message):
    answer = signed_in.post("/new/", {"text": text})

    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Campaign.objects.exists()


def test_a_surplus_caption_makes_up_for_no_missing_one(signed_in):
    campaign = CampaignFactory(slug="kites", config={"references": 1})
    first, second = TaskFactory.create_batch(2, campaign=campaign, wanted=2)
    for task in [first] * 3 + [second]:
        ResponseFactory(task=task)

    overview = signed_in.get("/campaigns/kites/").content.decode()
    finish = signed_in.get("/campaigns/kites/finish/confirm/").content.decode()

    assert "3 <small>of 4 wanted</small>" in overview
    assert "1 <small>of 2</small>" in overview
    assert "1 <small>not needed</small>" in overview
    assert "3 of 4 wanted captions" in finish


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
