"""What time brings about, and that it comes to an end."""

from datetime import timedelta

import pytest

from marketplace.models import Hit
from marketplace.services import assignments, hits, reviews
from marketplace.services.sweep import sweep
from tests.marketplace.factories import NOON, make_hit, make_worker

pytestmark = pytest.mark.django_db


def test_a_hit_that_was_deleted_before_its_expiry_is_not_swept_for_ever():
    hit = make_hit()
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)
    reviews.approve(assignment=assignment, at=NOON)
    hits.dispose(hit=hit, at=NOON)

    assert sweep(at=NOON + timedelta(hours=2)) == 0
    # A row that was disposed of before disposal ended its expiry, too.
    Hit.objects.update(is_expired=False)
    assert sweep(at=NOON + timedelta(hours=2)) == 0
