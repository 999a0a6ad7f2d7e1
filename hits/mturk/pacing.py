"""The pace of calls to a marketplace, which all processes and machines share.

A marketplace limits the calls of an account, however many processes make them. With a pace, each
call takes the next turn from a row of the database, and waits until then. If the marketplace
throttles a call nevertheless, nobody calls for a while, which doubles each time.
"""

import time
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from hits.models import CallPace

FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=1), timedelta(minutes=1)
NO_PAUSE = timedelta()


class Pace:
    """Turns for the calls of this process among those of all processes."""

    def __init__(
        self, endpoint: str, *, per_second: float, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.endpoint = endpoint
        self.between = timedelta(seconds=1 / per_second)
        self.sleep = sleep
        self.is_after_pause = False

    def wait(self) -> None:
        """Take the next turn and wait for it."""
        with transaction.atomic():
            row = self._locked()
            now = timezone.now()
            turn = max(now, row.next_at)
            CallPace.objects.filter(pk=row.pk).update(next_at=turn + self.between)
        self.is_after_pause = row.pause > NO_PAUSE
        self.sleep((turn - now).total_seconds())

    def note_throttled(self) -> None:
        """Let nobody call for a while, twice as long as after the last throttled call."""
        with transaction.atomic():
            row = self._locked()
            pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * row.pause))
            next_at = max(row.next_at, timezone.now() + pause)
            CallPace.objects.filter(pk=row.pk).update(next_at=next_at, pause=pause)

    def note_answered(self) -> None:
        """Forget the pause before this call, because the marketplace answers again."""
        if self.is_after_pause:
            CallPace.objects.filter(endpoint=self.endpoint).update(pause=NO_PAUSE)

    def _locked(self) -> CallPace:
        CallPace.objects.get_or_create(endpoint=self.endpoint, defaults={"next_at": timezone.now()})
        return CallPace.objects.select_for_update().get(endpoint=self.endpoint)
