"""JSON Schemas of the requests that the stand-in takes, after the reference's descriptions."""

from typing import Any

from jsonschema import Draft202012Validator

REJECTION_CATEGORIES = [
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK",
    "LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
]  # fmt: skip
LEAST_REJECTION = 100
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
TEXT_OR_NOTHING: dict[str, Any] = {"type": ["string", "null"]}
FIELDS: dict[str, Any] = {
    "name": TEXT,
    "internal_name": TEXT_OR_NOTHING,
    "description": TEXT,
    "external_study_url": {**TEXT, "pattern": "^https?://"},
    "prolific_id_option": {"enum": ["question", "url_parameters", "not_required"]},
    "completion_codes": {
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {
                "code": TEXT_OR_NOTHING,
                "code_type": TEXT,
                "actions": {"type": "array", "items": ACTIONS},
                "actor": {"enum": ["participant", "researcher"]},
            },
            "required": ["code", "code_type", "actions"],
        },
    },
    "total_available_places": {"type": "number", "minimum": 1},
    "estimated_completion_time": {"type": "number", "minimum": 1},
    "maximum_allowed_time": {"type": "number", "minimum": 1},
    "reward": {"type": "number", "minimum": 1},
    "device_compatibility": {"type": "array", "items": {"enum": ["desktop", "tablet", "mobile"]}},
    "peripheral_requirements": {
        "type": "array",
        "items": {"enum": ["audio", "camera", "download", "microphone"]},
    },
    "filters": {"type": ["array", "null"], "items": FILTER},
    "filter_set_id": TEXT_OR_NOTHING,
    "filter_set_version": {"type": ["integer", "null"]},
    "naivety_distribution_rate": {"type": ["number", "null"]},
    "project": TEXT,
    "submissions_config": {"type": "object"},
    "study_labels": {"type": "array"},
    "content_warnings": {"type": "array"},
    "content_warning_details": {"type": "string"},
    "metadata": TEXT_OR_NOTHING,
    "is_external_study_url_secure": {"type": "boolean"},
    "is_custom_screening": {"type": "boolean"},
    # Of earlier versions of the reference; published clients still send them.
    "completion_code": TEXT,
    "completion_option": {"enum": ["url", "code"]},
    "eligibility_requirements": {"type": "array"},
    "status": {"const": "UNPUBLISHED"},
}
CREATE_STUDY: dict[str, Any] = {
    "type": "object",
    "properties": FIELDS,
    "required": [
        "name", "description", "external_study_url", "prolific_id_option",
        "total_available_places", "estimated_completion_time", "reward",
    ],
    "additionalProperties": False,
}  # fmt: skip
UPDATE_STUDY: dict[str, Any] = {
    "type": "object",
    "properties": FIELDS,
    "minProperties": 1,
    "additionalProperties": False,
}
CREATE_PROJECT: dict[str, Any] = {
    "type": "object",
    "properties": {"title": TEXT},
    "required": ["title"],
}
SCREEN_OUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "submission_ids": {"type": "array", "items": TEXT, "minItems": 1},
        "bonus_per_submission": {"type": "number", "exclusiveMinimum": 0},
        "increase_places": {"type": "boolean"},
    },
    "required": ["submission_ids", "bonus_per_submission"],
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
        "rejection_category": {"enum": REJECTION_CATEGORIES},
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
BONUS = r"[^\s,]+,[0-9]+(\.[0-9]{1,2})?"
SET_UP_BONUSES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "study_id": TEXT,
        "csv_bonuses": {
            "type": "string",
            # Ids of submissions or of participants.
            "pattern": rf"^{BONUS}(\n{BONUS})*\n?$",
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
