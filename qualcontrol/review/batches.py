"""Verdicts in a file: a reviewer's work that was done elsewhere."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from annotate.errors import DomainError
from annotate.models import Campaign, Response
from annotate.reading.entries import Entry, open_entries
from annotate.reading.faults import Faults
from annotate.reading.files import short
from qualcontrol.models import Verdict
from qualcontrol.review.judging import keep_judgement
from qualcontrol.services.errors import AlreadyJudged
from qualcontrol.services.policies import decide
from qualcontrol.services.worker_risks import learn

# The reason of a bad verdict that gives none.
BY_FILE = "judged by file"
MOST_IN_A_REASON = 300
COLUMNS = ("response", "verdict")
NUMBER = re.compile(r"[0-9]{1,19}")


class MalformedLine(DomainError):
    """A line that is not a verdict."""


@dataclass
class Batch:
    """What became of a file's entries so far, which are named by their lines."""

    good: int = 0
    bad: int = 0
    judged_before: Faults = field(default_factory=Faults)
    faults: Faults = field(default_factory=Faults)
    acts: int = 0
    # The last line of which all this is known, and whether the file has no more.
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
    name: str | None = None,
    batch: Batch | None = None,
) -> Batch:
    """Keep a file's verdicts, entries with `response`, `verdict` and perhaps `reason`. An entry
    that is not a verdict is noted, and the others are kept; then the policy decides. `batch` is
    brought up to date with each entry, `name` is what errors call the file. `reviewer` is the name
    of a user, made where there is none of that name, who then cannot sign in.

    Raises MalformedFile for a file that cannot be read to its end, before any verdict is kept.
    Whatever stops it later, the policy decides on the verdicts that were kept.
    """
    batch = batch or Batch()
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
    return batch


def _judge(
    campaign: Campaign, entry: Entry, reviewer: User | None, at: datetime, batch: Batch
) -> None:
    """Keep one verdict, in a transaction of its own, and count what became of it."""
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
        raise MalformedLine(entry.fault)
    values = entry.values
    verdict = _verdict(values.get("verdict"))
    return _response(campaign, values.get("response")), verdict, _reason(values, verdict)


def _reason(values: Mapping[str, Any], verdict: Verdict) -> str:
    reason = values.get("reason") or ""
    if not isinstance(reason, str):
        raise MalformedLine(f"reason is {short(reason)}, not a text")
    if verdict == Verdict.BAD:
        reason = reason.strip() or BY_FILE
    return reason[:MOST_IN_A_REASON]


def _verdict(value: Any) -> Verdict:
    try:
        return Verdict(value.strip().upper())
    except (AttributeError, ValueError) as error:
        raise MalformedLine(f"verdict is {short(value)}, not good or bad") from error


def _response(campaign: Campaign, value: Any) -> Response:
    """The response by its key, which other programs may have turned into a text."""
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        value = int(value)
    # A truth value would pass for 0 or 1, and SQLite knows no greater number.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise MalformedLine(f"response is {short(value)}, not a response's number")
    submitted = Response.objects.of(campaign)
    response = submitted.select_related("task__campaign").filter(pk=value).first()
    if response is None:
        raise MalformedLine(f"{campaign} has no submitted response {value}")
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
