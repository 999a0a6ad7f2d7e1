"""The invariants hold for what the product does, and are broken by what it never does."""

import json

import pytest

from annotate.models import ReleasedCaption, Worker
from benchmarks.invariants import broken
from corpora.datasets.collected import Columns
from hits.models import Assignment
from hits.services.collected import import_collected
from hits.services.worker_data import erase_worker
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.releasing import release_campaign
from tests.databases import rows
from tests.factories import (
    NOON,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    WorkerFactory,
    make_campaign,
)
from tests.hits.opened_pages import listed
from tests.qualcontrol.work import judge, write
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


def test_a_release_with_what_an_excluded_worker_wrote_before_the_first_bad_one_breaks_none():
    review = {"share": 0, "first": 0, "policy": "propose", "discard": "since_first_bad"}
    file = {"references": 1, "baselines": 0, "review": review}
    campaign, worker = CampaignFactory(config=file), WorkerFactory()
    kept, bad = write(campaign, worker, 2)
    judge(bad, "BAD")
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    release_campaign(campaign=campaign, name="v1", seed=1, at=NOON, partial=True)

    assert ReleasedCaption.objects.get().response == kept
    assert not [line for line in broken(rows) if line.startswith("2")]


@pytest.mark.parametrize("verdicts", [[], ["BAD", "GOOD"]])
def test_a_release_with_what_an_exclusion_discards_breaks_one(verdicts):
    review = {"share": 0, "first": 0, "policy": "propose", "discard": "since_first_bad"}
    file = {"references": 1, "baselines": 0, "review": review}
    campaign, worker = CampaignFactory(config=file), WorkerFactory()
    responses = write(campaign, worker, 2)
    release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    for response, verdict in zip(responses, verdicts, strict=False):
        judge(response, verdict)

    campaign.exclusions.create(worker=worker, reason="lists", excluded_at=NOON)

    assert any("who was not excluded" in line for line in broken(rows))
