"""The lists of workers and decisions: filters, order, pages, files."""

import csv
import re
from io import StringIO

import pytest

from qualcontrol.models import Act, Decision, WorkerState
from qualcontrol.queries.decision_log import found_decisions
from qualcontrol.queries.workers import WORKER_COLUMNS, listed_workers, worker_summaries
from qualcontrol.services.exclusions import exclude_worker, pause_worker, propose_exclusion
from tests.factories import NOON, ResponseFactory, UserFactory

pytestmark = pytest.mark.django_db


def rows_of(answer):
    return list(csv.DictReader(StringIO(b"".join(answer.streaming_content).decode())))


@pytest.fixture
def workers(campaign):
    found = [ResponseFactory(task__campaign=campaign).worker for _ in range(4)]
    by_policy = {"campaign": campaign, "reason": "lists", "at": NOON}
    exclude_worker(worker=found[0], actor=None, **by_policy)
    pause_worker(worker=found[1], actor=None, **by_policy)
    propose_exclusion(worker=found[1], **by_policy)
    pause_worker(worker=found[2], actor=None, **by_policy)
    return found


@pytest.mark.parametrize("state", WorkerState)
def test_workers_are_found_by_the_state_that_the_list_shows(campaign, workers, state):
    found = listed_workers(campaign).filter(state=state)

    summaries = worker_summaries(campaign, [worker.pk for worker in workers])
    assert {worker.pseudonym for worker in found} == {
        one.pseudonym for one in summaries if one.state == state
    }


@pytest.mark.usefixtures("reviewer")
def test_workers_are_searched_sorted_and_downloaded(client, campaign, workers):
    name = workers[3].pseudonym

    page = client.get("/review/pilot/workers/", {"worker": name[2:].lower(), "sort": "worker"})
    rows = rows_of(client.get("/review/pilot/workers/", {"sort": "worker", "format": "csv"}))
    odd = client.get("/review/pilot/workers/", {"sort": "x", "page": "99", "state": "odd"})

    assert [one.pseudonym for one in page.context["workers"]] == [name]
    assert [row["pseudonym"] for row in rows] == sorted(worker.pseudonym for worker in workers)
    assert odd.status_code == 200


@pytest.mark.usefixtures("reviewer")
def test_the_list_of_workers_takes_the_same_queries(
    client, campaign, django_assert_max_num_queries
):
    for _ in range(30):
        ResponseFactory(task__campaign=campaign)

    with django_assert_max_num_queries(11):
        client.get("/review/pilot/workers/")


def test_decisions_are_found_by_act_worker_actor_reason_and_day(campaign):
    ada = UserFactory(username="ada")
    response = ResponseFactory(task__campaign=campaign)
    other = ResponseFactory(task__campaign=campaign)
    about_response = Decision.objects.create(
        campaign=campaign, act=Act.DISCARD, response=response, reason="lists", actor=ada, at=NOON
    )
    about_worker = Decision.objects.create(
        campaign=campaign, act=Act.PAUSE, worker=response.worker, reason="odd hours", at=NOON
    )
    Decision.objects.create(campaign=campaign, act=Act.PAUSE, worker=other.worker, at=NOON)

    def found(**wanted):
        return set(found_decisions(campaign, wanted))

    assert found(worker=response.worker.pseudonym) == {about_response, about_worker}
    assert found(act=Act.DISCARD) == {about_response}
    assert found(actor="ada") == {about_response}
    assert about_worker in found(actor="campaign")
    assert found(reason="ODD") == {about_worker}
    assert len(found(since=NOON.date(), until=NOON.date())) == 3
    assert not found(until=NOON.date().replace(year=2000))


@pytest.mark.parametrize(
    ("act", "reason", "name"),
    [
        (Act.APPEAL, "vague", "worker"),
        (Act.JUDGE_BAD, "vague", "command"),
        (Act.EXCLUDE, "vague", "campaign"),
        (Act.DISCARD, "what it builds on was discarded", "campaign"),
        (Act.DISCARD, "withdrawn", "worker"),
        (Act.DISCARD, "judged by file: a list", "command"),
    ],
)
def test_the_log_names_who_decided_where_nobody_signed_in(campaign, act, reason, name):
    response = ResponseFactory(task__campaign=campaign)
    decision = Decision.objects.create(
        campaign=campaign, act=act, response=response, reason=reason, at=NOON
    )

    assert decision.decided_by == name
    for actor in ("worker", "command", "campaign"):
        found = found_decisions(campaign, {"actor": actor})
        assert list(found) == [decision] * (actor == name)


@pytest.mark.usefixtures("reviewer")
def test_decisions_are_downloaded_without_formulas(client, campaign):
    worker = ResponseFactory(task__campaign=campaign).worker
    Decision.objects.create(
        campaign=campaign, act=Act.PAUSE, worker=worker, reason="=HYPERLINK(1)", at=NOON
    )

    [row] = rows_of(client.get("/review/pilot/decisions/", {"format": "csv", "act": "PAUSE"}))

    assert (row["worker"], row["reason"]) == (worker.pseudonym, "'=HYPERLINK(1)")


@pytest.mark.usefixtures("reviewer", "workers")
def test_the_page_and_the_file_have_the_columns_that_are_declared(client):
    page = client.get("/review/pilot/workers/").content.decode()
    rows = rows_of(client.get("/review/pilot/workers/", {"format": "csv"}))

    assert list(rows[0]) == [column.key for column in WORKER_COLUMNS]
    assert {column.sort or column.key for column in WORKER_COLUMNS if column.order} == set(
        re.findall(r'href="\?sort=(\w+)"', page)
    )
    assert all(
        column.heading.format(answers="Captions", estimated="Estimated bad") in page
        for column in WORKER_COLUMNS
    )
