"""Prepared queries find and change the same rows as the querysets that they are written as."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F

from marketplace.models import Assignment, Hit, Worker
from shared.prepared import insert, prepared, prepared_update
from tests.marketplace.factories import make_hit, make_worker

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


@prepared
def workers_named(name: Any) -> Any:
    return Worker.objects.filter(name=name)


@prepared
def latest_hits(count: int, **older: Any) -> Any:
    """The latest HITs, or those `before` a key."""
    hits = Hit.objects.filter(pk__lt=older["before"]) if older else Hit.objects.all()
    return hits.order_by("-pk")[:count]


@prepared
def numbers_of_approved(worker: Any) -> Any:
    return Worker.objects.filter(pk=worker).values_list("approved_count", flat=True)


@prepared
def works_of(worker: Any) -> Any:
    """Columns of several tables, an annotation, and an order by a column that is not read."""
    rows = Assignment.objects.filter(worker=worker).annotate(reward=F("hit__hit_type__reward"))
    return rows.order_by("-accepted_at").distinct().values("public_id", "reward", "hit__public_id")


@prepared
def rewards_of(worker: Any) -> Any:
    rows = Assignment.objects.filter(worker=worker).annotate(reward=F("hit__hit_type__reward"))
    return rows.order_by("pk").values_list("reward", "hit__hit_type__created_at")


@prepared
def assignments_of(worker: Any) -> Any:
    rows = Assignment.objects.filter(worker=worker).annotate(reward=F("hit__hit_type__reward"))
    return rows.select_related("hit__hit_type__notification_setting", "worker").order_by("pk")


@prepared
def hits_since(at: Any) -> Any:
    return Hit.objects.filter(created_at__gte=at).select_related("hit_type").order_by("-pk")[:2]


@prepared_update
def count_approved(worker: Any, number: Any) -> Any:
    rows = Worker.objects.filter(pk=worker)
    return rows, {"approved_count": F("approved_count") + 1, "rejected_count": number}


def test_each_call_has_its_own_values():
    first, second = make_worker(), make_worker()

    assert workers_named(name=first.name) == [first]
    assert workers_named(name=second.name) == [second]
    assert workers_named(name="nobody") == []


def test_values_are_as_flat_as_in_the_queryset():
    worker = make_worker(approved=7)

    assert numbers_of_approved(worker=worker.pk) == [7]


def test_rows_are_what_the_queryset_makes_of_them(django_assert_num_queries):
    worker = make_worker()
    for hours in range(3):
        at = NOON + timedelta(hours=hours)
        insert(Assignment(hit=make_hit(), worker=worker, accepted_at=at, deadline=LATER))

    for query in (works_of, rewards_of, assignments_of):
        expected = list(query.__wrapped__(worker=worker.pk))
        with django_assert_num_queries(1):
            found = query(worker=worker.pk)
            assert found == expected
            assert [type(each) for each in found] == [type(each) for each in expected]
    # The last ones are models, with what was read beside them.
    for ours, djangos in zip(found, expected, strict=True):
        assert vars(ours).keys() == vars(djangos).keys()
        assert ours.reward == djangos.reward
        assert vars(ours.hit.hit_type).keys() == vars(djangos.hit.hit_type).keys()
        assert ours.hit.hit_type.reward == djangos.hit.hit_type.reward


def test_related_rows_are_read_in_the_same_statement(django_assert_num_queries):
    hits = [make_hit() for _ in range(3)]

    with django_assert_num_queries(1):
        found = hits_since(at=hits[0].created_at)
        assert [each.hit_type for each in found] == [hits[2].hit_type, hits[1].hit_type]


def test_arguments_without_a_name_and_the_names_of_values_are_part_of_the_statement():
    hits = [make_hit() for _ in range(4)]
    newest = hits[::-1]

    for _ in range(2):
        assert latest_hits(2) == newest[:2]
        assert latest_hits(3) == newest[:3]
        assert latest_hits(2, before=newest[0].pk) == newest[1:3]


def test_a_statement_is_compiled_once():
    written = []

    @prepared
    def named(name: Any) -> Any:
        written.append(name)
        return Worker.objects.filter(name=name)

    for name in ("first", "second", "third"):
        named(name=name)

    assert len(written) == 1


def test_a_change_answers_with_the_number_of_rows():
    worker = make_worker()

    for number in (3, 5):
        assert count_approved(worker=worker.pk, number=number) == 1
    assert count_approved(worker=worker.pk + 1, number=3) == 0

    before = worker.approved_count
    worker.refresh_from_db()
    assert (worker.approved_count - before, worker.rejected_count) == (2, 5)


def test_none_is_refused():
    """`= NULL` finds nothing."""
    workers_named(name="nobody")

    with pytest.raises(ValueError, match="name must not be None"):
        workers_named(name=None)


@pytest.mark.django_db(transaction=True)
def test_each_thread_uses_its_own_connection():
    worker = make_worker()
    workers_named(name=worker.name)

    def find(_number: int) -> list[Worker]:
        try:
            return workers_named(name=worker.name)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(find, range(20))) == [[worker]] * 20


def test_insert_adds_the_row_that_save_would_add():
    worker, hit = make_worker(), make_hit()
    saved = Assignment(hit=hit, worker=worker, accepted_at=NOON, deadline=LATER, answer="é %s")
    inserted = Assignment(
        hit=hit, worker=make_worker(), accepted_at=NOON, deadline=LATER, answer="é %s"
    )

    saved.save()
    insert(inserted)

    stored = Assignment.objects.get(pk=inserted.pk)
    own = {"id", "worker_id", "public_id"}
    values = [
        {name: value for name, value in vars(each).items() if name not in {*own, "_state"}}
        for each in (stored, Assignment.objects.get(pk=saved.pk))
    ]
    assert values[0] == values[1]
    assert stored.public_id == inserted.public_id != saved.public_id
    assert not inserted._state.adding


def test_several_rows_are_added_by_one_statement(django_assert_num_queries):
    hit = make_hit()
    rows = [
        Assignment(hit=hit, worker=make_worker(), accepted_at=NOON, deadline=LATER, answer=answer)
        for answer in ("first", "second")
    ]

    with django_assert_num_queries(1):
        insert(*rows)

    stored = Assignment.objects.in_bulk([each.pk for each in rows])
    assert [stored[each.pk].public_id for each in rows] == [each.public_id for each in rows]
    assert [stored[each.pk].answer for each in rows] == ["first", "second"]


def test_an_inserted_row_that_breaks_a_rule_ends_the_transaction():
    hit, worker = make_hit(), make_worker()
    insert(Assignment(hit=hit, worker=worker, accepted_at=NOON, deadline=LATER))

    with pytest.raises(IntegrityError), transaction.atomic():
        insert(Assignment(hit=hit, worker=worker, accepted_at=NOON, deadline=LATER))

    assert hit.assignments.count() == 1
