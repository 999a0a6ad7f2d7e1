"""Read campaign files: presets and defaults of the task types, and errors.

An unknown key or an invalid value is an error that names the key.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from annotate.campaign_file import REQUIREMENTS, CampaignConfig
from annotate.kinds import DEFAULT_KIND, KINDS, TaskKind
from corpora.language.languages import ENGLISH, LANGUAGE_TAG
from corpora.language.text import PARAGRAPH
from corpora.reading.files import open_text, printable, short
from corpora.reading.toml_files import parse_toml

Checked = TypeVar("Checked", bound=BaseModel)

PRESETS = {name: values for kind in KINDS.values() for name, values in kind.presets.items()}


class CampaignFileError(Exception):
    """The campaign file cannot be used; the message names the keys with errors."""


def read_config(path: Path) -> CampaignConfig:
    """The campaign file at `path`; raises MalformedFile, and CampaignFileError for invalid
    values."""
    with open_text(path) as text:
        return parse_config(parse_toml(str(path), text.read()))


def parse_config(values: Mapping[str, Any]) -> CampaignConfig:
    """The validated configuration; raises CampaignFileError with one line per error."""
    kind = kind_of(values)
    whole = merged(_defaults(kind, values), values)
    whole.setdefault("kind", DEFAULT_KIND)
    faults = list(_unknown(whole, kind))
    if kind is not None and kind.section is not None:
        section, found = _checked(kind.section, whole.get(kind.name, {}), kind.name)
        faults += found
        whole[kind.name] = section.model_dump(mode="json") if section else {}
    if kind is not None and not kind.has_languages and whole.get("language", "en") != "en":
        faults.append(f'language: campaigns of kind {kind.name!r} are in English, "en"')
    config, found = _checked(CampaignConfig, whole)
    faults = [*found, *faults]
    if config is None or faults:
        raise CampaignFileError("\n".join(faults))
    return config


def filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """The file's values over all defaults: those of its task type, its preset and its audience.

    The values need not be valid or complete.
    """
    kind = kind_of(values)
    whole: dict[str, Any] = {"kind": kind.name if kind else DEFAULT_KIND}
    for name, field in CampaignConfig.model_fields.items():
        if field.is_required() or name == "kind":
            continue
        default = field.get_default()
        whole[name] = default.model_dump(mode="json") if isinstance(default, BaseModel) else default
    whole = merged(whole, _defaults(kind, values))
    who = _chosen(values, "workers", "who")
    whole["workers"] = {**whole["workers"], **REQUIREMENTS.get(who, {})}
    if _chosen(values, "captions", "style") == "paragraph":
        whole["captions"] = {**whole["captions"], **PARAGRAPH}
    return merged(whole, values)


def _chosen(values: Mapping[str, Any], section: str, key: str) -> str:
    """The text of this key; empty if the file, which may be invalid, has none."""
    found = values.get(section)
    text = found.get(key) if isinstance(found, dict) else None
    return text if isinstance(text, str) else ""


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` overridden by `over`, section by section."""
    result = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            value = merged(result[key], value)
        result[key] = value
    return result


def _defaults(kind: TaskKind | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of the task type and the preset, with texts in the file's language."""
    if kind is None:
        return dict(_preset(values))
    tag = values.get("language")
    is_tag = isinstance(tag, str) and LANGUAGE_TAG.fullmatch(tag) is not None
    style = _chosen(values, "captions", "style")
    texts = kind.default_texts(str(tag) if is_tag else ENGLISH, style)
    return merged(merged(kind.defaults, {"hit": texts}), _preset(values))


def _preset(values: Mapping[str, Any]) -> Mapping[str, Any]:
    preset = values.get("preset")
    return PRESETS.get(preset, {}) if isinstance(preset, str) else {}


def kind_of(values: Mapping[str, Any]) -> TaskKind | None:
    """The task type that the file or its preset names, or None if it is unknown.

    `create_campaign` refuses unknown task types.
    """
    name = values.get("kind", _preset(values).get("kind", DEFAULT_KIND))
    return KINDS.get(name) if isinstance(name, str) else None


def _unknown(values: Mapping[str, Any], kind: TaskKind | None) -> Iterator[str]:
    """One error message for each unknown key."""
    known = {*CampaignConfig.model_fields, *([kind.name] if kind and kind.section else [])}
    for key in values:
        if key not in known:
            yield f"{printable(str(key)[:100])}: there is no such key"
    preset = values.get("preset")
    if isinstance(preset, str) and preset not in PRESETS:
        yield f"preset: there is no preset {short(preset)}, only {', '.join(PRESETS)}"


def _checked(
    model: type[Checked], values: Any, section: str = ""
) -> tuple[Checked | None, list[str]]:
    """The validated values, or one error message per error."""
    try:
        return model.model_validate(values), []
    except ValidationError as error:
        return None, [_explain(fault, section) for fault in error.errors()]


def _explain(fault: Any, section: str) -> str:
    """One error as `section.key: message`."""
    places = [section, *fault["loc"]] if section else fault["loc"]
    key = printable(".".join(str(part)[:100] for part in places))
    if fault["type"] == "extra_forbidden":
        return f"{key}: there is no such key"
    message = fault["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if key and not isinstance(fault["input"], dict):
        message += f", not {short(fault['input'])}"
    return f"{key}: {message}" if key else message
