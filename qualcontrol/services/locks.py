"""Row locks for decisions. A service takes its lock first and then reads what it decides on.

The locks do not lock the rows' keys (FOR NO KEY UPDATE), so rows that refer to a locked worker or
response can be added meanwhile. Otherwise storing a new worker's risk would wait for a decision
about the worker, and that decision might wait for the same campaign's risks.

docs/internals.md says in which order a transaction takes them.

SQLite has no row locks; there a write transaction locks the whole database.
"""

from collections.abc import Collection

from django.db.models import Q, QuerySet

from annotate.models import Response, Worker


def lock_worker(worker: Worker) -> None:
    """Lock the worker until the transaction ends; other decisions about the worker wait.

    Also locks those whose responses build on this worker's, because they are discarded with them.
    """
    lock_workers_of_rounds([worker.pk])


def lock_workers_of_rounds(workers: Collection[int]) -> None:
    """Lock these workers, and those whose responses build on theirs, all at once."""
    theirs = Response.objects.filter(worker__in=workers, round__isnull=False).values("task")
    others = Response.objects.filter(task__in=theirs, round__isnull=False).values("worker")
    lock_workers(Worker.objects.filter(Q(pk__in=workers) | Q(pk__in=others)))


def lock_workers(workers: Collection[int] | QuerySet[Worker]) -> None:
    """Lock these workers until the transaction ends, in the order of their keys, so that two
    callers do not deadlock."""
    list(Worker.objects.select_for_update(no_key=True).filter(pk__in=workers).order_by("pk"))


def locked_response(response_pk: int) -> Response:
    """Read a response, and lock it and its worker until the transaction ends, with those whose
    responses build on each other with it.

    Raises Response.DoesNotExist, for example if it was withdrawn after the caller read it.
    """
    chain = Response.objects.filter(task__responses=response_pk, round__isnull=False)
    is_theirs = Q(pk__in=Response.objects.filter(pk=response_pk).values("worker"))
    lock_workers(Worker.objects.filter(is_theirs | Q(pk__in=chain.values("worker"))))
    responses = Response.objects.select_for_update(of=("self",), no_key=True)
    return responses.select_related("task__campaign").get(pk=response_pk)
