"""Checks that the marketplace and the database agree."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from annotate.models import Campaign
from hits.models import Assignment, Hit
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.replies import ListedAssignment
from hits.queries.costs import spend
from simulation.checks.check import Check


def check_marketplace(campaigns: Sequence[Campaign], balance_before: Decimal) -> list[Check]:
    """Compare HITs, assignments and payments with the marketplace, through its API.

    The requester must have only these campaigns, and had `balance_before` dollars before them.
    """
    marketplace = marketplace_of(campaigns[0])
    theirs = {hit.hit_id: hit.max_assignments for hit in marketplace.hits()}
    hits = Hit.objects.filter(hit_type__campaign__in=campaigns)
    ours = dict(hits.created().alive().values_list("hit_id", "slots"))
    return [
        Check(
            theirs == ours,
            "the marketplace's HITs are the database's",
            f"{len(theirs)} HITs with {sum(theirs.values())} slots, here {len(ours)} "
            f"with {sum(ours.values())}",
        ),
        _same_assignments(marketplace, list(theirs)),
        _same_payments(campaigns, marketplace, balance_before),
    ]


def _same_assignments(marketplace: Marketplace, hit_ids: list[str]) -> Check:
    theirs = {
        (listed.assignment_id, listed.status.upper())
        for hit_id in hit_ids
        for listed in marketplace.assignments(hit_id)
        if isinstance(listed, ListedAssignment)
    }
    rows = Assignment.objects.filter(hit__hit_id__in=hit_ids)
    ours = set(rows.values_list("assignment_id", "status"))
    counts = Counter(status.lower() for _, status in theirs)
    return Check(
        theirs == ours,
        "the marketplace's assignments are the database's, in the same states",
        f"{len(theirs)} ({', '.join(f'{n} {state}' for state, n in sorted(counts.items()))}), "
        f"here {len(ours)}",
    )


def _same_payments(
    campaigns: Sequence[Campaign], marketplace: Marketplace, before: Decimal
) -> Check:
    money = [spend(campaign) for campaign in campaigns]
    committed = sum(each.committed for each in money)
    gone = before - marketplace.balance()
    return Check(
        gone == committed,
        "the money that left the marketplace's account is what the database committed",
        f"${gone} there, ${committed} here (${sum(each.paid for each in money)} paid)",
    )
