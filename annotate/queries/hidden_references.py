"""The captions of releases for their evaluation, hidden ones included.

No page, API answer, report, log or message may show hidden captions, or a score of a single image.
`ReleasedCaption.objects` does not have them.
"""

from collections import defaultdict
from collections.abc import Iterator

from annotate.errors import DomainError
from annotate.models import Release, ReleasedCaption, Role


def language_in(release: Release, wanted: str | None) -> str:
    """The language of a release of several that somebody wants; empty for other releases.

    Raises DomainError if the release does not have it, or if none is named and there are several.
    """
    if not release.languages:
        if wanted:
            raise DomainError("A release knows its language. --language is for captions files.")
        return ""
    known = ", ".join(release.languages)
    if wanted is None:
        raise DomainError(f"{release} has captions in {known}; choose one with --language.")
    if wanted not in release.languages:
        raise DomainError(f"{release} has no captions in {wanted}, but in {known}.")
    return wanted


def captions_with_hidden(
    release: Release, role: Role, language: str = ""
) -> Iterator[tuple[int, str]]:
    """The image's number and the text of each caption of this role, also of hidden ones.

    A release of several languages has captions of a `language` only.
    """
    rows = ReleasedCaption.with_hidden.filter(image__release=release, role=role, language=language)
    rows = rows.order_by("pk")
    yield from rows.values_list("image__number", "text").iterator()


def references_of_release(release: Release, language: str = "") -> dict[int, list[str]]:
    """The references of each image by its number; raises DomainError if there are none."""
    texts: dict[int, list[str]] = defaultdict(list)
    for image, text in captions_with_hidden(release, Role.REFERENCE, language):
        texts[image].append(text)
    if not texts:
        raise DomainError(f"Release {release} has no captions.")
    return dict(texts)


def baseline_of_release(release: Release, language: str = "") -> dict[int, str]:
    """The human baseline: a caption of each image by its number."""
    return dict(captions_with_hidden(release, Role.BASELINE, language))
