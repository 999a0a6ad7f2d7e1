"""JSON Schemas of the requests that the stand-in takes, after the reference's descriptions."""

from typing import Any

from jsonschema import Draft202012Validator

REJECTION_CATEGORIES = [
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK",
    "LOW_EFFORT", "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
]  # fmt: skip
LEAST_REJECTION = 100
Schema = dict[str, Any]
TEXT: Schema = {"type": "string", "minLength": 1}
NUMBER: Schema = {"type": "number"}
AT_LEAST_ONE: Schema = {"type": "number", "minimum": 1}
TEXT_OR_NOTHING: Schema = {"type": ["string", "null"]}
TEXTS: Schema = {"type": "array", "items": TEXT, "minItems": 1}


def _object(needed: Schema, more: Schema | None = None, **rules: Any) -> Schema:
    """An object with the properties `needed`, and perhaps those of `more`."""
    properties = {**needed, **(more or {})}
    return {"type": "object", "properties": properties, "required": [*needed], **rules}


ACTIONS: Schema = {
    "oneOf": [
        _object({"action": {"enum": ["AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"]}}),
        _object({"action": {"const": "REQUEST_RETURN"}, "return_reason": TEXT}),
        _object(
            {
                "action": {"const": "FIXED_SCREEN_OUT_PAYMENT"},
                "fixed_screen_out_reward": {"type": "integer", "minimum": 1},
                "slots": {"type": "integer", "minimum": 1},
            }
        ),
    ]
}
FILTER = _object(
    {"filter_id": TEXT},
    {
        "selected_values": {"type": "array", "items": {"type": "string"}},
        "selected_range": {"type": "object", "minProperties": 1},
    },
    oneOf=[{"required": ["selected_values"]}, {"required": ["selected_range"]}],
)
COMPLETION_CODE = _object(
    {
        "code": TEXT_OR_NOTHING,
        "code_type": TEXT,
        "actions": {"type": "array", "items": ACTIONS},
    },
    {"actor": {"enum": ["participant", "researcher"]}},
)
NEEDED_FIELDS: Schema = {
    "name": TEXT,
    "description": TEXT,
    "external_study_url": {**TEXT, "pattern": "^https?://"},
    "prolific_id_option": {"enum": ["question", "url_parameters", "not_required"]},
    "total_available_places": AT_LEAST_ONE,
    "estimated_completion_time": AT_LEAST_ONE,
    "reward": AT_LEAST_ONE,
}
MORE_FIELDS: Schema = {
    "internal_name": TEXT_OR_NOTHING,
    "completion_codes": {"type": "array", "minItems": 1, "items": COMPLETION_CODE},
    "maximum_allowed_time": AT_LEAST_ONE,
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
CREATE_STUDY = _object(NEEDED_FIELDS, MORE_FIELDS, additionalProperties=False)
UPDATE_STUDY = _object(
    {}, {**NEEDED_FIELDS, **MORE_FIELDS}, minProperties=1, additionalProperties=False
)
CREATE_PROJECT = _object({"title": TEXT})
SCREEN_OUT = _object(
    {
        "submission_ids": TEXTS,
        "bonus_per_submission": {"type": "number", "exclusiveMinimum": 0},
    },
    {"increase_places": {"type": "boolean"}},
    additionalProperties=False,
)
STUDY_TRANSITION = _object({"action": {"enum": ["PUBLISH", "PAUSE", "START", "STOP"]}})
COST = _object({"reward": NUMBER, "total_available_places": AT_LEAST_ONE})
SUBMISSION_TRANSITION = _object(
    {"action": {"enum": ["APPROVE", "REJECT", "COMPLETE", "RETURN", "START", "SCREEN_OUT"]}},
    {"message": {"type": "string"}, "rejection_category": {"enum": REJECTION_CATEGORIES}},
    **{
        "if": {"properties": {"action": {"const": "REJECT"}}},
        "then": {
            "required": ["message", "rejection_category"],
            "properties": {"message": {"minLength": LEAST_REJECTION}},
        },
    },
)
BULK_APPROVE = _object({"submission_ids": TEXTS})
REQUEST_RETURN = _object({"request_return_reasons": TEXTS})
BONUS = r"[^\s,]+,[0-9]+(\.[0-9]{1,2})?"
# Ids of submissions or of participants.
BONUSES: Schema = {"type": "string", "pattern": rf"^{BONUS}(\n{BONUS})*\n?$"}
SET_UP_BONUSES = _object({"study_id": TEXT, "csv_bonuses": BONUSES})
CREATE_SECRET = _object({"workspace_id": TEXT})
SUBSCRIBE = _object(
    {
        "event_type": TEXT,
        # Prolific takes public https addresses only; the stand-in also this machine's.
        "target_url": {**TEXT, "pattern": r"^https://|^http://(127\.0\.0\.1|localhost)[:/]"},
        "workspace_id": TEXT,
    },
    {"is_enabled": {"type": "boolean"}},
    additionalProperties=False,
)
CONFIRM = _object({"secret": TEXT})


def problem_in(body: Any, schema: Schema) -> str:
    """The first way in which the body breaks the schema; empty if it does not."""
    errors = sorted(Draft202012Validator(schema).iter_errors(body), key=lambda e: list(e.path))
    if not errors:
        return ""
    place = ".".join(map(str, errors[0].path)) or "body"
    return f"{place}: {errors[0].message}"[:300]
