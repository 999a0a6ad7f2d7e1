"""JSON Schemas of the requests that the stand-in takes, after the reference's descriptions."""

from typing import Any

from jsonschema import Draft202012Validator

from marketplace.panels.prolific.words import DEVICES, LEAST_REJECTION, REJECTION_CATEGORIES

TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
ACTIONS: dict[str, Any] = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"action": {"enum": ["AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"]}},
            "required": ["action"],
        },
        {
            "type": "object",
            "properties": {"action": {"const": "REQUEST_RETURN"}, "return_reason": TEXT},
            "required": ["action", "return_reason"],
        },
        {
            "type": "object",
            "properties": {
                "action": {"const": "FIXED_SCREEN_OUT_PAYMENT"},
                "fixed_screen_out_reward": {"type": "integer", "minimum": 1},
                "slots": {"type": "integer", "minimum": 1},
            },
            "required": ["action", "fixed_screen_out_reward", "slots"],
        },
    ]
}
FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "filter_id": TEXT,
        "selected_values": {"type": "array", "items": {"type": "string"}},
        "selected_range": {"type": "object", "minProperties": 1},
    },
    "required": ["filter_id"],
    "oneOf": [{"required": ["selected_values"]}, {"required": ["selected_range"]}],
}
CREATE_STUDY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": TEXT,
        "internal_name": {"type": ["string", "null"]},
        "description": TEXT,
        "external_study_url": {**TEXT, "pattern": "^https?://"},
        "prolific_id_option": {"enum": ["question", "url_parameters", "not_required"]},
        "completion_codes": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "code": {"type": ["string", "null"]},
                    "code_type": TEXT,
                    "actions": {"type": "array", "items": ACTIONS},
                    "actor": {"enum": ["participant", "researcher"]},
                },
                "required": ["code", "code_type", "actions"],
            },
        },
        "total_available_places": {"type": "number", "minimum": 1},
        "estimated_completion_time": {"type": "number", "minimum": 1},
        "reward": {"type": "number", "minimum": 1},
        "device_compatibility": {"type": "array", "items": {"enum": list(DEVICES)}},
        "filters": {"type": ["array", "null"], "items": FILTER},
        "project": TEXT,
        "is_external_study_url_secure": {"type": "boolean"},
    },
    "required": [
        "name", "description", "external_study_url", "prolific_id_option", "completion_codes",
        "total_available_places", "estimated_completion_time", "reward",
    ],
    "additionalProperties": False,
}  # fmt: skip
UPDATE_STUDY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "internal_name": TEXT,
        "total_available_places": {"type": "number", "minimum": 1},
    },
    "minProperties": 1,
    "additionalProperties": False,
}
STUDY_TRANSITION: dict[str, Any] = {
    "type": "object",
    "properties": {"action": {"enum": ["PUBLISH", "PAUSE", "START", "STOP"]}},
    "required": ["action"],
}
COST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reward": {"type": "number"},
        "total_available_places": {"type": "number", "minimum": 1},
    },
    "required": ["reward", "total_available_places"],
}
SUBMISSION_TRANSITION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"enum": ["APPROVE", "REJECT", "COMPLETE", "RETURN", "START", "SCREEN_OUT"]},
        "message": {"type": "string"},
        "rejection_category": {"enum": list(REJECTION_CATEGORIES)},
    },
    "required": ["action"],
    "if": {"properties": {"action": {"const": "REJECT"}}},
    "then": {
        "required": ["message", "rejection_category"],
        "properties": {"message": {"minLength": LEAST_REJECTION}},
    },
}
BULK_APPROVE: dict[str, Any] = {
    "type": "object",
    "properties": {"submission_ids": {"type": "array", "minItems": 1, "items": TEXT}},
    "required": ["submission_ids"],
}
REQUEST_RETURN: dict[str, Any] = {
    "type": "object",
    "properties": {"request_return_reasons": {"type": "array", "minItems": 1, "items": TEXT}},
    "required": ["request_return_reasons"],
}
SET_UP_BONUSES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "study_id": TEXT,
        "csv_bonuses": {
            "type": "string",
            "pattern": r"^[0-9a-f]{24},[0-9]+\.[0-9]{2}(\n[0-9a-f]{24},[0-9]+\.[0-9]{2})*$",
        },
    },
    "required": ["study_id", "csv_bonuses"],
}
CREATE_SECRET: dict[str, Any] = {
    "type": "object",
    "properties": {"workspace_id": TEXT},
    "required": ["workspace_id"],
}
SUBSCRIBE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "event_type": TEXT,
        # Prolific takes public https addresses only; the stand-in also this machine's.
        "target_url": {**TEXT, "pattern": r"^https://|^http://(127\.0\.0\.1|localhost)[:/]"},
        "workspace_id": TEXT,
        "is_enabled": {"type": "boolean"},
    },
    "required": ["event_type", "target_url", "workspace_id"],
    "additionalProperties": False,
}
CONFIRM: dict[str, Any] = {
    "type": "object",
    "properties": {"secret": TEXT},
    "required": ["secret"],
}


def problem_in(body: Any, schema: dict[str, Any]) -> str:
    """The first way in which the body breaks the schema; empty if it does not."""
    errors = sorted(Draft202012Validator(schema).iter_errors(body), key=lambda e: list(e.path))
    if not errors:
        return ""
    place = ".".join(map(str, errors[0].path)) or "body"
    return f"{place}: {errors[0].message}"[:300]
