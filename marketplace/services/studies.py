"""Studies: made by an operator, joined by people whom a panel sends."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.text import slugify

from marketplace.errors import StudyRefused
from marketplace.models import Assignment, HitType, Participation, Study, Worker

from . import assignments
from .accounts import clean_identifier, worker_of_identity
from .participations import progress_of

PROLIFIC_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


@dataclass(frozen=True)
class StudyPlan:
    """What an operator says of a study."""

    assignments: int
    completion_code: str
    return_url: str
    id_parameter: str = "PROLIFIC_PID"
    no_work_code: str = ""


def create_study(*, name: str, hit_type: HitType, plan: StudyPlan, at: datetime) -> Study:
    """Make a study that participants can join at once; raises StudyRefused."""
    address = urlsplit(plan.return_url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise StudyRefused("The return address must be a whole one, with https.")
    if plan.assignments < 1:
        raise StudyRefused("A study needs at least one assignment.")
    if not plan.completion_code.strip():
        raise StudyRefused("A study needs a completion code.")
    slug = slugify(name)[:60]
    if not slug:
        raise StudyRefused("The name needs letters or digits, since the address is made of it.")
    try:
        with transaction.atomic():
            return Study.objects.create(
                slug=slug, name=name, hit_type=hit_type, created_at=at, **vars(plan)
            )
    except IntegrityError as error:
        raise StudyRefused(f"There is a study at {slug!r} already. Choose another name.") from error


def panel_url(study: Study) -> str:
    """The address to give to the panel, with the parameters that it fills in."""
    if study.id_parameter == "PROLIFIC_PID":
        fields = {name: f"{{{{%{name}%}}}}" for name in PROLIFIC_PARAMETERS}
    else:
        fields = {study.id_parameter: "ID"}
    # Not encoded: the panel looks for its own marks.
    query = "&".join(f"{name}={mark}" for name, mark in fields.items())
    return f"{settings.MARKETPLACE_URL}{reverse('join', args=[study.slug])}?{query}"


def set_open(*, study: Study, is_open: bool) -> None:
    """Let participants join, or no more."""
    Study.objects.filter(pk=study.pk).update(is_open=is_open)


def join(*, study: Study, identifier: str, address: str, at: datetime) -> Participation:
    """The participant's part in the study, made at the first time.

    Raises StudyRefused where it is closed to newcomers, and what worker_of_identity raises.
    """
    identifier = clean_identifier(identifier)
    worker = _participant(study, identifier)
    if worker is None:
        if not study.is_open:
            raise StudyRefused("This study is closed. Go back to the site that sent you here.")
        worker = worker_of_identity(
            source=study.id_parameter, identifier=identifier, country="", address=address, at=at
        )
    return Participation.objects.get_or_create(
        study=study, worker=worker, defaults={"started_at": at}
    )[0]


def _participant(study: Study, identifier: str) -> Worker | None:
    return Worker.objects.filter(
        identities__source=study.id_parameter,
        identities__identifier=identifier,
        participations__study=study,
    ).first()


def next_assignment(*, participation: Participation, at: datetime) -> Assignment | None:
    """The assignment to go on with, accepted now if none is open; None when all are done.

    Raises NothingToAccept, NotQualified.
    """
    if progress_of(participation).is_complete:
        return None
    study, worker = participation.study, participation.worker
    begun = worker.assignments.in_time(at).filter(hit__hit_type=study.hit_type).first()
    return begun or assignments.accept(worker=worker, hit_type=study.hit_type, at=at)
