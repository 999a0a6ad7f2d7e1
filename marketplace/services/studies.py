"""Create studies, and let participants from panels join and do them."""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _

from marketplace.errors import PasswordNeeded, StudyRefused
from marketplace.models import Assignment, HitType, Participation, Study, Worker

from . import assignments
from .accounts import SSO_SOURCE, clean_identifier, count_attempt, worker_of_identity
from .participations import progress_of

ID_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Not allowed as parameter names: the source of signed identities, which a panel must not imitate,
# and the name of the form's CSRF token.
RESERVED_PARAMETERS = {SSO_SOURCE, "csrfmiddlewaretoken"}
MOST_ASSIGNMENTS = 10_000
PROLIFIC_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


@dataclass(frozen=True)
class StudyPlan:
    """Properties of a study as the operator enters them."""

    assignments: int
    completion_code: str
    return_url: str
    id_parameter: str = "PROLIFIC_PID"
    no_work_code: str = ""
    language: str = "en"


def create_study(*, name: str, hit_type: HitType, plan: StudyPlan, at: datetime) -> Study:
    """Create a study that is open to participants; raises StudyRefused."""
    _check_plan(name, plan)
    slug = slugify(name)[:60]
    if not slug:
        raise StudyRefused(
            "The name must contain letters or digits, because the address is derived from it."
        )
    try:
        with transaction.atomic():
            return Study.objects.create(
                slug=slug, name=name, hit_type=hit_type, created_at=at, **vars(plan)
            )
    except IntegrityError as error:
        raise StudyRefused(f"There is a study at {slug!r} already. Choose another name.") from error


def _check_plan(name: str, plan: StudyPlan) -> None:
    if not _is_web_address(plan.return_url):
        raise StudyRefused("The return address must be a complete https address.")
    if not 1 <= plan.assignments <= MOST_ASSIGNMENTS:
        raise StudyRefused(f"A study needs 1 to {MOST_ASSIGNMENTS} assignments.")
    for what, text, longest in (
        ("name", name, 100),
        ("return address", plan.return_url, 1000),
        ("completion code", plan.completion_code, 100),
        ("code for participants who find no HITs", plan.no_work_code, 100),
    ):
        if len(text) > longest or not text.isprintable():
            raise StudyRefused(f"The {what} must have at most {longest} printable characters.")
    if plan.language not in dict(settings.LANGUAGES):
        raise StudyRefused(f"Choose a language of {', '.join(dict(settings.LANGUAGES))}.")
    if not plan.completion_code.strip():
        raise StudyRefused("A study needs a completion code.")
    if not ID_PARAMETER.fullmatch(plan.id_parameter) or plan.id_parameter in RESERVED_PARAMETERS:
        raise StudyRefused(
            f"The parameter with the panel's id cannot be called {plan.id_parameter!r}: use "
            "letters, digits, dots, dashes and underscores, and none of "
            f"{', '.join(sorted(RESERVED_PARAMETERS))}."
        )


def _is_web_address(text: str) -> bool:
    try:
        address = urlsplit(text)
        # `address.port` raises ValueError if the port is invalid.
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return False


def panel_url(study: Study) -> str:
    """The URL to give to the panel, with placeholders that the panel fills in."""
    if study.id_parameter == "PROLIFIC_PID":
        fields = {name: f"{{{{%{name}%}}}}" for name in PROLIFIC_PARAMETERS}
    else:
        fields = {study.id_parameter: "ID"}
    # Not URL-encoded: the panel searches for its placeholders.
    query = "&".join(f"{name}={mark}" for name, mark in fields.items())
    return f"{settings.MARKETPLACE_URL}{reverse('join', args=[study.slug])}?{query}"


def set_open(*, study: Study, is_open: bool) -> None:
    """Allow or stop new participants."""
    Study.objects.filter(pk=study.pk).update(is_open=is_open)


def join(
    *,
    study: Study,
    identifier: str,
    address: str,
    at: datetime,
    signed_in: Worker | None = None,
) -> Participation:
    """Return the participation in the study, creating it at the first visit.

    Raises StudyRefused if the study is closed to new participants, PasswordNeeded if the account
    has a password and is not signed in, and the errors of worker_of_identity.
    """
    identifier = clean_identifier(identifier)
    count_attempt(what="arrival", who=address, most=settings.ARRIVALS_PER_ADDRESS, at=at)
    if not study.is_open and not _has_joined(study, identifier):
        raise StudyRefused(_("This study is closed. Go back to the panel that sent you here."))
    worker = worker_of_identity(
        source=study.id_parameter, identifier=identifier, country="", address=address, at=at
    )
    return _participate(study, worker, signed_in, at)


@transaction.atomic
def _participate(
    study: Study, worker: Worker, signed_in: Worker | None, at: datetime
) -> Participation:
    # Lock the worker: another request may be setting a password or deleting the idle account.
    found = Worker.objects.select_for_update().filter(pk=worker.pk).first()
    if found is None:
        raise StudyRefused(_("This account has just been deleted. Follow the link again."))
    if found.password and found != signed_in:
        raise PasswordNeeded(
            _(
                "The account that belongs to this link has a password. Sign in with it, then "
                "follow the link again."
            )
        )
    return Participation.objects.get_or_create(
        study=study, worker=found, defaults={"started_at": at}
    )[0]


def _has_joined(study: Study, identifier: str) -> bool:
    return Participation.objects.filter(
        study=study,
        worker__identities__source=study.id_parameter,
        worker__identities__identifier=identifier,
    ).exists()


@transaction.atomic
def next_assignment(*, participation: Participation, at: datetime) -> Assignment | None:
    """The participant's open assignment, or a newly accepted one; None if all are done.

    Raises NothingToAccept and NotQualified.
    """
    # Lock first: if two tabs ask at once, the second gets the assignment that the first accepted.
    study, worker = participation.study, participation.worker
    Worker.objects.select_for_update().filter(pk=worker.pk).first()
    if progress_of(participation).is_complete:
        return None
    begun = worker.assignments.in_time(at).filter(hit__hit_type=study.hit_type).first()
    return begun or assignments.accept(worker=worker, hit_type=study.hit_type, at=at)
