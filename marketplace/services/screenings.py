"""What a study asks before the first HIT: consent, who may take part, and a question with tries."""

import random
from datetime import datetime
from enum import StrEnum

from django.db import transaction
from django.db.models import F

from marketplace.errors import StudyRefused
from marketplace.models import Participation, Screening, Study

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
    wrong = [each for each in screening.choices if each != screening.right_choice]
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


def answer(*, participation: Participation, answer: str, at: datetime) -> None:
    """Take an answer to the question that is asked now; others change nothing."""
    if step_of(participation) == ScreeningStep.ELIGIBILITY:
        answer_eligibility(participation=participation, answer=answer, at=at)
    else:
        answer_check(participation=participation, answer=answer, at=at)


def answer_eligibility(*, participation: Participation, answer: str, at: datetime) -> None:
    """Let the participant take part, or screen them out. The first answer counts."""
    screening = screening_of(participation.study)
    if screening is None or step_of(participation) != ScreeningStep.ELIGIBILITY:
        return
    fields = {each: "eligible_at" for each in screening.eligible_choices}
    fields |= {each: "screened_out_at" for each in screening.ineligible_choices}
    if answer in fields:
        mine = Participation.objects.filter(
            pk=participation.pk, eligible_at=None, screened_out_at=None
        )
        mine.update(**{fields[answer]: at})


@transaction.atomic
def answer_check(*, participation: Participation, answer: str, at: datetime) -> bool:
    """Count an answer to the question; return whether it is right."""
    # Lock first: two answers at once are two tries.
    mine = (
        Participation.objects.select_for_update().select_related("study").get(pk=participation.pk)
    )
    screening = screening_of(mine.study)
    if screening is None or step_of(mine) != ScreeningStep.CHECK:
        return False
    if answer == screening.right_choice:
        Participation.objects.filter(pk=mine.pk).update(passed_check_at=at)
        return True
    Participation.objects.filter(pk=mine.pk).update(wrong_answers=F("wrong_answers") + 1)
    return False
