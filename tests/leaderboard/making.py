"""Make challenges, submitters and submissions for tests."""

import json
from datetime import UTC, datetime
from io import BytesIO

from django.contrib.auth.models import User

from annotate.models import Release, ReleasedImage
from leaderboard.models import Challenge, Submission, Submitter
from leaderboard.services.challenges import DEFAULTS, create_challenge
from leaderboard.services.submissions import submit
from qualcontrol.services.releasing import release_campaign
from tests.factories import CampaignFactory, ResponseFactory, TaskFactory, UserFactory

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def make_challenge(release: Release, **values) -> Challenge:
    """A challenge with the default rules and these changes; opened at noon."""
    usual = {
        "name": "kites",
        "title": "Kites",
        "description": "Say what you see.",
        "owner": UserFactory(),
        **DEFAULTS,
        **{"per_day": 3, "in_total": 5, "opens_at": NOON, "closes_at": None, "seconds": 60},
    }
    return create_challenge(Challenge(release=release, **usual | values), at=NOON)


def make_submitter(name: str = "grace") -> User:
    user = UserFactory(username=name)
    Submitter.objects.create(user=user, team=f"Team {name}", created_at=NOON)
    return user


def make_submission(
    challenge: Challenge, submitter: User, content: bytes, *, at: datetime = NOON, **values
) -> Submission:
    given = {"track": "PLAIN", "method": "Kitenet", "training_data": "COCO", **values}
    return submit(challenge=challenge, submitter=submitter, file=BytesIO(content), at=at, **given)


def results_of(images: int, word: str) -> bytes:
    """A valid results file; `word` makes it another one."""
    return json.dumps(
        [
            {"image_id": number, "caption": f"A {word} runs along beach {number}."}
            for number in range(1, images + 1)
        ]
    ).encode()


def make_release(*, images: int = 12, name: str = "v1") -> Release:
    """Hidden images with two references and a human baseline each; half of them in-domain."""
    campaign = CampaignFactory(config={"references": 2})
    for number in range(1, images + 1):
        task = TaskFactory(campaign=campaign, number=number)
        for reference in range(3):
            ResponseFactory(
                task=task,
                text=f"Secretly {reference + 1} brown dogs follow kite number {number} at dawn.",
            )
    made = release_campaign(campaign=campaign, name=name, seed=1, at=NOON)
    for image in ReleasedImage.objects.filter(release=made):
        image.record["domain"] = "in-domain" if image.number % 2 else "out-domain"
        image.is_hidden = True
        image.save()
    return made
