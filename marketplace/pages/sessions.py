"""Sessions with their scope and language, and what the templates of all pages know of them.

A signed-in worker may use the whole site. A participant sent by a panel has proved nothing: the
panel id is part of a URL that anybody can write. Their session contains a participation and no
worker. Pages that need a worker refuse it, and the others show only what belongs to the study.

A page is in the language of the study or the group that it belongs to. Workers with their own
account see English, as do operators and requesters.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.middleware.csrf import rotate_token
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from marketplace import clock
from marketplace.models import Assignment, Membership, Participation, Worker
from marketplace.services.links import member_of

WORKER_KEY = "worker_id"
PARTICIPATION_KEY = "participation_id"
SIGN_IN_NUMBER_KEY = "sign_in_number"


@dataclass(frozen=True)
class Scope:
    """The data that a session may access: all of a worker's, or those of one study."""

    worker: Worker
    participation: Participation | None = None

    def owns(self, assignment: Assignment) -> bool:
        """Whether the assignment is the worker's, or one of the study."""
        if self.participation is not None:
            return self.participation.assignments().filter(pk=assignment.pk).exists()
        return assignment.worker_id == self.worker.pk

    @property
    def participations(self) -> QuerySet[Participation]:
        mine = self.worker.participations.all()
        return mine if self.participation is None else mine.filter(pk=self.participation.pk)


def begin_session(request: HttpRequest, worker: Worker) -> None:
    """Start a session of the worker; an existing session ends."""
    _begin(request, worker)
    request.session[WORKER_KEY] = worker.pk


def begin_study_session(request: HttpRequest, participation: Participation) -> None:
    """Start a session limited to one study; an existing session ends."""
    _begin(request, participation.worker)
    request.session[PARTICIPATION_KEY] = participation.pk
    request.session.set_expiry(settings.STUDY_SESSION_AGE)


def _begin(request: HttpRequest, worker: Worker) -> None:
    # A new session key and CSRF token prevent session fixation.
    request.session.flush()
    rotate_token(request)
    request.session[SIGN_IN_NUMBER_KEY] = worker.sign_in_number


def worker_of(request: HttpRequest) -> Worker | None:
    """The signed-in worker, or None, also for participants."""
    pk, number = _signed_in(request)
    return Worker.objects.filter(pk=pk, sign_in_number=number).first() if pk else None


def recognise(request: HttpRequest, worker: Worker) -> bool:
    """Whether this worker is signed in. If so, `request.worker` need not be read again."""
    is_signed_in = _signed_in(request) == (worker.pk, worker.sign_in_number)
    if is_signed_in:
        request.worker = worker  # type: ignore[attr-defined]
    return is_signed_in


def _signed_in(request: HttpRequest) -> tuple[int | None, int]:
    """The key of the session's worker, if any, and the number of the sign-in."""
    return request.session.get(WORKER_KEY), request.session.get(SIGN_IN_NUMBER_KEY, 0)


def participation_of(request: HttpRequest) -> Participation | None:
    """The session's participation, or None; also None once the account has a password."""
    pk = request.session.get(PARTICIPATION_KEY)
    if not pk:
        return None
    number = request.session.get(SIGN_IN_NUMBER_KEY, 0)
    participations = Participation.objects.filter(
        pk=pk, worker__sign_in_number=number, worker__password=""
    )
    return participations.select_related("study__hit_type__requester", "worker").first()


def scope_of(request: HttpRequest) -> Scope | None:
    """The scope of the session, or None without one."""
    if worker := request.worker:  # type: ignore[attr-defined]
        return Scope(worker)
    if participation := request.participation:  # type: ignore[attr-defined]
        return Scope(participation.worker, participation)
    return None


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
    if worker := getattr(request, "worker", None):
        # Not called here, so only templates that show them run the queries.
        return {
            "home": home_of(worker),
            "unread_messages": worker.messages.filter(read_at=None).count,
            "is_lost_without_session": partial(is_lost_without_session, worker),
        }
    return {"home": Home(reverse("groups"), "Start page")}


def is_lost_without_session(worker: Worker) -> bool:
    """Whether the person joined a group, and has neither a password nor a mail's link."""
    if not worker.is_member or worker.password:
        return False
    return not any(
        member_of(invitation, at=clock.now()) for invitation in worker.mail_invitations.all()
    )


def home_of(worker: Worker) -> Home:
    """The worker's first page, in the words of the pages that the worker sees."""
    if worker.is_member:
        return Home(reverse("people_home"), _("Your tasks"))
    return Home(reverse("groups"), "All HITs")


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
    """Texts within the block are in the language of the request's sender."""
    # A request that was refused early has no session yet.
    scope = scope_of(request) if hasattr(request, "worker") else None
    if scope is None:
        return translation.override(ENGLISH)
    return in_language_of(scope.worker, scope.participation)
