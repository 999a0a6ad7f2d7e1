"""The language of a page: that of the study or the group that it belongs to.

Workers with an account of their own see English, as do operators and requesters.
"""

from contextlib import AbstractContextManager

from django.db.models import F
from django.http import HttpRequest
from django.utils import translation

from marketplace.models import Membership, Participation, Worker

from .sessions import scope_of

ENGLISH = "en"


def language_of(worker: Worker | None, participation: Participation | None) -> str:
    """The participant's study decides, or the group that a member joined last and has not left."""
    if participation is not None:
        return participation.study.language
    if worker is None or not worker.is_member:
        return ENGLISH
    latest_first = F("withdrawn_at").desc(nulls_first=True), "-pk"
    joined = Membership.objects.filter(worker=worker).order_by(*latest_first)
    return joined.values_list("group__language", flat=True).first() or ENGLISH


def in_language_of(
    worker: Worker | None, participation: Participation | None = None
) -> AbstractContextManager[None]:
    """Texts within the block are in this person's language."""
    return translation.override(language_of(worker, participation))


def in_language_of_session(request: HttpRequest) -> AbstractContextManager[None]:
    """Texts within the block are in the language of whoever has sent the request."""
    # A request that was refused early has no session yet.
    scope = scope_of(request) if hasattr(request, "worker") else None
    if scope is None:
        return translation.override(ENGLISH)
    return in_language_of(scope.worker, scope.participation)
