"""Row locks for decisions. A service takes its lock first and then reads what it decides on.

The locks leave the rows' keys alone (FOR NO KEY UPDATE). Rows that refer to a locked worker or
response can therefore be added at the same time: writing a new worker's standing does not wait for
a decision about that worker, which may itself wait for the standing.

SQLite has no row locks; there a transaction has the database to itself.
"""

from collections.abc import Collection

from annotate.models import Response, Worker


def lock_worker(worker: Worker) -> None:
    """Have other decisions about the worker wait until this transaction ends."""
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)


def lock_workers(workers: Collection[int]) -> None:
    """Have other decisions about these workers wait until this transaction ends. They are locked
    in the order of their keys, so that two callers do not wait for each other."""
    list(Worker.objects.select_for_update(no_key=True).filter(pk__in=workers).order_by("pk"))


def locked_response(response_pk: int) -> Response:
    """The response as it is now; other decisions about it or its worker wait until this
    transaction ends."""
    Worker.objects.select_for_update(of=("self",), no_key=True).get(responses=response_pk)
    responses = Response.objects.select_related("task__campaign")
    return responses.select_for_update(of=("self",), no_key=True).get(pk=response_pk)
