"""Checks of what the demonstration left: its files and the marketplace's accounts."""

import csv
import filecmp
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from annotate import kinds
from annotate.models import Campaign, Release, ReleasedCaption
from corpora.content_selection.files import read_gold
from corpora.content_selection.metric import human_upper_bound
from hits.models import Assignment, Hit
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.replies import ListedAssignment
from hits.queries.costs import spend
from simulation.kinds.correspondence import KINDS, true_meanings
from simulation.scenes.dataset import HIDDEN, LABELS, Dataset


@dataclass(frozen=True)
class Check:
    """A claim about the results, whether it holds, and what was found."""

    holds: bool
    claim: str
    found: str


def check_captions(folder: Path, release: Release) -> list[Check]:
    """Check that images have captions by different workers, and none by excluded ones."""
    return [_complete(folder, release), _nobody_excluded(release)]


def _complete(folder: Path, release: Release) -> Check:
    captions = json.loads((folder / "captions.json").read_text(encoding="utf-8"))
    baseline = json.loads((folder / "baseline.json").read_text(encoding="utf-8"))
    workers = json.loads((folder / "workers.json").read_text(encoding="utf-8"))
    references = Counter(row["image_id"] for row in captions["annotations"])
    single = Counter(row["image_id"] for row in baseline)
    writers: dict[int, set[int]] = defaultdict(set)
    for row in [*workers["annotations"], *workers["baseline"]]:
        writers[row["image_id"]].add(row["worker"])
    images = [row["id"] for row in captions["images"]]
    config, tasks = release.campaign.config, release.campaign.tasks.count()
    complete = [
        image
        for image in images
        if references[image] == config.references
        and single[image] == config.baselines
        and len(writers[image]) == config.wanted
    ]
    return Check(
        len(complete) == tasks == len(images),
        f"each image has {config.references} references and {config.baselines} baseline, "
        f"by {config.wanted} different workers",
        f"{len(complete)} of {tasks} images",
    )


def _nobody_excluded(release: Release) -> Check:
    excluded = release.campaign.exclusions.in_force().values("worker")
    of_excluded = ReleasedCaption.objects.filter(
        image__release=release, response__worker__in=excluded
    ).count()
    return Check(
        of_excluded == 0, "no caption of an excluded worker is released", f"{of_excluded} captions"
    )


LEAST_RIGHT = 0.97
# A box as it was drawn: image id, class name, and edges as written in the dataset.
DrawnBox = tuple[str, str, tuple[str, ...]]
# A word and a box that it refers to: caption id, word number, box.
Link = tuple[int, int, DrawnBox]


def check_links(folder: Path, release: Release, dataset: Dataset) -> list[Check]:
    """Check completeness, correctness and reproducibility of the links and their files."""
    captions = _read(folder / "correspondences.json")["captions"]
    return [
        _links_complete(captions, release),
        _right(captions, _read(folder / "boxes.json")["boxes"], dataset),
        _same_again(folder, release),
        _readable(folder),
    ]


def _links_complete(captions: list[dict[str, Any]], release: Release) -> Check:
    wanted, tasks = release.campaign.config.wanted, release.campaign.tasks.count()
    complete = [
        row["id"]
        for row in captions
        if len({answer["worker"] for answer in row["answers"]}) == wanted
    ]
    return Check(
        len(complete) == tasks == len(captions),
        f"each caption has {wanted} answers by different workers",
        f"{len(complete)} of {tasks} captions",
    )


def _right(captions: list[dict[str, Any]], boxes: dict[str, Any], dataset: Dataset) -> Check:
    """Compare the released links with the true ones."""
    drawn = drawn_boxes(dataset)
    true = {link for row in captions for link in true_links(row, drawn[row["image_id"]])}
    held = {link for row in captions for link in released_links(row, boxes)}
    right = len(true & held)
    return Check(
        right >= LEAST_RIGHT * max(len(true), len(held)),
        f"at least {LEAST_RIGHT:.0%} of the links are those of the drawn scenes",
        f"{right / max(1, len(held)):.1%} of the {len(held)} that hold are true, and "
        f"{right / max(1, len(true)):.1%} of the {len(true)} true ones are among them",
    )


def drawn_boxes(dataset: Dataset) -> dict[str, list[DrawnBox]]:
    """The boxes drawn in each image, by image id, without parts."""
    names = {label: name for name, label in LABELS.items()}
    boxes: dict[str, list[DrawnBox]] = defaultdict(list)
    with dataset.boxes.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            image, name = row["ImageID"], names[row["LabelName"]]
            if name not in HIDDEN:
                edges = (row["XMin"], row["YMin"], row["XMax"], row["YMax"])
                boxes[image].append((image, name, edges))
    return boxes


def true_links(row: dict[str, Any], drawn: list[DrawnBox]) -> Iterator[Link]:
    """The true links of a released caption, according to the boxes drawn in its image."""
    boxes = {str(number): box for number, box in enumerate(drawn)}
    classes = {number: name for number, (_, name, _) in boxes.items()}
    for word, meaning in true_meanings(row["caption"], classes, set(LABELS) - HIDDEN).items():
        if meaning not in KINDS:
            yield from ((row["id"], word, boxes[number]) for number in meaning)


def released_links(row: dict[str, Any], boxes: dict[str, Any]) -> Iterator[Link]:
    """The links of a released caption in the exported files."""
    for word, links in row["links"].items():
        for link in links:
            box = boxes[link["box"]]
            edges = tuple(f"{edge:.6f}" for edge in box["fractions"])
            yield row["id"], int(word), (box["image_id"], box["label"], edges)


def _same_again(folder: Path, release: Release) -> Check:
    """Check that a second export gives the same bytes."""
    with TemporaryDirectory() as again:
        kind = kinds.KINDS[release.campaign.kind]
        paths = kind.write(release, Path(again), with_documents=False)
        files = [
            path.relative_to(again)
            for top in paths
            for path in (top.iterdir() if top.is_dir() else [top])
        ]
        same, different, missing = filecmp.cmpfiles(folder, again, map(str, files), shallow=False)
    return Check(
        not different and not missing,
        "a second export of the links gives the same bytes",
        f"{len(same)} of {len(files)} files",
    )


def _readable(folder: Path) -> Check:
    gold = read_gold(folder / "gold.json")
    bound = human_upper_bound(gold)
    return Check(
        bound is not None and bound.mean.f > 0,
        "content selection reads the boxes that the captions mention",
        f"{len(gold)} images"
        + (
            f", a caption against the others P {bound.mean.precision:.2f}, "
            f"R {bound.mean.recall:.2f}, F {bound.mean.f:.2f}"
            if bound
            else ""
        ),
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


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
    committed = sum(account.committed for account in money)
    gone = before - marketplace.balance()
    return Check(
        gone == committed,
        "the money that left the marketplace's account is what the database committed",
        f"${gone} there, ${committed} here (${sum(account.paid for account in money)} paid)",
    )
