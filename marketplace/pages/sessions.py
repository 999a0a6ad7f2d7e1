"""Sessions and their scope.

A signed-in worker may use the whole site. A participant sent by a panel has proved nothing: the
panel id is part of a URL that anybody can write. Their session contains a participation and no
worker. Pages that need a worker refuse it, and the others show only what belongs to the study.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.middleware.csrf import rotate_token

from marketplace import queries
from marketplace.models import Assignment, Participation, Worker

WORKER_KEY = "worker_id"
PARTICIPATION_KEY = "participation_id"
SIGN_IN_NUMBER_KEY = "sign_in_number"


@dataclass(frozen=True)
class Scope:
    """The data that a session may access: all of a worker's, or those of one study."""

    worker: Worker
    participation: Participation | None = None

    @property
    def assignments(self) -> QuerySet[Assignment]:
        if self.participation is not None:
            return self.participation.assignments()
        return self.worker.assignments.all()

    def owns(self, assignment: Assignment) -> bool:
        """Whether the assignment is among `assignments`."""
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
    found = queries.workers_signed_in(worker=pk, number=number) if pk else []
    return found[0] if found else None


def recognise(request: HttpRequest, worker: Worker) -> bool:
    """Whether this worker is signed in. If so, `request.worker` need not be read any more."""
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
    found = Participation.objects.filter(pk=pk, worker__sign_in_number=number, worker__password="")
    return found.select_related("study__hit_type__requester", "worker").first()


def scope_of(request: HttpRequest) -> Scope | None:
    """The scope of the session, or None without one."""
    if worker := request.worker:  # type: ignore[attr-defined]
        return Scope(worker)
    if participation := request.participation:  # type: ignore[attr-defined]
        return Scope(participation.worker, participation)
    return None
