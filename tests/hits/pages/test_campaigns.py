"""The list of campaigns, and a campaign's page with the data of its charts."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.models import CampaignStatus, Release
from hits.models import Sync
from hits.pages.campaigns import bars, course_path, hour_bars, pay_chart
from hits.queries.statistics import Hour, Moment, Pay
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ClaimFactory,
    HitFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def pay(*each: float) -> Pay:
    middle = Decimal(str(sorted(each)[len(each) // 2]))
    return Pay(40, middle, middle, middle, list(each))


def test_the_highest_bar_is_as_high_as_the_chart():
    drawn = bars([2, 0, 4], ["two", "none", "four"])

    assert [bar.height for bar in drawn] == [50, 0, 100]
    assert [bar.y for bar in drawn] == [50, 100, 0]
    assert drawn[-1].x + drawn[-1].width <= 100


def test_an_hours_bar_says_when_it_was_and_how_many():
    (bar,) = hour_bars([Hour(NOON, 7)])

    assert bar.title == "2 Nov, 12:00 UTC: 7"


def test_a_course_goes_from_nothing_to_what_there_is_of_what_is_wanted():
    moments = [
        Moment(NOON, 0),
        Moment(NOON + timedelta(hours=1), 10),
        Moment(NOON + timedelta(hours=4), 30),
    ]

    assert course_path(moments, wanted=40) == "M0.00 100.00L25.00 75.00L100.00 25.00"
    assert course_path([], wanted=40) == ""


def test_more_than_is_wanted_stays_within_the_chart():
    moments = [Moment(NOON, 0), Moment(NOON + timedelta(hours=1), 50)]

    assert course_path(moments, wanted=40).endswith("100.00 0.00")


def test_every_response_is_in_a_bar_of_what_it_pays():
    drawn = pay_chart(pay(6.5, 7.5, 7.6, 9.0, 9.9))

    assert drawn.end == 10
    assert [bar.title for bar in drawn.bars if bar.height] == [
        "$6 to $7 an hour: 1",
        "$7 to $8 an hour: 2",
        "$9 an hour and more: 2",
    ]
    assert drawn.median == 76.0


@pytest.mark.parametrize("largest", [3.0, 90.0, 360.0, 12_345.0])
def test_a_chart_of_pay_has_few_bars_whatever_is_paid(largest):
    drawn = pay_chart(pay(*[largest] * 40, largest * 50))

    assert 1 <= len(drawn.bars) <= 16
    assert largest < drawn.end
    assert drawn.bars[-1].title.endswith("an hour and more: 41")


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
