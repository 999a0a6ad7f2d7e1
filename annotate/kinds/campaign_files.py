"""Read campaign files: presets and defaults of the task types, and errors.

An unknown key or an invalid value is an error that names the key. A file for several languages
makes one campaign for each, over the same images.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from django.utils.translation import gettext
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from annotate.campaign_file import REQUIREMENTS, CampaignConfig
from annotate.kinds import DEFAULT_KIND, KINDS, TaskKind
from annotate.kinds.wording import in_language
from corpora.errors import DomainError
from corpora.language.languages import ENGLISH, LANGUAGE_TAG, checked_tag
from corpora.language.text import PARAGRAPH
from corpora.reading.files import MalformedFile, open_text, printable, short
from corpora.reading.json_files import unstorable

Checked = TypeVar("Checked", bound=BaseModel)

# Keys whose defaults are texts for workers, in the campaign's language.
TEXTS = (
    "hit.title",
    "hit.description",
    "captions.label",
    "captions.cannot_describe",
    "instructions.intro",
    "instructions.rules",
    "instructions.bad",
)
# Thresholds for paragraphs of 100 to 200 words, by `benchmarks.flags` (docs/flags.md).
PARAGRAPH_FLAGS = {"copy_similarity": 0.75, "unlike": 0.3}
PRESETS = {name: values for kind in KINDS.values() for name, values in kind.presets.items()}


class CampaignFileError(DomainError):
    """The campaign file cannot be used; the message names the keys with errors."""


def parse_config(values: Mapping[str, Any]) -> CampaignConfig:
    """The validated configuration; raises CampaignFileError with one line per error."""
    kind = kind_of(values)
    whole = merged(_defaults(kind, values), values)
    whole.setdefault("kind", DEFAULT_KIND)
    faults = list(_unknown(whole, kind))
    if kind is not None and kind.section is not None:
        section, more = _checked(kind.section, whole.get(kind.name, {}), kind.name)
        faults += more
        whole[kind.name] = section.model_dump(mode="json") if section else {}
        if section and (number := kind.responses_of(section)):
            whole["responses"] = number
    if kind is not None and not kind.has_languages and whole.get("language", "en") != "en":
        faults.append(f'language: campaigns of kind {kind.name!r} are in English, "en"')
    config, more = _checked(CampaignConfig, whole)
    faults = [*more, *faults]
    if config is None or faults:
        raise CampaignFileError("\n".join(faults))
    return config


def filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """The file's values over all defaults: those of its task type, its preset and its audience.

    The values need not be valid or complete.
    """
    kind = kind_of(values)
    whole = {**_fields(CampaignConfig), "kind": kind.name if kind else DEFAULT_KIND}
    if kind and kind.section:
        whole[kind.name] = _fields(kind.section)
    defaults = _defaults(kind, values)
    if _chosen(merged(defaults, values), "captions", "style") == "paragraph":
        whole["captions"] = {**whole["captions"], **PARAGRAPH}
    whole = merged(whole, defaults)
    who = _chosen(values, "workers", "who")
    whole["workers"] = {**whole["workers"], **REQUIREMENTS.get(who, {})}
    return merged(whole, values)


@cache
def _fields(model: type[BaseModel]) -> Mapping[str, Any]:
    """The defaults of the keys that a file need not have."""
    return {
        name: to_jsonable_python(field.get_default())
        for name, field in model.model_fields.items()
        if not field.is_required()
    }


def _chosen(values: Mapping[str, Any], section: str, key: str) -> str:
    """The text of this key; empty if the file, which may be invalid, has none."""
    of_section = values.get(section)
    text = of_section.get(key) if isinstance(of_section, dict) else None
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
        return dict(preset_of(values))
    tag = values.get("language")
    is_tag = isinstance(tag, str) and LANGUAGE_TAG.fullmatch(tag) is not None
    language, preset = str(tag) if is_tag else ENGLISH, preset_of(values)
    style = _chosen(merged(merged(kind.defaults, preset), values), "captions", "style")
    own: dict[str, Mapping[str, Any]] = {"hit": kind.default_texts(language, style)}
    if style == "paragraph":
        own["flags"] = PARAGRAPH_FLAGS
    with in_language(language):
        return merged(merged(kind.defaults, own), _translated(preset))


def _translated(preset: Mapping[str, Any]) -> dict[str, Any]:
    """The preset with its texts in the active language."""
    result = dict(preset)
    for path in TEXTS:
        section, _, key = path.partition(".")
        if text := preset.get(section, {}).get(key):
            result[section] = {**result[section], key: _in_language(text)}
    return result


def _in_language(text: Any) -> Any:
    """A text, or those of a list or a table, in the active language."""
    if isinstance(text, str):
        return gettext(text)
    if isinstance(text, Mapping):
        return {key: _in_language(value) for key, value in text.items()}
    return tuple(map(_in_language, text))


def preset_of(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of the file's preset; none without a preset that exists."""
    preset = values.get("preset")
    return PRESETS.get(preset, {}) if isinstance(preset, str) else {}


