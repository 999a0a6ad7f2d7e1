"""Studies: create them, let participants from panels join and do them, and ask what a study asks:
consent, who may take part and a question with tries before the first HIT, attention checks later.
"""

import random
import re
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _

from marketplace.errors import PasswordNeeded, StudyRefused
from marketplace.models import (
    Assignment,
    AttentionAnswer,
    AttentionCheck,
    Participation,
    Screening,
    Study,
    Worker,
)
from marketplace.services import assignments
from marketplace.services.accounts import (
    SSO_SOURCE,
    clean_identifier,
    count_attempt,
    worker_of_identity,
)
from marketplace.services.assignments import progress_of
from shared.environment import is_url

ID_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# Not allowed as parameter names: the source of signed identities, which a panel must not imitate,
# and the name of the form's CSRF token.
RESERVED_PARAMETERS = {SSO_SOURCE, "csrfmiddlewaretoken"}
MOST_ASSIGNMENTS = 10_000
PROLIFIC_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


def create_study(*, study: Study, at: datetime) -> Study:
    """Store a new study, which is open to participants; raises StudyRefused."""
    _check(study)
    study.slug, study.created_at = slugify(study.name)[:60], at
    if not study.slug:
        raise StudyRefused(
            "The name must contain letters or digits, because the address is derived from it."
        )
    try:
        with transaction.atomic():
            study.save(force_insert=True)
    except IntegrityError as error:
        raise StudyRefused(
            f"There is a study at {study.slug!r} already. Choose another name."
        ) from error
    return study


