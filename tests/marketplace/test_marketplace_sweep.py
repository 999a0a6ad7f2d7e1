"""What time brings about, and that it comes to an end."""

from datetime import timedelta

import pytest

from marketplace.models import Activity, Hit
from marketplace.services import assignments, hits, reviews
from marketplace.services.activity import noted
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


def test_the_activity_log_goes_back_for_the_days_that_the_operator_wants(settings):
    settings.ACTIVITY_KEPT = timedelta(days=30)
    for days in (31, 29):
        with noted(actor="lab", action="CreateHIT", about="", at=NOON - timedelta(days=days)):
            pass

    swept = sweep(at=NOON)

    assert swept == 1
    assert Activity.objects.get().happened_at == NOON - timedelta(days=29)
