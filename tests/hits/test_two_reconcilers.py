"""Two reconcilers of one campaign at once, as `publish` beside `sync --watch`."""

import pytest

from hits.models import Hit, HitStatus
from hits.steps.ingest import adopt
from tests.factories import NOON, HitFactory

pytestmark = pytest.mark.django_db


def test_a_hit_that_another_reconciler_made_meanwhile_is_known_as_it_is():
    HitFactory(status=HitStatus.PLANNED, hit_id=None, available=0)
    seen_before = Hit.objects.get()
    adopt(Hit.objects.get(), "HIT1", NOON)

    adopt(seen_before, "HIT1", NOON)

    assert (seen_before.status, seen_before.hit_id) == (HitStatus.OPEN, "HIT1")
    # What is noted of it next is written over its row, and must fit.
    seen_before.save()
    assert Hit.objects.get().status == HitStatus.OPEN
