"""Queries whose SQL is built once."""

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from annotate.models import Task
from annotate.site.prepared import Parameter, Prepared, PreparedUpdate, parameters_for
from hits.models import TaskPage
from tests.factories import NOON, CampaignFactory, TaskFactory, TaskPageFactory

pytestmark = pytest.mark.django_db


def test_a_prepared_query_gives_the_same_rows_as_its_queryset():
    def numbered(count):
        tasks = Task.objects.filter(campaign=Parameter("campaign"), number__gt=Parameter("after"))
        return tasks.select_related("image").order_by("number")[:count]

    campaign = CampaignFactory()
    tasks = TaskFactory.create_batch(4, campaign=campaign)
    TaskFactory()
    query = Prepared(numbered)

    for count, after in [(2, tasks[0]), (3, tasks[1]), (2, tasks[3]), (3, tasks[0])]:
        found = query.rows(count, campaign=campaign.pk, after=after.number)
        later = [task for task in tasks if task.number > after.number]
        assert found == later[:count]
        assert [task.image for task in found] == [task.image for task in later[:count]]


def test_a_query_is_stated_once():
    stated = []

    def known():
        stated.append(1)
        return Task.objects.filter(pk=Parameter("task")).values_list("number", flat=True)

    query, tasks = Prepared(known), TaskFactory.create_batch(3)

    with CaptureQueriesContext(connection) as queries:
        assert [query.first(task=task.pk) for task in tasks] == [task.number for task in tasks]

    assert (len(stated), len(queries)) == (1, 3)
    assert query.first(task=0) is None


def test_a_prepared_update_stores_its_values():
    def answered():
        values = parameters_for(TaskPage, "answered_at", "fields", "device")
        return TaskPage.objects.filter(pk=Parameter("page")), values

    page, other = TaskPageFactory(), TaskPageFactory()
    update = PreparedUpdate(answered)

    moved = update.run(page=page.pk, answered_at=NOON, fields={"caption-1": "A cat."}, device="")

    page.refresh_from_db()
    other.refresh_from_db()
    assert (moved, page.answered_at, page.fields) == (1, NOON, {"caption-1": "A cat."})
    assert (other.answered_at, other.fields) == (None, {})
    assert update.run(page=0, answered_at=NOON, fields={}, device="") == 0


def test_a_prepared_update_adds_to_columns():
    def fewer():
        task = Task.objects.filter(pk=Parameter("task"))
        return task, {"places_left": F("places_left") - Parameter("by")}

    task = TaskFactory(wanted=11)

    PreparedUpdate(fewer).run(task=task.pk, by=4)

    task.refresh_from_db()
    assert task.places_left == 7
