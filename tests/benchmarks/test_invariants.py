"""The invariants hold for what the product does, and are broken by what it never does."""

import json

import pytest

from annotate.models import Worker
from benchmarks.invariants import broken
from corpora.datasets.collected import Columns
from hits.models import Assignment
from hits.services.collected import import_collected
from hits.services.worker_data import erase_worker
from tests.databases import rows
from tests.factories import NOON, HitFactory, HitTypeFactory, make_campaign
from tests.hits.opened_pages import listed
from tests.submitted import take_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return make_campaign(tasks=1)


def test_erasures_and_imports_break_no_invariant(campaign, tmp_path):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    take_submission(campaign=campaign, hit=hit, listed=listed("A1", "AWORKER1"), at=NOON)
    Assignment.objects.update(status="REJECTED", decided_at=NOON)
    erase_worker(worker=Worker.objects.get(), by=None, at=NOON)
    path = tmp_path / "captions.jsonl"
    image = campaign.tasks.get().image.key
    path.write_text(json.dumps({"image": image, "worker": "A2", "caption": "A dog runs."}))
    import_collected(campaign=campaign, path=path, columns=Columns(), at=NOON)

    assert broken(rows) == []


def test_an_answer_that_is_lost_and_a_worker_who_did_nothing_break_two(campaign):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    take_submission(campaign=campaign, hit=hit, listed=listed("A1", "AWORKER1"), at=NOON)
    Assignment.objects.update(unplaced_answer="")
    Worker.objects.create()

    assert [line.partition(".")[0] for line in broken(rows)] == ["6", "8"]
