"""A campaign file for several languages: one campaign for each, over the same images."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from annotate.campaign_file import CampaignConfig
from annotate.kinds.reading import CampaignFileError, kind_of, merged, parse_config
from corpora.language.languages import checked_tag
from corpora.reading.files import open_text, short
from corpora.reading.toml_files import parse_toml

LANGUAGES, TRANSLATIONS = "languages", "translations"
# What may differ between the languages.
TRANSLATED = ("hit", "captions", "instructions")


class Plan(NamedTuple):
    """The campaigns of a file. `family` is empty if the file is of one campaign."""

    family: str
    configs: list[CampaignConfig]


def read_plan(path: Path) -> Plan:
    """The campaigns of the file at `path`; raises MalformedFile and CampaignFileError."""
    with open_text(path) as text:
        return parse_plan(parse_toml(str(path), text.read()))


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
    found = values.get(TRANSLATIONS, {})
    if not isinstance(found, Mapping):
        raise CampaignFileError(f"{TRANSLATIONS}: write sections such as [translations.de.hit]")
    for tag, sections in found.items():
        if tag not in values.get(LANGUAGES, []):
            raise CampaignFileError(f"{TRANSLATIONS}: {short(tag)} is not in {LANGUAGES}")
        if not isinstance(sections, Mapping) or any(
            name not in TRANSLATED or not isinstance(section, Mapping)
            for name, section in sections.items()
        ):
            raise CampaignFileError(
                f"{TRANSLATIONS}.{tag}: a translation has the sections {', '.join(TRANSLATED)}"
            )
    return found
