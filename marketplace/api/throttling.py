"""So many calls a second for each requester, where that is wanted.

What is left of a requester's allowance lives in this process's memory.
"""

import threading
import time

from django.conf import settings

from .errors import Throttled

_lock = threading.Lock()
# By access key: what was left, and when that was.
_left: dict[str, tuple[float, float]] = {}


def count_call(access_key: str) -> None:
    """Count one call; raises Throttled for one too many. A second's worth may come at once."""
    rate = settings.MTURK_CALLS_PER_SECOND
    if not rate:
        return
    now, most = time.monotonic(), max(rate, 1)
    with _lock:
        left, since = _left.get(access_key, (most, now))
        left = min(most, left + (now - since) * rate)
        is_allowed = left >= 1
        _left[access_key] = (left - 1 if is_allowed else left, now)
    if not is_allowed:
        raise Throttled("Rate exceeded")
