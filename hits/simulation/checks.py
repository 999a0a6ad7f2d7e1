"""Whether a finished campaign is what it should be: its files, its rows, and the marketplace."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from annotate.models import Campaign, Release, ReleasedCaption
from hits.client import Marketplace, marketplace_of
from hits.costs import spend
from hits.models import Assignment


@dataclass(frozen=True)
class Check:
    """One thing that must hold, with what was found."""

    holds: bool
    claim: str
    found: str


def check_files(folder: Path, campaign: Campaign) -> list[Check]:
    """That each image of the exported files has its captions, by as many different workers."""
    captions = json.loads((folder / "captions.json").read_text(encoding="utf-8"))
    baseline = json.loads((folder / "baseline.json").read_text(encoding="utf-8"))
    workers = json.loads((folder / "workers.json").read_text(encoding="utf-8"))
    references = Counter(row["image_id"] for row in captions["annotations"])
    single = Counter(row["image_id"] for row in baseline)
    writers: dict[int, set[int]] = defaultdict(set)
    for row in [*workers["annotations"], *workers["baseline"]]:
        writers[row["image_id"]].add(row["worker"])
    images = [row["id"] for row in captions["images"]]
    config = campaign.config
    complete = [
        image
        for image in images
        if references[image] == config.references
        and single[image] == config.baselines
        and len(writers[image]) == config.wanted
    ]
    return [
        Check(
            len(complete) == campaign.tasks.count() == len(images),
            f"each image has {config.references} references and {config.baselines} baseline, "
            f"by {config.wanted} different workers",
            f"{len(complete)} of {campaign.tasks.count()} images",
        )
    ]


def check_exclusions(campaign: Campaign, release: Release) -> list[Check]:
    """That no caption of an excluded worker is in the release."""
    excluded = campaign.exclusions.in_force().values("worker")
    found = ReleasedCaption.objects.filter(
        image__release=release, response__worker__in=excluded
    ).count()
    return [Check(found == 0, "no caption of an excluded worker is released", f"{found} captions")]


def check_marketplace(campaign: Campaign, balance_before: Decimal) -> list[Check]:
    """That the marketplace, asked through its API, has what the database says it has. The
    requester has this one campaign, and had `balance_before` dollars before it."""
    marketplace = marketplace_of(campaign)
    listed = {hit["HITId"]: hit for hit in marketplace.hits()}
    ours = dict(campaign.hits.created().alive().values_list("hit_id", "seats"))
    theirs = {hit_id: hit["MaxAssignments"] for hit_id, hit in listed.items()}
    return [
        Check(
            theirs == ours,
            "the marketplace's HITs are the database's",
            f"{len(theirs)} HITs with {sum(theirs.values())} seats, here {len(ours)} "
            f"with {sum(ours.values())}",
        ),
        _same_assignments(campaign, marketplace, list(listed)),
        _same_payments(campaign, marketplace, balance_before),
    ]


def _same_assignments(campaign: Campaign, marketplace: Marketplace, hit_ids: list[str]) -> Check:
    theirs = {
        (row["AssignmentId"], row["AssignmentStatus"].upper())
        for hit_id in hit_ids
        for row in marketplace.assignments(hit_id)
    }
    rows = Assignment.objects.of(campaign).ingested().filter(hit__hit_id__in=hit_ids)
    ours = set(rows.values_list("assignment_id", "status"))
    counts = Counter(status.lower() for _, status in theirs)
    return Check(
        theirs == ours,
        "the marketplace's assignments are the database's, in the same states",
        f"{len(theirs)} ({', '.join(f'{n} {state}' for state, n in sorted(counts.items()))}), "
        f"here {len(ours)}",
    )


def _same_payments(campaign: Campaign, marketplace: Marketplace, before: Decimal) -> Check:
    money = spend(campaign)
    gone = before - marketplace.balance()
    return Check(
        gone == money.committed,
        "the money that left the marketplace's account is what the database committed",
        f"${gone} there, ${money.committed} here (${money.paid} paid)",
    )
