"""Row locks for decisions. A service takes its lock first and then reads what it decides on.

The locks do not lock the rows' keys (FOR NO KEY UPDATE), so rows that refer to a locked worker or
response can be added meanwhile. Otherwise storing a new worker's risk would wait for a decision
about the worker, and that decision might wait for the same campaign's risks.

SQLite has no row locks; there a write transaction locks the whole database.
"""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet

from annotate.models import Response, Worker
from shared.prepared import prepared


def lock_worker(worker: Worker) -> None:
    """Lock the worker until the transaction ends; other decisions about the worker wait."""
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)


def lock_workers(workers: Collection[int]) -> None:
    """Lock these workers until the transaction ends, in the order of their keys, so that two
    callers do not deadlock."""
    list(Worker.objects.select_for_update(no_key=True).filter(pk__in=workers).order_by("pk"))


def locked_response(response_pk: int) -> Response:
    """Read a response, and lock it and its worker until the transaction ends.

    Raises Response.DoesNotExist, for example if it was withdrawn after the caller read it.
    """
    _locked_workers_of(response=response_pk)
    locked = _locked_responses(response=response_pk)
    if not locked:
        raise Response.DoesNotExist(f"There is no response {response_pk}.")
    return locked[0]


@prepared
def _locked_workers_of(response: Any) -> QuerySet[Worker]:
    locked = Worker.objects.select_for_update(of=("self",), no_key=True)
    return locked.filter(responses=response)


@prepared
def _locked_responses(response: Any) -> QuerySet[Response]:
    locked = Response.objects.select_for_update(of=("self",), no_key=True)
    return locked.filter(pk=response).select_related("task__campaign")
