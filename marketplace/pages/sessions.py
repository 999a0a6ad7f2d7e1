"""Who a session belongs to, and how far it reaches.

A worker who signed in may use the whole site. Somebody whom a panel sent has proved nothing: a
panel id is part of an address that anybody can write. Their session holds one participation and
no worker, so pages that need a worker do not open, and the others find what belongs to the study.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.middleware.csrf import rotate_token

from marketplace.models import Assignment, Participation, Worker

WORKER_KEY = "worker_id"
PARTICIPATION_KEY = "participation_id"
SIGN_IN_NUMBER_KEY = "sign_in_number"


@dataclass(frozen=True)
class Scope:
    """What a session may see and do: all that is a worker's, or what belongs to one study."""

    worker: Worker
    participation: Participation | None = None

    @property
    def assignments(self) -> QuerySet[Assignment]:
        if self.participation is not None:
            return self.participation.assignments()
        return self.worker.assignments.all()

    @property
    def participations(self) -> QuerySet[Participation]:
        mine = self.worker.participations.all()
        return mine if self.participation is None else mine.filter(pk=self.participation.pk)


def begin_session(request: HttpRequest, worker: Worker) -> None:
    """Begin the worker's session, and end whatever session was there before."""
    _begin(request, worker)
    request.session[WORKER_KEY] = worker.pk


def begin_study_session(request: HttpRequest, participation: Participation) -> None:
    """Begin a session that reaches one study, and end whatever session was there before."""
    _begin(request, participation.worker)
    request.session[PARTICIPATION_KEY] = participation.pk
    request.session.set_expiry(settings.STUDY_SESSION_AGE)


def _begin(request: HttpRequest, worker: Worker) -> None:
    # A fresh key and a fresh form token: what somebody planted before is of no use.
    request.session.flush()
    rotate_token(request)
    request.session[SIGN_IN_NUMBER_KEY] = worker.sign_in_number


def worker_of(request: HttpRequest) -> Worker | None:
    """The worker who signed in; None for strangers, and for people whom a panel sent."""
    pk = request.session.get(WORKER_KEY)
    number = request.session.get(SIGN_IN_NUMBER_KEY, 0)
    return Worker.objects.filter(pk=pk, sign_in_number=number).first() if pk else None


def participation_of(request: HttpRequest) -> Participation | None:
    """The participation that the session is for; None once its account has a password."""
    pk = request.session.get(PARTICIPATION_KEY)
    if not pk:
        return None
    number = request.session.get(SIGN_IN_NUMBER_KEY, 0)
    found = Participation.objects.filter(pk=pk, worker__sign_in_number=number, worker__password="")
    return found.select_related("study__hit_type__requester", "worker").first()


def scope_of(request: HttpRequest) -> Scope | None:
    """How far the session reaches; None for a stranger."""
    if worker := request.worker:  # type: ignore[attr-defined]
        return Scope(worker)
    if participation := request.participation:  # type: ignore[attr-defined]
        return Scope(participation.worker, participation)
    return None
