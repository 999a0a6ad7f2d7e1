"""Limit the calls per second of each requester, if configured.

The remaining allowance is in the database, so that the limit holds for all processes together.
"""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from marketplace.models import CallAllowance, Requester

from .errors import Throttled


def count_call(requester: Requester, *, at: datetime) -> None:
    """Count a call; raises Throttled above the limit. One second's calls may come at once."""
    rate = settings.MTURK_CALLS_PER_SECOND
    if rate and not _take(requester, rate, at):
        raise Throttled("Rate exceeded")


@transaction.atomic
def _take(requester: Requester, rate: float, at: datetime) -> bool:
    most = max(rate, 1)
    CallAllowance.objects.get_or_create(
        requester=requester, defaults={"remaining": most, "counted_at": at}
    )
    allowance = CallAllowance.objects.select_for_update().get(requester=requester)
    # Clocks of several machines may differ a little.
    passed = max((at - allowance.counted_at).total_seconds(), 0)
    remaining = min(most, allowance.remaining + passed * rate)
    is_allowed = remaining >= 1
    CallAllowance.objects.filter(pk=allowance.pk).update(
        remaining=remaining - 1 if is_allowed else remaining,
        counted_at=max(at, allowance.counted_at),
    )
    return is_allowed