def _check(study: Study) -> None:
    if not is_url(study.return_url, "http", "https"):
        raise StudyRefused("The return address must be a complete https address.")
    if not 1 <= study.assignments <= MOST_ASSIGNMENTS:
        raise StudyRefused(f"A study needs 1 to {MOST_ASSIGNMENTS} assignments.")
    for what, text, longest in (
        ("name", study.name, 100),
        ("return address", study.return_url, 1000),
        ("completion code", study.completion_code, 100),
        ("code for participants who find no HITs", study.no_work_code, 100),
    ):
        if len(text) > longest or not text.isprintable():
            raise StudyRefused(f"The {what} must have at most {longest} printable characters.")
    if study.language not in dict(settings.LANGUAGES):
        raise StudyRefused(f"Choose a language of {', '.join(dict(settings.LANGUAGES))}.")
    if not study.completion_code.strip() or study.completion_code == study.no_work_code:
        raise StudyRefused(
            "A study needs a completion code, and another one for participants who find no HITs."
        )
    if not ID_PARAMETER.fullmatch(study.id_parameter) or study.id_parameter in RESERVED_PARAMETERS:
        raise StudyRefused(
            f"The parameter with the panel's id cannot be called {study.id_parameter!r}: use "
            "letters, digits, dots, dashes and underscores, and none of "
            f"{', '.join(sorted(RESERVED_PARAMETERS))}."
        )


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
    locked = Worker.objects.select_for_update().filter(pk=worker.pk).first()
    if locked is None or locked.erased_at is not None:
        raise StudyRefused(_("This account has just been deleted. Follow the link again."))
    if locked.password and locked != signed_in:
        raise PasswordNeeded(
            _(
                "The account that belongs to this link has a password. Sign in with it, then "
                "follow the link again."
            )
        )
    return Participation.objects.get_or_create(
        study=study, worker=locked, defaults={"started_at": at}
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

    Raises NothingToAccept and NotQualified, and StudyRefused once the participant has joined
    another study of the same HITs, for which a new assignment would count.
    """
    # Lock first: if two tabs ask at once, the second gets the assignment that the first accepted.
    study, worker = participation.study, participation.worker
    Worker.objects.select_for_update().filter(pk=worker.pk).first()
    if progress_of(participation).is_complete:
        return None
    begun = participation.assignments().in_time(at).first()
    if begun is None and participation.later().exists():
        raise StudyRefused(_("You have joined another study with the same tasks. Go on there."))
    return begun or assignments.accept(worker=worker, hit_type=study.hit_type, at=at)


# What is asked before the first HIT


TRIES = 2
LEAST_CHOICES = 2


class ScreeningStep(StrEnum):
    CONSENT = "consent"
    ELIGIBILITY = "eligibility"
    SCREENED_OUT = "screened out"
    CHECK = "check"
    REFUSED = "refused"
    FAILED = "failed"
    DONE = "done"


def set_screening(*, study: Study, screening: Screening) -> None:
    """Store a new study's screening; raises StudyRefused."""
    wrong = [choice for choice in screening.choices if choice != screening.right_choice]
    if screening.question and (
        len(set(screening.choices)) < LEAST_CHOICES or len(wrong) == len(screening.choices)
    ):
        raise StudyRefused("Enter at least two different answers. The first one is right.")
    _check_eligibility(screening)
    if screening.consent and not screening.no_consent_code:
        raise StudyRefused("Enter a code for participants who do not consent.")
    if screening.question and not screening.failed_check_code:
        raise StudyRefused("Enter a code for participants who fail the question.")
    codes = [
        study.completion_code,
        study.no_work_code,
        screening.no_consent_code,
        screening.failed_check_code,
        screening.screened_out_code,
    ]
    used = [code for code in codes if code]
    if len(set(used)) < len(used):
        raise StudyRefused("Each code must be another one.")
    screening.study = study
    screening.save(force_insert=True)


def _check_eligibility(screening: Screening) -> None:
    if not screening.eligibility_question:
        return
    let_in, out = set(screening.eligible_choices), set(screening.ineligible_choices)
    if not let_in or not out or let_in & out:
        raise StudyRefused(
            "Enter at least one answer that lets a participant take part, and another that "
            "screens one out."
        )
    if not screening.screened_out_code:
        raise StudyRefused("Enter a code for participants who are screened out.")


def step_of(participation: Participation) -> ScreeningStep:
    """What the participant has to do next; DONE in a study without a screening."""
    screening = screening_of(participation.study)
    if screening is None:
        return ScreeningStep.DONE
    if participation.refused_consent_at is not None:
        return ScreeningStep.REFUSED
    if screening.consent and participation.consented_at is None:
        return ScreeningStep.CONSENT
    if screening.eligibility_question and participation.eligible_at is None:
        is_out = participation.screened_out_at is not None
        return ScreeningStep.SCREENED_OUT if is_out else ScreeningStep.ELIGIBILITY
    if not screening.question or participation.passed_check_at is not None:
        return ScreeningStep.DONE
    return ScreeningStep.FAILED if participation.wrong_answers >= TRIES else ScreeningStep.CHECK


def screening_of(study: Study) -> Screening | None:
    return Screening.objects.filter(study=study).first()


def question_for(participation: Participation, screening: Screening) -> tuple[str, list[str]]:
    """The question that is asked now, and its answers in an order of the participant's own."""
    if step_of(participation) == ScreeningStep.ELIGIBILITY:
        choices = [*screening.eligible_choices, *screening.ineligible_choices]
        return screening.eligibility_question, shuffled(participation, choices)
    return screening.question, shuffled(participation, screening.choices)


def shuffled(participation: Participation, choices: list[str]) -> list[str]:
    """The answers in an order that is the same at each visit."""
    return random.Random(participation.pk).sample(choices, len(choices))


def consent(*, participation: Participation, agrees: bool, at: datetime) -> None:
    """Store the first answer to the question for consent; later ones change nothing."""
    mine = Participation.objects.filter(
        pk=participation.pk, consented_at=None, refused_consent_at=None
    )
    mine.update(**{"consented_at" if agrees else "refused_consent_at": at})


@transaction.atomic
def answer(*, participation: Participation, answer: str, at: datetime) -> None:
    """Take an answer to the question that is asked now; others change nothing. The first answer on
    who may take part counts, and each wrong one on the instructions."""
    step = step_of(participation)
    # Lock, then decide: two answers at once are two tries, and neither is one to another question.
    mine = (
        Participation.objects.select_for_update().select_related("study").get(pk=participation.pk)
    )
    screening = screening_of(mine.study)
    if screening is None or step_of(mine) != step:
        return
    if step == ScreeningStep.ELIGIBILITY and answer in screening.eligible_choices:
        mine.eligible_at = at
    elif step == ScreeningStep.ELIGIBILITY and answer in screening.ineligible_choices:
        mine.screened_out_at = at
    elif step == ScreeningStep.CHECK and answer == screening.right_choice:
        mine.passed_check_at = at
    elif step == ScreeningStep.CHECK:
        mine.wrong_answers += 1
    mine.save()


# Attention checks between HITs


def set_checks(*, study: Study, checks: Sequence[AttentionCheck]) -> None:
    """Store a new study's attention checks, spread over its HITs; raises StudyRefused."""
    if len(checks) >= study.assignments:
        raise StudyRefused("A study needs more HITs than attention checks.")
    for number, check in enumerate(checks, start=1):
        if len(set(check.choices)) < LEAST_CHOICES or check.right_choice not in check.choices:
            raise StudyRefused("An attention check needs at least two different answers.")
        check.study = study
        check.after = number * study.assignments // (len(checks) + 1)
    AttentionCheck.objects.bulk_create(checks)


def ask_nothing(*, study: Study) -> None:
    """Delete the screening and the attention checks of a study that nobody has joined."""
    Screening.objects.filter(study=study).delete()
    study.attention_checks.all().delete()


def due_check(participation: Participation, *, done: int) -> AttentionCheck | None:
    """The check that comes before the participant's next HIT."""
    answered = participation.attention_answers.values("check_asked")
    checks = participation.study.attention_checks.filter(after__lte=done)
    return checks.exclude(pk__in=answered).order_by("after").first()


def answer_attention_check(
    *, participation: Participation, check: AttentionCheck, text: str, at: datetime
) -> None:
    """Store the answer; a second one to the same check changes nothing."""
    AttentionAnswer.objects.get_or_create(
        check_asked=check,
        participation=participation,
        defaults={"is_right": text == check.right_choice, "answered_at": at},
    )
