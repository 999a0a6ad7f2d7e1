"""Submissions of several HITs that are stored in one transaction."""

import pytest

from annotate.models import Response, Worker
from hits.models import Assignment, Hit, TaskPage
from hits.reconcile import reading
from hits.reconcile.ingest import ingest
from hits.reconcile.reconciler import reconcile
from hits.services.submissions import Reported, take_submissions
from tests.factories import NOON, HitFactory, HitTypeFactory, make_campaign
from tests.hits.framed_work import published, work
from tests.hits.opened_pages import SENTENCES, form_fields, listed, open_page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hits():
    """Two HITs of one campaign."""
    hit_type = HitTypeFactory(campaign=make_campaign(tasks=9, references=3))
    return [HitFactory(hit_type=hit_type, hit_id=f"HIT{n}", slots=3, available=3) for n in range(2)]


def caption_field(page):
    return next(name for name in form_fields(page) if name.startswith("caption-"))


def take(*reported):
    return take_submissions(campaign=reported[0].hit.campaign, reported=reported, at=NOON)


def test_a_worker_submits_in_two_hits_at_once(client, hits):
    fields = [caption_field(open_page(client, hit, f"A{hit.hit_id}", "AWORKER1")) for hit in hits]

    rows = take(
        *(
            Reported(hit, listed(f"A{hit.hit_id}", "AWORKER1", **{field: sentence}))
            for hit, field, sentence in zip(hits, fields, SENTENCES, strict=False)
        )
    )

    assert [(row.hit, is_new) for row, is_new in rows] == [(hit, True) for hit in hits]
    assert Worker.objects.count() == 1
    assert sorted(Response.objects.values_list("assessment__position", flat=True)) == [1, 2]
    assert not TaskPage.objects.exists()


def test_the_same_answer_of_a_worker_in_two_hits_makes_one_response(hits):
    field = f"caption-{hits[0].campaign.tasks.first().number}"

    take(
        *(
            Reported(hit, listed(f"A{hit.hit_id}", "AWORKER1", **{field: SENTENCES[0]}))
            for hit in hits
        )
    )

    assert Assignment.objects.count() == 2
    response = Response.objects.get()
    assert response.task.answers_missing == response.task.wanted - 1


def test_a_page_that_names_an_assignment_of_another_hit_is_left_alone(client, hits):
    own = caption_field(open_page(client, hits[0], "AOWN", "AWORKER1"))
    forged = caption_field(open_page(client, hits[1], "AOWN", "AWORKER1"))
    other = caption_field(open_page(client, hits[1], "AOTHER", "AWORKER2"))
    assert len({own, forged, other}) == 3

    take(
        Reported(hits[0], listed("AOWN", "AWORKER1", **{own: SENTENCES[0]})),
        Reported(hits[1], listed("AOTHER", "AWORKER2", **{other: SENTENCES[1]})),
    )

    assert TaskPage.objects.get().hit == hits[1]
    assert Response.objects.count() == 2


@pytest.mark.parametrize("most", [1, 2, 100])
def test_hits_are_read_in_lots_of_any_size(client, marketplace, requester, monkeypatch, most):
    monkeypatch.setattr(reading, "MOST_TOGETHER", most)
    campaign = published(tasks=3)
    worker = marketplace.fresh_workers(1)[0]
    for number in range(3):
        work(client, worker, campaign, number)

    done = reconcile(campaign, steps=(ingest,))
    again = reconcile(campaign, steps=(ingest,))

    assert (done.error, done.ingested, again.ingested) == ("", 3, 0)
    assert Response.objects.of(campaign).count() == 3
    assert set(Hit.objects.values_list("ingested", "pending", "available")) == {(1, 0, 2)}
