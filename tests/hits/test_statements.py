"""How many statements a worker's page, an ingest, a verdict and a payment take.

BEGIN and COMMIT count.
"""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Response
from annotate.queries.keywords import KEYWORDS
from hits.services.payments import record_decision, take_up
from hits.services.submissions import Reported, take_submissions
from qualcontrol.models import SpotCheck
from qualcontrol.review.judging import judge
from qualcontrol.review.review_queue import next_checks
from tests.factories import (
    NOON,
    AssignmentFactory,
    HitFactory,
    HitTypeFactory,
    UserFactory,
    WorkerAccountFactory,
    make_campaign,
)
from tests.hits.opened_pages import SENTENCE, SENTENCES, form_fields, listed, open_page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hit():
    campaign = make_campaign(tasks=9, references=10)
    campaign.tasks.update(payload={KEYWORDS: ["Dog"]})
    return HitFactory(
        hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=9, available=9
    )


def statements(action: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        action()
    return [query["sql"] for query in queries]


@pytest.mark.parametrize("is_known", [True, False])
def test_a_page_opens_in_twelve_statements(client, hit, is_known):
    if is_known:
        WorkerAccountFactory(marketplace_id="AWORKER1")
    open_page(client, hit, "ASSIGNMENT0", "AWORKER0")

    taken = statements(lambda: open_page(client, hit, "ASSIGNMENT1", "AWORKER1"))

    assert len(taken) <= 12, taken


def test_an_answer_is_stored_in_eight_statements(client, hit):
    fields = form_fields(open_page(client, hit, "ASSIGNMENT1", "AWORKER1"))
    filled = {name: SENTENCE if name.startswith("caption") else v for name, v in fields.items()}

    taken = statements(lambda: client.post(f"/task/{hit.campaign.slug}/", filled))

    assert hit.pages.answered().exists()
    assert len(taken) <= 8, taken


def ingest(hits, numbers) -> list[str]:
    """The statements that take one submission of each of these HITs, each to its own task."""
    campaign = hits[0].campaign
    tasks = list(campaign.tasks.order_by("number"))
    reports = [
        Reported(
            hits[n], listed(f"A{n}", f"AWORKER{n}", **{f"caption-{tasks[n].number}": SENTENCES[n]})
        )
        for n in numbers
    ]
    return statements(lambda: take_submissions(campaign=campaign, reported=reports, at=NOON))


@pytest.mark.parametrize("is_one_hit", [True, False])
def test_more_submissions_take_no_more_statements(hit, is_one_hit):
    others = [HitFactory(hit_type=hit.hit_type, hit_id=f"OTHER{n}") for n in range(9)]
    hits = [hit] * 9 if is_one_hit else others
    for n in range(9):
        WorkerAccountFactory(marketplace_id=f"AWORKER{n}")

    few, many = ingest(hits, range(2)), ingest(hits, range(2, 9))

    assert Response.objects.count() == 9
    assert len(many) <= len(few), (few, many)
    # PostgreSQL takes the lock of the campaign's sample by statements, before the tasks and where
    # the share is read; SQLite locks a file.
    assert len(many) <= (28 if connection.vendor == "postgresql" else 26), many


def test_a_response_is_shown_and_judged_in_38_statements():
    campaign = make_campaign(tasks=9, references=10, review={"share": 1, "first": 1})
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), slots=9)
    for n in range(9):
        WorkerAccountFactory(marketplace_id=f"AWORKER{n}")
    ingest([hit] * 9, range(9))
    reviewer = UserFactory()

    def review() -> None:
        [item] = next_checks(campaign=campaign, reviewer=reviewer, count=1, at=NOON)
        judge(response=item.response, verdict="GOOD", reason="", reviewer=reviewer, at=NOON)

    review()
    taken = statements(review)

    assert SpotCheck.objects.filter(verdict="GOOD").count() == 2
    assert len(taken) <= (38 if connection.vendor == "postgresql" else 37), taken


def test_payments_take_five_statements_together_and_one_each(hit):
    keys = [assignment.pk for assignment in AssignmentFactory.create_batch(9, hit=hit)]
    taken = {}

    together = statements(
        lambda: taken.update(take_up(keys=keys, submitted_until=NOON).assignments)
    )
    each = statements(lambda: record_decision(assignment=taken[keys[0]], at=NOON))

    assert taken.keys() == set(keys)
    assert len(together) <= 5, together
    assert len(each) <= 1, each
