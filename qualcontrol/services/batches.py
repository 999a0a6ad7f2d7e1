"""Verdicts in a file: a reviewer's work that was done elsewhere."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from annotate.errors import DomainError
from annotate.models import Campaign, Response, ResponseStatus
from qualcontrol.models import Verdict
from qualcontrol.services.errors import AlreadyJudged
from qualcontrol.services.judging import keep_judgement
from qualcontrol.services.policies import decide
from qualcontrol.services.standings import learn

# The reason of a bad verdict that gives none.
BY_FILE = "judged by file"


class MalformedLine(DomainError):
    """A line that is no verdict."""


@dataclass
class Batch:
    """What became of a file's lines, which are named by their numbers from 1."""

    good: int = 0
    bad: int = 0
    judged_before: dict[int, str] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)
    acts: int = 0


def judge_lines(
    *, campaign: Campaign, lines: Iterable[str], reviewer: User | None, at: datetime
) -> Batch:
    """Take verdicts, a JSON object a line: `response`, `verdict` and perhaps `reason`. A line that
    cannot be taken is noted and the others are; the policy decides when all are in."""
    batch = Batch()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            response, verdict, reason = _parse(campaign, line)
            keep_judgement(
                response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=at
            )
        except AlreadyJudged as error:
            batch.judged_before[number] = str(error)
        except DomainError as error:
            batch.faults[number] = str(error)
        else:
            batch.good += verdict == Verdict.GOOD
            batch.bad += verdict == Verdict.BAD
    if batch.good or batch.bad:
        learn(campaign=campaign)
        batch.acts = decide(campaign=campaign, at=at)
    return batch


def _parse(campaign: Campaign, line: str) -> tuple[Response, Verdict, str]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise MalformedLine(f"this is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise MalformedLine("this is not a JSON object")
    verdict = _verdict(values.get("verdict"))
    reason = values.get("reason") or ("" if verdict == Verdict.GOOD else BY_FILE)
    if not isinstance(reason, str):
        raise MalformedLine("reason is not a text")
    return _response(campaign, values.get("response")), verdict, reason[:300]


def _verdict(value: Any) -> Verdict:
    try:
        return Verdict(str(value).strip().upper())
    except ValueError as error:
        raise MalformedLine(f"verdict is {value!r}, not good or bad") from error


def _response(campaign: Campaign, value: Any) -> Response:
    """The response by its key, which other programs may have turned into a text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)
    # A truth value would pass for 0 or 1, and SQLite knows no greater number.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise MalformedLine(f"response is {value!r}, not a response's number")
    submitted = Response.objects.of(campaign).exclude(status=ResponseStatus.STORED)
    response = submitted.select_related("task__campaign").filter(pk=value).first()
    if response is None:
        raise MalformedLine(f"{campaign} has no submitted response {value}")
    return response
