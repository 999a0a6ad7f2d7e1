"""Make challenges, submitters and submissions for tests."""

import json
from datetime import UTC, datetime

from django.contrib.auth.models import User

from annotate.models import Release
from leaderboard.models import Challenge, Submission, Submitter
from leaderboard.services.challenges import DEFAULTS, Rules, create_challenge
from leaderboard.services.submissions import Declaration, submit
from tests.factories import UserFactory

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
