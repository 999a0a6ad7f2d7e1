"""Checks of a caption release: its files and its rows."""

import json
from collections import Counter, defaultdict
from pathlib import Path

from annotate.models import Release, ReleasedCaption
from simulation.checks.check import Check


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
    found = ReleasedCaption.objects.filter(
        image__release=release, response__worker__in=excluded
    ).count()
    return Check(found == 0, "no caption of an excluded worker is released", f"{found} captions")
