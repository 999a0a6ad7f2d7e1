"""Template variables for every worker's page."""

from typing import Any

from django.http import HttpRequest

AUTO_ACCEPT_KEY = "accepts_next"


def session(request: HttpRequest) -> dict[str, Any]:
    """The participant's study, or the number of the worker's unread messages."""
    if participation := getattr(request, "participation", None):
        return {"own_study": participation.study}
    if found := getattr(request, "worker", None):
        # Not called here, so only templates that show the number run the query.
        return {"unread_messages": found.messages.filter(read_at=None).count}
    return {}
