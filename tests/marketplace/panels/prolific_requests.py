"""Prolific's reference of the requests that the site sends, written down by hand.

Source: the OpenAPI document that docs.prolific.com/api-reference offers, in the copy of August 2026
at github.com/api-evangelist/prolific, `openapi/_original/prolific-openapi-original.yml`. It is kept
apart from the stand-in's schemas, so that site and stand-in cannot share a mistake. Where the
document leaves fields open, they are closed here: a field that it does not name is one that the
service would ignore.
"""

import re
from typing import Any
from urllib.parse import parse_qsl

from jsonschema import validate

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def _object(required: str, optional: str = "", /, **properties: Any) -> dict[str, Any]:
    assert {*required.split(), *optional.split()} == properties.keys()
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


ACTION = {
    "oneOf": [
        _object("action", action={"enum": ["AUTOMATICALLY_APPROVE"]}),
        _object("action", action={"enum": ["MANUALLY_REVIEW"]}),
        _object("action return_reason", action={"enum": ["REQUEST_RETURN"]}, return_reason=TEXT),
        _object(
            "action fixed_screen_out_reward slots",
            action={"enum": ["FIXED_SCREEN_OUT_PAYMENT"]},
            fixed_screen_out_reward={"type": "integer"},
            slots={"type": "integer"},
        ),
    ]
}
CODE_TYPES = [
    "COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE",
    "NO_CONSENT", "OTHER", "FIXED_SCREENOUT", "SCREENED_IN", "SCREENED_OUT",
]  # fmt: skip
CODE = _object(
    "code code_type actions",
    "actor",
    code={"type": ["string", "null"]},
    code_type={"enum": CODE_TYPES},
    actions=_list(ACTION),
    actor={"enum": ["participant", "researcher"]},
)
FILTER = {
    "oneOf": [
        _object("filter_id selected_values", filter_id=TEXT, selected_values=_list(TEXT)),
        _object("filter_id selected_range", filter_id=TEXT, selected_range={"type": "object"}),
    ]
}
STUDY = _object(
    "name description external_study_url prolific_id_option total_available_places "
    "estimated_completion_time reward",
    "internal_name completion_codes maximum_allowed_time device_compatibility filters project "
    "is_external_study_url_secure",
    name=TEXT,
    internal_name={"type": ["string", "null"]},
    description=TEXT,
    external_study_url=TEXT,
    prolific_id_option={"enum": ["question", "url_parameters", "not_required"]},
    completion_codes=_list(CODE),
    total_available_places=NUMBER,
    estimated_completion_time=NUMBER,
    maximum_allowed_time=NUMBER,
    reward=NUMBER,
    device_compatibility=_list({"enum": ["desktop", "tablet", "mobile"]}),
    filters={"type": ["array", "null"], "items": FILTER},
    project=TEXT,
    is_external_study_url_secure={"type": "boolean"},
)
STUDY_ACTIONS = ["PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"]
REJECTIONS = [
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK",
    "LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
]  # fmt: skip
REJECTION = _object(
    "action message rejection_category",
    action={"enum": ["REJECT"]},
    message=TEXT,
    rejection_category={"enum": REJECTIONS},
)
# A participant's or a submission's id, and an amount with its decimals; one on each line.
BONUSES = {"type": "string", "pattern": r"^([0-9a-f]{24},[0-9]+\.[0-9]{2}\n?)+$"}

# Method and path, to the schema of the body (None: no body) and the names in the query string.
DOCUMENTED: dict[str, tuple[dict[str, Any] | None, set[str]]] = {
    "GET /studies/": (None, {"state"}),
    "GET /projects/ID/studies/": (None, {"page", "page_size", "ordering"}),
    "POST /studies/": (STUDY, set()),
    "GET /studies/ID/": (None, set()),
    "PATCH /studies/ID/": (
        _object("", "total_available_places", total_available_places=NUMBER),
        set(),
    ),
    "POST /studies/ID/transition/": (_object("action", action={"enum": STUDY_ACTIONS}), set()),
    "GET /studies/ID/submissions/": (None, {"ordering"}),
    "GET /studies/ID/cost/": (None, set()),
    "POST /study-cost-calculator/": (
        _object("reward total_available_places", reward=NUMBER, total_available_places=NUMBER),
        set(),
    ),
    "GET /workspaces/ID/balance/": (None, set()),
    "GET /submissions/ID/": (None, set()),
    "POST /submissions/ID/transition/": (REJECTION, set()),
    "POST /submissions/ID/request-return/": (
        _object("request_return_reasons", request_return_reasons=_list(TEXT)),
        set(),
    ),
    "POST /submissions/bulk-approve/": (
        _object("submission_ids", submission_ids=_list(TEXT)),
        set(),
    ),
    "POST /submissions/bonus-payments/": (
        _object("study_id csv_bonuses", study_id=TEXT, csv_bonuses=BONUSES),
        set(),
    ),
    "POST /bulk-bonus-payments/ID/pay/": (None, set()),
    "GET /hooks/secrets/": (None, {"workspace_id"}),
    "POST /hooks/secrets/": (_object("workspace_id", workspace_id=TEXT), set()),
    "GET /hooks/subscriptions/": (None, {"workspace_id", "is_enabled"}),
    "POST /hooks/subscriptions/": (
        _object(
            "event_type target_url workspace_id",
            event_type=TEXT,
            target_url=TEXT,
            workspace_id=TEXT,
        ),
        set(),
    ),
    "POST /hooks/subscriptions/ID/": (_object("secret", secret=TEXT), set()),
    "DELETE /hooks/subscriptions/ID/": (None, set()),
}
# The reference names no pages of these lists; the site asks for them until nothing new comes.
PAGED_ON_SUSPICION = {
    "GET /hooks/subscriptions/": {"page"},
    "GET /studies/": {"page", "page_size", "ordering"},
    "GET /studies/ID/submissions/": {"page"},
}


def check_request(method: str, target: str, body: Any) -> str:
    """Fail unless the reference has this request; return its name in DOCUMENTED."""
    path, _, query = target.removeprefix("/api/v1").partition("?")
    name = f"{method} {re.sub('[0-9a-f]{24}', 'ID', path)}"
    assert name in DOCUMENTED, f"{name} is not in Prolific's reference."
    schema, names = DOCUMENTED[name]
    assert dict(parse_qsl(query)).keys() <= names | PAGED_ON_SUSPICION.get(name, set()), target
    if schema is None:
        assert body is None, f"{name} has no body in Prolific's reference."
    else:
        validate(body, schema)
    return name
