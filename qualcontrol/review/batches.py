"""Verdicts from a file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from annotate.models import Campaign, Response
from corpora.errors import DomainError
from corpora.reading.entries import Entry, open_entries
from corpora.reading.files import Faults, short
from qualcontrol.models import Verdict
from qualcontrol.review.judging import keep_judgement
from qualcontrol.services.errors import AlreadyJudged
from qualcontrol.services.policies import decide
from qualcontrol.services.worker_risks import learn

# The reason of a bad verdict without one.
BY_FILE = "judged by file"
MOST_IN_A_REASON = 300
COLUMNS = ("response", "verdict")
NUMBER = re.compile(r"[0-9]{1,19}")


@dataclass
class Batch:
    """The result so far for a file's entries, which are named by their lines."""

    good: int = 0
    bad: int = 0
    judged_before: Faults = field(default_factory=Faults)
    faults: Faults = field(default_factory=Faults)
    acts: int = 0
    # The last line that is finished, and whether the whole file is.
    line: int = 0
    is_complete: bool = False

    @property
    def judged(self) -> int:
        return self.good + self.bad


def judge_file(
    *,
    campaign: Campaign,
    path: Path,
    reviewer: str | None,
    at: datetime,
    name: str | None,
    batch: Batch,
) -> None:
    """Store the verdicts of a file whose entries have `response`, `verdict` and optionally
    `reason`, then let the policy decide. Entries that are not verdicts are noted in `batch` and
    skipped.

    `batch` is updated with each entry. `name` is what errors call the file. `reviewer` is a user's
    name; if there is no such user, one is created that cannot sign in.

    Raises MalformedFile, before any verdict is stored, if the file cannot be read to its end. If
    something else stops the call, the policy still decides on the verdicts that were stored.
    """
    with open_entries(path, name=name) as file:
        if file.columns is not None:
            file.require(COLUMNS)
        for _ in file.rows:
            pass
    judge = _user(reviewer)
    try:
        with open_entries(path, name=name) as file:
            for entry in file.rows:
                _judge(campaign, entry, judge, at, batch)
        batch.is_complete = True
    finally:
        if batch.judged:
            learn(campaign=campaign)
            batch.acts = decide(campaign=campaign, at=at)


def _judge(
    campaign: Campaign, entry: Entry, reviewer: User | None, at: datetime, batch: Batch
) -> None:
    """Store one verdict in its own transaction, and count the result."""
    try:
        response, verdict, reason = _parse(campaign, entry)
        keep_judgement(response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=at)
    except AlreadyJudged as error:
        batch.judged_before.add(entry.line, str(error))
    except DomainError as error:
        batch.faults.add(entry.line, str(error))
    else:
        batch.good += verdict == Verdict.GOOD
        batch.bad += verdict == Verdict.BAD
    batch.line = entry.line


def _parse(campaign: Campaign, entry: Entry) -> tuple[Response, Verdict, str]:
    if entry.fault:
        raise DomainError(entry.fault)
    values = entry.values
    verdict = _verdict(values.get("verdict"))
    return _response(campaign, values.get("response")), verdict, _reason(values, verdict)


def _reason(values: Mapping[str, Any], verdict: Verdict) -> str:
    reason = values.get("reason") or ""
    if not isinstance(reason, str):
        raise DomainError(f"reason is {short(reason)}, not a text")
    if verdict == Verdict.BAD:
        reason = reason.strip() or BY_FILE
    return reason[:MOST_IN_A_REASON]


def _verdict(value: Any) -> Verdict:
    try:
        return Verdict(value.strip().upper())
    except (AttributeError, ValueError) as error:
        raise DomainError(f"verdict is {short(value)}, not good or bad") from error


def _response(campaign: Campaign, value: Any) -> Response:
    """Find the response by its key, which other programs may have turned into a string."""
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        value = int(value)
    # True would be accepted as 1, and SQLite has no larger integers.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise DomainError(f"response is {short(value)}, not a response's number")
    submitted = Response.objects.of(campaign)
    response = submitted.select_related("task__campaign").filter(pk=value).first()
    if response is None:
        raise DomainError(f"{campaign} has no submitted response {value}")
    return response


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    user, is_new = get_user_model().objects.get_or_create(
        username=name, defaults={"is_active": False}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