def kind_of(values: Mapping[str, Any]) -> TaskKind | None:
    """The task type that the file or its preset names, or None if it is unknown."""
    name = values.get("kind", preset_of(values).get("kind", DEFAULT_KIND))
    return KINDS.get(name) if isinstance(name, str) else None


def _unknown(values: Mapping[str, Any], kind: TaskKind | None) -> Iterator[str]:
    """One error message for each unknown key, task type and preset."""
    known_keys = {*CampaignConfig.model_fields, *([kind.name] if kind and kind.section else [])}
    for key in values:
        if key not in known_keys:
            yield f"{printable(str(key)[:100])}: there is no such key"
    if kind is None and isinstance(name := values.get("kind"), str):
        yield f"kind: there is no task type {short(name)}, only {', '.join(sorted(KINDS))}"
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


LANGUAGES, TRANSLATIONS = "languages", "translations"
# At the end of an error of `tomllib`.
AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
# What may differ between the languages.
TRANSLATED = ("hit", "captions", "instructions", "practice", "writing")


class Plan(NamedTuple):
    """The campaigns of a file. `family` is empty if the file is of one campaign."""

    family: str
    configs: list[CampaignConfig]


def read_plan(path: Path) -> Plan:
    """The campaigns of the file at `path`; raises MalformedFile and CampaignFileError."""
    with open_text(path) as text:
        return parse_plan(parse_toml(str(path), text.read()))


def parse_toml(name: str, text: str) -> dict[str, Any]:
    """The values of a TOML document; raises MalformedFile."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = AT_LINE.search(str(error))
        line = int(match[1]) if match else None
        raise MalformedFile(name, f"not TOML: {AT_LINE.sub('', str(error))}", line) from error
    except RecursionError as error:
        raise MalformedFile(name, "the TOML is nested too deeply") from error
    except ValueError as error:
        raise MalformedFile(name, "a number or a date is out of range") from error
    if reason := unstorable(values):
        raise MalformedFile(name, f"a text in it {reason}")
    return values


def parse_plan(values: Mapping[str, Any]) -> Plan:
    """The campaigns of a campaign file; raises CampaignFileError with one line for each error."""
    if LANGUAGES not in values and TRANSLATIONS not in values:
        return Plan("", [parse_config(values)])
    return Plan(str(values.get("name", "")), [*map(parse_config, _files(values))])


def parse_first(values: Mapping[str, Any]) -> CampaignConfig:
    """The first campaign of the file, for estimates and previews; raises CampaignFileError."""
    return parse_plan(values).configs[0]


def _files(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The file of each language."""
    tags, translations = _tags(values), _translations(values)
    shared = {key: value for key, value in values.items() if key not in (LANGUAGES, TRANSLATIONS)}
    name = values.get("name")
    return [
        merged(
            {
                **shared,
                "language": tag,
                **({"name": f"{name}-{tag.lower()}"} if isinstance(name, str) else {}),
            },
            translations.get(tag, {}),
        )
        for tag in tags
    ]


def _tags(values: Mapping[str, Any]) -> list[str]:
    tags = values.get(LANGUAGES)
    if not isinstance(tags, list) or len(tags) < 2:
        raise CampaignFileError(
            f'{LANGUAGES}: write a list of at least two languages, such as ["en", "de"]; for one, '
            "use language"
        )
    if "language" in values:
        raise CampaignFileError("language: a file has language or languages, and not both")
    kind = kind_of(values)
    if kind is not None and not kind.has_families:
        raise CampaignFileError(
            f"{LANGUAGES}: a file of kind {kind.name!r} makes one campaign; use language"
        )
    for tag in tags:
        try:
            checked_tag(tag)
        except (TypeError, ValueError) as error:
            raise CampaignFileError(f"{LANGUAGES}: {error}, not {short(tag)}") from error
    if len({tag.lower() for tag in tags}) < len(tags):
        raise CampaignFileError(f"{LANGUAGES}: each language can be there once")
    return tags


def _translations(values: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    translations = values.get(TRANSLATIONS, {})
    if not isinstance(translations, Mapping):
        raise CampaignFileError(f"{TRANSLATIONS}: write sections such as [translations.de.hit]")
    for tag, sections in translations.items():
        if tag not in values.get(LANGUAGES, []):
            raise CampaignFileError(f"{TRANSLATIONS}: {short(tag)} is not in {LANGUAGES}")
        if not isinstance(sections, Mapping) or any(
            name not in TRANSLATED or not isinstance(section, Mapping)
            for name, section in sections.items()
        ):
            raise CampaignFileError(
                f"{TRANSLATIONS}.{tag}: a translation has the sections {', '.join(TRANSLATED)}"
            )
    return translations
