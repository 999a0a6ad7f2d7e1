"""The captions of releases for their evaluation, hidden ones included.

No page, API answer, report, log or message may show hidden captions, or a score of a single image.
`ReleasedCaption.objects` does not have them.
"""

from collections import defaultdict
from collections.abc import Iterator

from annotate.errors import DomainError
from annotate.models import Release, ReleasedCaption, Role


def captions_with_hidden(release: Release, role: Role) -> Iterator[tuple[int, str]]:
    """The image's number and the text of each caption of this role, also of hidden ones."""
    rows = ReleasedCaption.with_hidden.filter(image__release=release, role=role).order_by("pk")
    yield from rows.values_list("image__number", "text").iterator()


def references_of_release(release: Release) -> dict[int, list[str]]:
    """The references of each image by its number; raises DomainError if there are none."""
    texts: dict[int, list[str]] = defaultdict(list)
    for image, text in captions_with_hidden(release, Role.REFERENCE):
        texts[image].append(text)
    if not texts:
        raise DomainError(f"Release {release} has no captions.")
    return dict(texts)


def baseline_of_release(release: Release) -> dict[int, str]:
    """The human baseline: a caption of each image by its number."""
    return dict(captions_with_hidden(release, Role.BASELINE))
