"""HITs that the marketplace lists as they are stored, which need no statements of their own.

Most HITs of a large campaign do not change between two listings.
"""

from collections.abc import Iterable

from django.utils import timezone

from hits.models import Assignment, Hit, TaskPage
from hits.mturk.replies import ListedHit, ListedStatus
from hits.reconcile.reading import listed_values
from hits.reconcile.run import Run
from hits.services.counts import numbers_by_hit


class Stored:
    """The numbers of a campaign's stored assignments and open pages, by HIT, before a listing."""

    def __init__(self, run: Run) -> None:
        self.named = run.named
        self.assignments = numbers_by_hit(Assignment.objects.of(run.campaign).not_lost())
        self.pages = numbers_by_hit(TaskPage.objects.of(run.campaign).filter(opened_at__lt=run.at))

    def is_as_listed(self, hit: Hit, listed: ListedHit) -> bool:
        """Return whether reading the HIT would change neither it nor its assignments and pages.

        If the stored rows change during the listing, the next listing shows the difference.
        """
        stored = self.assignments.get(hit.pk, 0)
        counts = (hit.ingested, stored, hit.settled, hit.slots)
        theirs = (listed.submitted, listed.submitted, listed.completed, listed.max_assignments)
        if counts != theirs or listed.status == ListedStatus.DISPOSED:
            return False
        if hit.hit_id in self.named or hit.listed_at is None or hit.unread_since is not None:
            return False
        values = listed_values(hit, listed, unread=0)
        is_equal = all(getattr(hit, name) == value for name, value in values.items())
        return is_equal and self.pages.get(hit.pk, 0) <= hit.pending


def note_listed_again(keys: Iterable[int]) -> None:
    """Record that the marketplace has listed these HITs now."""
    Hit.objects.filter(pk__in=list(keys)).update(listed_at=timezone.now())
