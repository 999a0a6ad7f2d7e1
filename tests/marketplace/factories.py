"""Factories of valid rows, which use services where these exist."""

import itertools
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from marketplace import clock
from marketplace.models import Assignment, Hit, HitType, Requester, Study, Worker
from marketplace.services import assignments
from marketplace.services.hit_types import get_or_create_hit_type
from marketplace.services.hits import create_hit
from marketplace.services.operators import (
    get_or_create_requester,
    get_or_create_worker,
    profile_columns,
)
from marketplace.services.studies import create_study
from tests.marketplace.driver import QUESTION

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
_numbers = itertools.count(1)


def make_requester(balance: str = "1000.00") -> Requester:
    return get_or_create_requester(name=f"lab {next(_numbers)}", balance=Decimal(balance), at=NOON)


def make_worker(**profile: Any) -> Worker:
    return get_or_create_worker(
        name=f"person {next(_numbers)}", columns=profile_columns(**profile), at=NOON
    )


def make_hit_type(requester: Requester | None = None, **changes: Any) -> HitType:
    properties = {
        "title": "Describe an image",
        "description": "Write one sentence",
        "reward": Decimal("0.10"),
        "assignment_duration": timedelta(minutes=10),
        "auto_approval_delay": timedelta(days=1),
        **changes,
    }
    hit_type = HitType(requester=requester or make_requester(), **properties)
    return get_or_create_hit_type(hit_type=hit_type, at=NOON)


def make_study(hit_type: HitType | None = None, *, at: datetime = NOON, **changes: Any) -> Study:
    fields = {
        "name": "Scenes",
        "assignments": 1,
        "completion_code": "DONE",
        "return_url": "https://panel.example/",
        **changes,
    }
    return create_study(study=Study(hit_type=hit_type or make_hit_type(), **fields), at=at)


def make_hit(hit_type: HitType | None = None, **changes: Any) -> Hit:
    request = {"question": QUESTION, "lifetime": timedelta(hours=1), **changes}
    return create_hit(hit_type=hit_type or make_hit_type(), at=NOON, **request)


def make_current_hit(hit_type, **changes):
    """A HIT that is open by the real clock, too."""
    hit = make_hit(hit_type, **changes)
    type(hit).objects.filter(pk=hit.pk).update(expires_at=clock.now() + timedelta(hours=1))
    return hit


def accepted(worker, hit_type) -> Assignment:
    return assignments.accept(worker=worker, hit_type=hit_type, at=clock.now())


def submitted(worker, hit_type, answer: str = "<a/>") -> Assignment:
    found = accepted(worker, hit_type)
    assignments.submit(assignment=found, answer=answer, at=clock.now())
    return found
