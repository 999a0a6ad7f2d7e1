"""Responses of releases that were withdrawn after the release was made."""

from collections import Counter
from collections.abc import Collection

from django.db.models import Q

from annotate.models import Release, ReleasedAnswer, ReleasedCaption

# Keys in one statement.
BATCH = 500


def withdrawn_in(release: Release) -> int:
    """The number of the release's responses that have been withdrawn, also of hidden images."""
    return _numbers(Q(image__release=release))[release.name]


def releases_with(responses: Collection[int]) -> dict[str, int]:
    """How many of these withdrawn responses each release has, by the release's name."""
    found: Counter[str] = Counter()
    keys = sorted(responses)
    for start in range(0, len(keys), BATCH):
        found += _numbers(Q(response__in=keys[start : start + BATCH]))
    return dict(sorted(found.items()))


def _numbers(which: Q) -> Counter[str]:
    """The numbers of withdrawn responses by the name of their release."""
    gone = which & Q(response__withdrawn_at__isnull=False)
    columns = ("image__release__name", "response")
    captions = ReleasedCaption.with_hidden.filter(gone).order_by().values_list(*columns)
    answers = ReleasedAnswer.objects.filter(gone).order_by().values_list(*columns)
    return Counter(name for name, _ in {*captions, *answers})
