"""Limit the calls per second of each requester, if configured.

The remaining allowance is kept in the memory of this process.
"""

import threading
import time

from django.conf import settings

from .errors import Throttled

_lock = threading.Lock()
# By access key: the remaining calls, and the time at which they were computed.
_left: dict[str, tuple[float, float]] = {}


def count_call(access_key: str) -> None:
    """Count a call; raises Throttled above the limit. One second's calls may come at once."""
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
