"""The images of a challenge: what submitters get of them, and what scoring needs."""

import json
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.db.models import QuerySet

from annotate.images.copies import display_url
from annotate.models import Image, Release, ReleasedImage, Role
from annotate.queries.releases import captions_with_hidden, domains_of_release
from corpora.evaluation.results import WrongResults, check_images, listed, read_results
from leaderboard.models import Challenge, Submission

# A mean over fewer images would tell too much of one image's score.
LEAST_IMAGES = 10
# What submitters get of an image's record.
PUBLIC = ("file_name", "width", "height", "coco_url", "date_captured")
UPLOAD = "Your file"


def images_of(release: Release) -> QuerySet[ReleasedImage]:
    """The images that a challenge on this release scores: the hidden ones, or all if none is."""
    images = release.images.order_by("number")
    hidden = images.filter(is_hidden=True)
    return hidden if hidden.exists() else images


def numbers_of(release: Release) -> list[int]:
    """The numbers of those images, which are their ids in files."""
    return list(images_of(release).values_list("number", flat=True))


def image_list(challenge: Challenge) -> Iterator[dict[str, Any]]:
    """The images with their ids, as the key `images` of a COCO file has them; no captions.

    The address of an image that has a file here and no address in its dataset is that of a copy,
    which needs no sign-in.
    """
    rows = images_of(challenge.release).select_related("task__image").defer("details")
    for image in rows.iterator():
        facts = {name: image.record[name] for name in PUBLIC if name in image.record}
        facts["coco_url"] = facts.get("coco_url") or copy_address(image.task.image)
        yield {"id": image.number, **facts}


def copy_address(image: Image) -> str:
    """The whole address of a copy of the image; empty if it has no file."""
    path = display_url(image)
    return urljoin(settings.SITE_URL, path) if path else ""


def check_results(challenge: Challenge, content: bytes) -> None:
    """Check that results have one caption for each image; raises MalformedFile and WrongResults.

    The message names the first twenty images that are missing, unknown or repeated.
    """
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(content)
        file.flush()
        results = read_results(Path(file.name), name=UPLOAD)
    check_images(results, wanted=numbers_of(challenge.release), name=UPLOAD)
    if empty := [image for image, caption in results.items() if not caption.strip()]:
        raise WrongResults(f"{UPLOAD}: Images with an empty caption: {listed(empty)}.")


def baseline_results(release: Release) -> list[dict[str, Any]]:
    """The human baseline in COCO's results form; empty if the release has none."""
    captions = captions_of(release, Role.BASELINE)
    return [{"image_id": image, "caption": text} for image, text in captions]


def captions_of(release: Release, role: Role) -> Iterator[tuple[int, str]]:
    """The number of the image and the text of each caption, also of hidden ones.

    For scoring only: no page, log or message may show them.
    """
    scored = set(numbers_of(release))
    return ((image, text) for image, text in captions_with_hidden(release, role) if image in scored)


def job_of(submission: Submission) -> dict[str, Any]:
    """What the scoring process needs (`leaderboard.scoring.child`)."""
    challenge = submission.challenge
    references: dict[int, list[str]] = defaultdict(list)
    for image, text in captions_of(challenge.release, Role.REFERENCE):
        references[image].append(text)
    results = json.loads(zlib.decompress(submission.file.content))
    return {
        "references": references,
        "results": {entry["image_id"]: entry["caption"] for entry in results},
        "subsets": subsets_of(challenge.release),
        "metrics": challenge.metrics,
        "tokeniser": challenge.tokeniser,
    }


def subsets_of(release: Release) -> dict[int, str]:
    """The subset of each image by its number; empty if one would be so small that its mean, or
    what is left of the mean of all, told the score of single images."""
    domains = domains_of_release(release)
    subsets = {number: domains[number] for number in numbers_of(release)}
    if min(Counter(subsets.values()).values(), default=0) < LEAST_IMAGES:
        return {}
    return {number: subset for number, subset in subsets.items() if subset}
