"""How the data of a release were collected, and the licences of its images."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from annotate.characters import in_words
from annotate.models import Release
from corpora.wording import counted

CREATIVE_COMMONS = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)(?:/(\d\.\d))?",
    re.IGNORECASE,
)
DEDICATIONS = {"zero": "CC0", "mark": "Public Domain Mark", "publicdomain": "Public Domain"}
# Further licences of COCO's images, as COCO's files name them.
OTHERS = {
    "flickr.com/commons/usage": "No known copyright restrictions",
    "www.usa.gov/copyright.shtml": "United States Government Work",
}
UNKNOWN_LICENCES = "The licences of the images are not known."
# Identifiers of licences in dataset cards; others are called `other` there.
IDENTIFIERS = {
    "cc0-1.0",
    *("cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0"),
    *("cc-by-sa-3.0", "cc-by-sa-4.0"),
    *("cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0"),
    *("cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0"),
    *("cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
}


class Licence(NamedTuple):
    """A licence's URL, its name, and its identifier in dataset cards."""

    url: str
    name: str
    identifier: str


def licence(url: str) -> Licence:
    """The licence at a URL; an unknown one has its URL as name."""
    name = license_name(url)
    identifier = name.lower().replace(" ", "-")
    return Licence(url, name, identifier if identifier in IDENTIFIERS else "other")


def license_name(url: str) -> str:
    """`CC BY 2.0`, `CC0 1.0` and the like; the URL if the licence is not known."""
    if match := CREATIVE_COMMONS.match(url):
        code, version = match[1].lower(), match[2] or ""
        return f"{DEDICATIONS.get(code) or f'CC {code.upper()}'} {version}".strip()
    return OTHERS.get(url.split("://")[-1].strip("/"), url)


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
# What workers were shown.
MATERIAL = {
    "selection": "selection of images",
    "caption_set": "caption set",
    "rated_captions": "captions that were rated",
}
# Those of KEYS that say nothing about responses that were collected elsewhere.
OF_WORK_HERE = {"preset", "priming", "captions", "workers", "hit.title", "hit.reward", "hit.images"}


def imports_of(release: Release) -> list[dict[str, Any]]:
    """The files that responses of the release were imported from, in the order of their numbers:
    `file`, `sha256`, `at`, and the number of `responses`."""
    imports: list[dict[str, Any]] = release.context["imports"]
    return imports


def import_keys(release: Release) -> dict[int | None, dict[str, str]]:
    """The exported facts about an imported caption, by its `import_number`."""
    keys: dict[int | None, dict[str, str]] = {
        number: {"imported_from": file["file"], "imported_at": file["at"]}
        for number, file in enumerate(imports_of(release), start=1)
    }
    return keys | {None: {}}


def has_work_here(release: Release) -> bool:
    """Whether any of the responses was collected here."""
    return bool(release.context.get("collected", 1) > 0)


def about_release(release: Release, usual: str, answers: str) -> str:
    """A sentence about the release: the usual one, unless responses were collected elsewhere."""
    imports = imports_of(release)
    if not imports:
        return usual
    return (
        f"{answers.capitalize()} of images: {sum(file['responses'] for file in imports):,} were "
        f"collected elsewhere and imported, {release.context['collected']:,} were collected here."
    )


def quality_of(release: Release) -> Iterator[tuple[str, str]]:
    """How the texts of the release came, and what spot checks say of its campaigns."""
    if writing := release.context.get("writing"):
        yield "how the texts came, by characters", in_words(writing["ways"])
    for estimate in release.context.get("spot_checks", ()):
        interval = f"95% interval {estimate['low']:.1%} to {estimate['high']:.1%}"
        said = (
            f"{estimate['share']:.1%} ({interval}, {counted(estimate['checks'], 'random check')})"
        )
        yield f"share of bad responses by spot checks, {estimate['language']}", said


def collection_of(release: Release) -> Iterator[tuple[str, Any]]:
    """Names and values of what the release records about its campaign."""
    context = release.context
    hidden = () if has_work_here(release) else OF_WORK_HERE
    for key, name in KEYS.items():
        if key in hidden:
            continue
        value: Any = context["campaign_file"]
        for part in key.split("."):
            value = value.get(part) if value else None
        if key == "language" and release.languages:
            value = release.languages
        if value is not None:
            yield name, _words(value)
    for key, name in MATERIAL.items():
        if context[key]:
            yield name, _words(context[key])
    yield from quality_of(release)
    yield "table of domains", _words(context["domains"])
    yield "version of the software", context["software_version"]


def _words(value: Any) -> Any:
    if isinstance(value, Mapping):
        # Not every database keeps the order of a JSON object's keys.
        return ", ".join(f"{key} {_words(part)}" for key, part in sorted(value.items()))
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return value
