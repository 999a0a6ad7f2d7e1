"""What the frame of every worker's page shows."""

from typing import Any

from django.http import HttpRequest

AUTO_ACCEPT_KEY = "accepts_next"


def session(request: HttpRequest) -> dict[str, Any]:
    """The study that a participant is here for, or how many of a worker's messages are new."""
    if participation := getattr(request, "participation", None):
        return {"own_study": participation.study}
    if found := getattr(request, "worker", None):
        # Called by the template that shows it, and by no other.
        return {"unread_messages": found.messages.filter(read_at=None).count}
    return {}
