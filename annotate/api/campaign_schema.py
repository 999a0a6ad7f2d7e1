"""The JSON schema of a campaign file, made from the models that check it."""

from typing import Any

from annotate.campaign_file import CampaignConfig
from annotate.kinds import DEFAULT_KIND, KINDS
from annotate.kinds.campaign_files import LANGUAGES, PRESETS, TRANSLATED, TRANSLATIONS

ABOUT = (
    "The keys of a campaign file. Give exactly one of `selection`, `release` and `caption_set`. A "
    "task type or a preset may have other defaults than those shown."
)


def campaign_file_schema() -> dict[str, Any]:
    """The schema with all keys, their types and defaults; each task type adds its own section."""
    schema = _inlined(CampaignConfig.model_json_schema())
    keys = schema["properties"]
    keys["kind"] = {
        "type": "string",
        "enum": sorted(KINDS),
        "default": DEFAULT_KIND,
        "description": "task type",
    }
    keys["preset"] = {
        "type": "string",
        "enum": sorted(PRESETS),
        "description": "values for keys that are left out",
    }
    keys[LANGUAGES] = {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 2,
        "uniqueItems": True,
        "description": "in place of `language`: one campaign for each, named after this one and "
        "its language",
    }
    keys[TRANSLATIONS] = {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                name: {"type": "object", "description": f"the section `{name}` in this language"}
                for name in TRANSLATED
            },
            "additionalProperties": False,
        },
        "description": "values of a language, by its tag",
    }
    for kind in KINDS.values():
        if kind.section is not None:
            keys[kind.name] = _inlined(kind.section.model_json_schema())
    schema["required"] = [key for key in schema.get("required", []) if key != "kind"]
    return {**schema, "description": ABOUT, "additionalProperties": False}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with each reference replaced by what it names."""
    definitions = schema.pop("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, list):
            return [inline(part) for part in value]
        if not isinstance(value, dict):
            return value
        named = value.get("$ref", "").rpartition("/")[2]
        resolved = {**definitions.get(named, {}), **value}
        # Titles repeat the keys in other words.
        left_out = {"$ref"} | ({"title"} if isinstance(resolved.get("title"), str) else set())
        return _in_openapi(
            {key: inline(part) for key, part in resolved.items() if key not in left_out}
        )

    result: dict[str, Any] = inline(schema)
    return result


def _in_openapi(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the form of OpenAPI 3.0, which has other words for null and for bounds."""
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if type(schema.get(exclusive)) in {int, float}:
            schema |= {bound: schema[exclusive], exclusive: True}
    if {"type": "null"} in schema.get("anyOf", []):
        (stated,) = [choice for choice in schema.pop("anyOf") if choice != {"type": "null"}]
        schema = {**stated, **schema, "nullable": True}
    return schema
