"""The reconciler is killed (SIGKILL) after each step, call or written row, and run again.

Nothing happens twice and nothing is lost.
"""

import os
import signal
from decimal import Decimal

import pytest
from django.utils import timezone

from annotate.models import Response, ResponseStatus
from hits.models import Assignment, AssignmentStatus, Hit, TaskPage
from hits.mturk.client import marketplace_of
from hits.queries.costs import spend
from hits.reconcile.reconciler import STEPS, reconcile
from hits.services.bonuses import Wish, plan_bonuses
from hits.services.claims import recount_places
from qualcontrol.review.judging import reject_response
from qualcontrol.services.exclusions import exclude_worker
from tests.factories import UserFactory, make_campaign
from tests.hits.framed_work import work
from tests.hits.reconcile.killed import reconcile_in_child

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    # Python from 3.12 on warns of a child that takes another thread's lock along; ours is killed.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def kill_until_it_lives(campaign) -> int:
    """Kill the reconciler one boundary later each time; return the number of kills."""
    fatal = 1
    while reconcile_in_child(campaign, fatal):
        fatal += 1
    return fatal - 1


def die(run) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_after_each_step(campaign) -> int:
    """Kill the reconciler before its first step and after each; return the number of kills."""
    never = 0
    return sum(
        reconcile_in_child(campaign, never, steps=(*STEPS[:done], die))
        for done in range(len(STEPS) + 1)
    )


@pytest.mark.parametrize(
    ("kill", "least"), [(kill_until_it_lives, 8), (kill_after_each_step, len(STEPS) + 1)]
)
def test_nothing_happens_twice_and_nothing_is_lost(client, marketplace, requester, kill, least):
    campaign = make_campaign(tasks=3, review={"share": 0, "approve_after_hours": 24})
    before = marketplace_of(campaign).balance()
    workers = marketplace.fresh_workers(3)

    killed = [kill(campaign)]
    for worker in workers:
        for number in range(3):
            work(client, worker, campaign, number)
    killed.append(kill(campaign))
    leave_decisions_to_carry_out(campaign)
    killed.append(kill(campaign))
    reconcile(campaign)

    assert all(times >= least for times in killed), killed
    # Each answer came home once, and three of them were discarded and are asked for anew.
    assert Response.objects.filter(status=ResponseStatus.SUBMITTED).count() == 6
    assert Response.objects.filter(status=ResponseStatus.DISCARDED).count() == 3
    assert not TaskPage.objects.exists()
    assert recount_places(campaign) == 0
    there = list(marketplace_of(campaign).hits())
    here = Hit.objects.values_list("hit_id", flat=True)
    assert sorted(hit.hit_id for hit in there) == sorted(here)
    assert sum(hit.max_assignments for hit in there) == 9 + 3
    # The money: eight approvals, one rejection, one bonus.
    assert Assignment.objects.filter(status=AssignmentStatus.APPROVED).count() == 8
    assert Assignment.objects.filter(status=AssignmentStatus.REJECTED).count() == 1
    assert marketplace_payments(campaign) == {"approved": 8, "rejected": 1, "bonuses": 1}
    assert before - marketplace_of(campaign).balance() <= spend(campaign).committed
    assert spend(campaign).paid == 8 * Decimal("0.12")


def leave_decisions_to_carry_out(campaign) -> None:
    """End the review window, exclude a worker, and schedule a rejection and a bonus."""
    review = {**campaign.config_json["review"], "approve_after_hours": 0}
    campaign.config_json = {**campaign.config_json, "review": review}
    campaign.save()
    reviewer = UserFactory()
    responses = list(Response.objects.order_by("pk"))
    now = timezone.now()
    exclude_worker(
        campaign=campaign, worker=responses[0].worker, reason="lists", actor=reviewer, at=now
    )
    reject_response(response=responses[0], reason="A list of words.", actor=reviewer, at=now)
    paid = Assignment.objects.exclude(account__worker=responses[0].worker).order_by("pk")[0]
    wish = Wish(paid.account.worker.pseudonym, Decimal("0.50"), "Thank you")
    plan_bonuses(campaign=campaign, wishes=[wish], key="a", at=now)


def marketplace_payments(campaign) -> dict[str, int]:
    """The payments for the campaign's HITs at the marketplace."""
    marketplace = marketplace_of(campaign)
    statuses, bonuses = [], 0
    for hit in marketplace.hits():
        statuses += [listed.status for listed in marketplace.assignments(hit.hit_id)]
        bonuses += len(marketplace._call("list_bonus_payments", HITId=hit.hit_id)["BonusPayments"])
    return {
        "approved": statuses.count("Approved"),
        "rejected": statuses.count("Rejected"),
        "bonuses": bonuses,
    }
