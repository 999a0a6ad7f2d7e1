"""Prolific's JSON, in and out. Its amounts are cents of the workspace's currency.

The shapes are those of the reference at https://docs.prolific.com/api-reference.
"""

import math
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from marketplace.panels.panel import (
    BonusesSetUp,
    CodeKind,
    Draft,
    PanelUnclear,
    Spent,
    StudyThere,
    SubmissionThere,
    Subscription,
)

CENT = Decimal("0.01")
DEVICES = ("desktop", "tablet", "mobile")
# Categories of a rejection, in the reference's order, with words for the operator's page.
REJECTION_CATEGORIES = {
    "TOO_QUICKLY": "Too quick",
    "TOO_SLOWLY": "Too slow",
    "FAILED_INSTRUCTIONS": "Did not follow the instructions",
    "INCOMP_LONGITUDINAL": "Did not complete a study of several parts",
    "FAILED_CHECK": "Failed attention checks",
    "LOW_EFFORT": "Low effort",
    "MALINGERING": "Malingering",
    "NO_CODE": "No completion code",
    "BAD_CODE": "Wrong completion code",
    "NO_DATA": "No data",
    "UNSUPP_DEVICE": "Unsupported device",
    "OTHER": "Other",
}
LEAST_REJECTION = 100
FAILED_CHECK = "FAILED_CHECK"
_IDENTIFIER = re.compile(r"\b[0-9a-f]{24}\b")
_RETURN_REASONS = {
    CodeKind.NO_WORK: "There was no work left in the study.",
    CodeKind.NO_CONSENT: "You did not consent to take part.",
    CodeKind.FAILED_CHECK: "The questions on the instructions were not answered correctly.",
}
_CODE_TYPES = {
    CodeKind.COMPLETED: "COMPLETED",
    CodeKind.NO_WORK: "OTHER",
    CodeKind.NO_CONSENT: "NO_CONSENT",
    # Not FAILED_ATTENTION_CHECK: a comprehension check is no reason for a rejection.
    CodeKind.FAILED_CHECK: "OTHER",
    CodeKind.SCREENED_OUT: "FIXED_SCREENOUT",
}


def cents(amount: Decimal) -> int:
    return int((amount * 100).to_integral_value(ROUND_HALF_UP))


def amount(number: Any) -> Decimal:
    """Cents, which may be a JSON number with a fraction, as an amount with two places."""
    return (Decimal(str(number or 0)) / 100).quantize(CENT, ROUND_HALF_UP)


def least_allowed_minutes(estimated: float) -> int:
    """The shortest time after which Prolific lets a submission time out.

    Without a time of the draft's own, Prolific sets the longest.
    """
    return math.ceil(2 + 2 * estimated + 2 * math.sqrt(estimated))


def study_body(draft: Draft, *, project: str) -> dict[str, Any]:
    """The body of "Create a draft study"."""
    body: dict[str, Any] = {
        "name": draft.name,
        "internal_name": draft.reference,
        "description": draft.description,
        "external_study_url": draft.url,
        "prolific_id_option": "url_parameters",
        "completion_codes": [_code(kind, draft) for kind in draft.codes],
        "total_available_places": draft.places,
        "estimated_completion_time": draft.minutes,
        "maximum_allowed_time": least_allowed_minutes(draft.minutes),
        "reward": cents(draft.reward),
        "device_compatibility": list(draft.devices),
        "filters": [dict(each) for each in draft.filters],
    }
    if draft.is_signed:
        body["is_external_study_url_secure"] = True
    if project:
        body["project"] = project
    return body


def _code(kind: CodeKind, draft: Draft) -> dict[str, Any]:
    action: dict[str, Any]
    if kind == CodeKind.COMPLETED:
        action = {"action": "MANUALLY_REVIEW"}
    elif kind == CodeKind.SCREENED_OUT and draft.screen_out is not None:
        action = {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": cents(draft.screen_out.reward),
            "slots": draft.screen_out.places,
        }
    else:
        action = {"action": "REQUEST_RETURN", "return_reason": _RETURN_REASONS[kind]}
    return {
        "code": draft.codes[kind],
        "code_type": _CODE_TYPES[kind],
        "actions": [action],
        "actor": "participant",
    }


def study_there(row: Mapping[str, Any]) -> StudyThere:
    return StudyThere(
        id=row["id"], status=row["status"], places=int(row.get("total_available_places") or 0)
    )


def submission_there(row: Mapping[str, Any]) -> SubmissionThere:
    return SubmissionThere(
        id=row["id"],
        participant=row["participant_id"],
        status=row["status"],
        started_at=datetime.fromisoformat(row["started_at"]),
        completed_at=_moment(row.get("completed_at")),
        code=row.get("study_code") or "",
        return_requested_at=_moment(row.get("return_requested")),
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def spent(row: Mapping[str, Any]) -> Spent:
    """The answer of "Show study cost"."""
    rewards, bonuses = row.get("rewards") or {}, row.get("bonuses") or {}

    def part(of: Mapping[str, Any], name: str) -> Decimal:
        return amount((of.get(name) or {}).get("amount"))

    return Spent(
        rewards=part(rewards, "rewards"),
        reward_fees=part(rewards, "fees"),
        reward_tax=part(rewards, "tax"),
        bonuses=part(bonuses, "rewards"),
        bonus_fees=part(bonuses, "fees"),
        bonus_tax=part(bonuses, "tax"),
    )


def bonuses_body(study_id: str, amounts: Mapping[str, Decimal]) -> dict[str, str]:
    """The body of "Set up bonuses": submission ids with decimal amounts, never cents."""
    lines = [f"{submission},{each:.2f}" for submission, each in amounts.items()]
    return {"study_id": study_id, "csv_bonuses": "\n".join(lines)}


def bonuses_set_up(row: Mapping[str, Any]) -> BonusesSetUp:
    return BonusesSetUp(
        id=row["id"],
        amount=amount(row.get("amount")),
        fees=amount(row.get("fees")),
        tax=amount(row.get("vat")),
    )


def subscription_there(row: Mapping[str, Any]) -> Subscription:
    return Subscription(
        id=row["id"],
        event=row["event_type"],
        address=row["target_url"],
        is_enabled=bool(row.get("is_enabled", True)),
    )


def subscription_made(body: Mapping[str, Any], *, event: str, address: str) -> Subscription:
    """The new subscription. The guide shows the row alone, the schema a list with the row in it."""
    rows = [each for each in body.get("results", [body]) if each.get("id")]
    found = [subscription_there(each) for each in rows]
    mine = [each for each in found if (each.event, each.address) == (event, address)]
    if not mine:
        raise PanelUnclear("Prolific's answer does not name the new subscription.")
    return mine[-1]


def problem_of(body: Any, *, status: int) -> str:
    """A refusal in words, without ids: they may be participants', and are stored nowhere else."""
    detail = body.get("error") if isinstance(body, dict) else None
    found = detail if isinstance(detail, dict) else body if isinstance(body, dict) else {}
    words = [str(found[key]) for key in ("title", "detail") if found.get(key)]
    text = ": ".join(words) or f"HTTP status {status}"
    return _IDENTIFIER.sub("(an id)", text)
