"""Template variables for every worker's page."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from marketplace import queries
from marketplace.models import Worker

AUTO_ACCEPT_KEY = "accepts_next"


@dataclass(frozen=True)
class Home:
    """The page that a link back leads to, and the link's text."""

    url: str
    label: str


def session(request: HttpRequest) -> dict[str, Any]:
    """Where a link back leads, and the participant's study or the number of unread messages."""
    if participation := getattr(request, "participation", None):
        study = participation.study
        return {"own_study": study, "home": Home(study.get_absolute_url(), _("Back to your study"))}
    if found := getattr(request, "worker", None):
        # Not called here, so only templates that show the number run the query.
        return {"home": home_of(found), "unread_messages": partial(_unread_messages, found)}
    return {"home": Home(reverse("groups"), "Start page")}


def home_of(worker: Worker) -> Home:
    """The worker's first page, in the words of the pages that the worker sees."""
    if worker.is_member:
        return Home(reverse("people_home"), _("Your tasks"))
    return Home(reverse("groups"), "All HITs")


def _unread_messages(worker: Worker) -> int:
    return sum(queries.numbers_of_unread_messages(worker=worker.pk))
