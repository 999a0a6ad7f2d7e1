"""Row locks for decisions. A service takes its lock first and then reads what it decides on.

The locks do not lock the rows' keys (FOR NO KEY UPDATE), so rows that refer to a locked worker or
response can be added meanwhile. Otherwise storing a new worker's risk would wait for a decision
about the worker, and that decision might wait for the same campaign's risks.

docs/architecture.md says in which order a transaction takes them.

SQLite has no row locks; there a write transaction locks the whole database.
"""

from collections.abc import Collection

from annotate.models import Response, Worker


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
    workers = Worker.objects.select_for_update(of=("self",), no_key=True)
    list(workers.filter(responses=response_pk))
    responses = Response.objects.select_for_update(of=("self",), no_key=True)
    return responses.select_related("task__campaign").get(pk=response_pk)
