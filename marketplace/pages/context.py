"""What the frame of every worker's page shows."""

from typing import Any

from django.http import HttpRequest

STUDY_KEY = "study"
AUTO_ACCEPT_KEY = "accepts_next"


def worker(request: HttpRequest) -> dict[str, Any]:
    """The study that a participant is here for, and how many messages are new."""
    found = getattr(request, "worker", None)
    if not found:
        return {}
    return {
        "study_slug": request.session.get(STUDY_KEY, ""),
        # Called by the template that shows it, and by no other.
        "unread_messages": found.messages.filter(read_at=None).count,
    }
