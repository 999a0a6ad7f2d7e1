"""What *New campaign* says of pay per hour, by earlier campaigns, and of known workers."""

from decimal import Decimal

import pytest
from django.urls import reverse

from accounts.services.teams import first_team
from annotate.campaign_file import Workers
from annotate.models import Response
from annotate.services.drafts import begin_draft
from hits.queries.prospects import LEAST_ANSWERS, hourly_pay, known_workers_at, pilots
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    HitFactory,
    ResponseFactory,
    SelectionFactory,
    UserFactory,
    WorkerAccountFactory,
)
from tests.factories import config as file_of

pytestmark = pytest.mark.django_db

# Each answer is paid $0.10: at 40 s, $9.00 an hour.
CONFIG = file_of(name="next", selection="streets", hit={"reward": "0.10"})


def answers(campaign, seconds):
    """Submitted answers to the campaign that took these times."""
    for each in seconds:
        ResponseFactory(task__campaign=campaign, seconds=each)


def found():
    return pilots(CONFIG, team=first_team(at=NOON), at_endpoint="local")


def sources():
    return [(pay.source, pay.per_hour) for pay in hourly_pay(CONFIG, found())]


ESTIMATE = ("", hourly_pay(CONFIG, [])[0].per_hour)


def test_a_campaign_with_enough_answers_is_a_pilot():
    answers(CampaignFactory(slug="kites"), [40] * LEAST_ANSWERS)

    assert sources() == [("kites", Decimal("9.00")), ESTIMATE]


def test_a_campaign_with_too_few_answers_is_none():
    answers(CampaignFactory(slug="kites"), [40] * (LEAST_ANSWERS - 1))

    assert sources() == [ESTIMATE]


def test_answers_of_simulated_workers_are_no_measurement():
    answers(CampaignFactory(slug="demo"), [1] * 3 * LEAST_ANSWERS)

    assert sources() == [ESTIMATE]


def test_a_campaign_in_which_most_answers_are_too_fast_is_none():
    answers(CampaignFactory(slug="demo"), [40] * LEAST_ANSWERS + [1] * (LEAST_ANSWERS + 1))

    assert sources() == [ESTIMATE]


def test_a_few_answers_that_are_too_fast_do_not_count():
    answers(CampaignFactory(slug="kites"), [40] * LEAST_ANSWERS + [1] * 5)

    (pilot,) = found()

    assert (pilot.seconds, pilot.answers, pilot.hasty) == (40.0, LEAST_ANSWERS, 5)
    assert sources()[0] == ("kites", Decimal("9.00"))


def test_the_limit_is_that_of_the_campaigns_flags():
    campaign = CampaignFactory(slug="quick", config={"flags": {"seconds": 0.5}})
    answers(campaign, [1] * LEAST_ANSWERS)

    assert sources()[0] == ("quick", Decimal("360.00"))


def test_the_page_says_where_the_pay_per_hour_comes_from(client):
    user = UserFactory()
    client.force_login(user)
    SelectionFactory(name="streets", images=1)
    answers(CampaignFactory(slug="kites"), [40] * LEAST_ANSWERS + [1])
    answers(CampaignFactory(slug="demo"), [1, 1])
    answers(CampaignFactory(slug="small"), [40])
    assert Response.objects.count() == LEAST_ANSWERS + 4
    file = {"name": "x", "selection": "streets", "budget": "9.00", "hit": {"reward": "0.10"}}
    draft = begin_draft(owner=user, file=file, at=NOON)

    page = client.get(reverse("hits:new_step", args=[draft.pk, "reward"])).content.decode()

    said = " ".join(page.split())
    assert (
        "as in kites, 40 s for one caption (median of the latest 20, without 1 under 8 s)" in said
    )
    assert (
        "demo is left out: 2 of its latest 2 captions took less than 8 s, as those of simulated "
        "workers do." in said
    )
    assert "small is left out: it has 1 timed caption, and a measurement needs 20." in said
    assert "a general estimate" in said


@pytest.mark.parametrize(
    ("approved", "rejected", "submitted", "qualified"),
    [(0, 0, 0, 1), (2, 1, 96, 1), (2, 1, 97, 0), (96, 4, 0, 1), (105, 5, 0, 0), (120, 0, 0, 1)],
)
def test_the_approval_rate_is_that_of_the_marketplace(approved, rejected, submitted, qualified):
    account, hit = WorkerAccountFactory(), HitFactory()
    numbers = {"APPROVED": approved, "REJECTED": rejected, "SUBMITTED": submitted}
    for status, number in numbers.items():
        decided_at = None if status == "SUBMITTED" else NOON
        AssignmentFactory.create_batch(
            number, account=account, hit=hit, status=status, decided_at=decided_at
        )

    known = known_workers_at("local", Workers(approved_hits=0, approval_rate=95))

    assert (known.workers, known.qualified) == (1, qualified)
