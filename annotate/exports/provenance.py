"""How the data of a release were collected, and what a release of an earlier version lacks."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from annotate.exports.tables import Extra
from annotate.models import Release

# Keys of the campaign file that say how the data came about, with their names for people.
KEYS = {
    "kind": "task type",
    "preset": "preset",
    "language": "language of the captions",
    "references": "references for each image",
    "baselines": "human baselines for each image",
    "responses": "responses to each task",
    "priming": "priming with keywords",
    "captions": "rules for captions",
    "workers": "requirements for workers",
    "hit.title": "title of the HITs",
    "hit.reward": "reward of a HIT in US dollars",
    "hit.images": "tasks in a HIT",
    "review": "review",
}


def collection_of(release: Release) -> list[tuple[str, Any]]:
    """Names and values of what the release records about its campaign; empty if nothing."""
    return list(_collection(release, release.context)) if release.context else []


def _collection(release: Release, context: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, name in KEYS.items():
        value: Any = context["campaign_file"]
        for part in key.split("."):
            value = value.get(part) if value else None
        if key == "language" and release.languages:
            value = release.languages
        if value is not None:
            yield name, _words(value)
    for key, name in {"selection": "selection of images", "caption_set": "caption set"}.items():
        if context[key]:
            yield name, _words(context[key])
    yield "table of domains", _words(context["domains"])
    yield "version of the software", context["software_version"]


def _words(value: Any) -> Any:
    if isinstance(value, Mapping):
        # Not every database keeps the order of a JSON object's keys.
        return ", ".join(f"{key} {_words(each)}" for key, each in sorted(value.items()))
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return value


def missing_of(release: Release, extras: Collection[Extra]) -> list[str]:
    """A sentence part for each thing that a release of an earlier version did not keep."""
    found = []
    if release.images.filter(details__isnull=True).exists():
        found.append("authors, titles, source pages, datasets and splits of the images")
        found.append("boxes of the images")
        if Extra.KEYWORDS in extras:
            found.append("keywords, and whether workers saw them")
    if release.context is None:
        found.append("how the data were collected: campaign file, selection, software version")
        if Extra.SECONDS in extras:
            found.append("seconds that workers spent")
    return found
