"""Template variables for every worker's page."""

from functools import partial
from typing import Any

from django.http import HttpRequest

from marketplace import queries
from marketplace.models import Worker

AUTO_ACCEPT_KEY = "accepts_next"


def session(request: HttpRequest) -> dict[str, Any]:
    """The participant's study, or the number of the worker's unread messages."""
    if participation := getattr(request, "participation", None):
        return {"own_study": participation.study}
    if found := getattr(request, "worker", None):
        # Not called here, so only templates that show the number run the query.
        return {"unread_messages": partial(_unread_messages, found)}
    return {}


def _unread_messages(worker: Worker) -> int:
    return sum(queries.numbers_of_unread_messages(worker=worker.pk))
