"""Make challenges, submitters and submissions for tests."""

import json
from datetime import UTC, datetime

from django.contrib.auth.models import User

from annotate.models import Release, ReleasedImage
from leaderboard.models import Challenge, Submission, Submitter
from leaderboard.services.challenges import DEFAULTS, Rules, create_challenge
from leaderboard.services.submissions import Declaration, submit
from qualcontrol.services.releasing import release_campaign
from tests.factories import CampaignFactory, ResponseFactory, TaskFactory, UserFactory

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def rules(**values) -> Rules:
    """The default rules with these changes; opened at noon."""
    given = {"per_day": 3, "in_total": 5, "opens_at": NOON, "closes_at": None, "seconds": 60}
    return Rules(**{**DEFAULTS, **given, **values})


def make_challenge(release: Release, *, name: str = "kites", **values) -> Challenge:
    return create_challenge(
        name=name,
        title="Kites",
        description="Say what you see.",
        release=release,
        rules=rules(**values),
        owner=UserFactory(),
        at=NOON,
    )


def make_submitter(name: str = "grace") -> User:
    user = UserFactory(username=name)
    Submitter.objects.create(user=user, team=f"Team {name}", created_at=NOON)
    return user


def make_submission(
    challenge: Challenge, submitter: User, content: bytes, *, at: datetime = NOON, **values
) -> Submission:
    given = {"track": "PLAIN", "method": "Kitenet", "training_data": "COCO", **values}
    return submit(
        challenge=challenge,
        submitter=submitter,
        declaration=Declaration(**given),
        upload=content,
        at=at,
    )


def results_of(images: int, word: str) -> bytes:
    """A valid results file; `word` makes it another one."""
    return json.dumps(
        [
            {"image_id": number, "caption": f"A {word} runs along beach {number}."}
            for number in range(1, images + 1)
        ]
    ).encode()


def make_release(*, images: int = 12) -> Release:
    """Hidden images with two references and a human baseline each; half of them in-domain."""
    campaign = CampaignFactory(slug="beach", config={"references": 2})
    for number in range(1, images + 1):
        task = TaskFactory(campaign=campaign, number=number)
        for reference in range(3):
            ResponseFactory(
                task=task,
                text=f"Secretly {reference + 1} brown dogs follow kite number {number} at dawn.",
            )
    made = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    for image in ReleasedImage.objects.filter(release=made):
        image.record["domain"] = "in-domain" if image.number % 2 else "out-domain"
        image.is_hidden = True
        image.save()
    return made
