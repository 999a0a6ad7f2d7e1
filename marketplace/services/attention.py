"""Attention checks between the HITs of a study."""

from collections.abc import Sequence
from datetime import datetime

from marketplace.errors import StudyRefused
from marketplace.models import AttentionAnswer, AttentionCheck, Participation, Study

LEAST_CHOICES = 2


def set_checks(*, study: Study, checks: Sequence[AttentionCheck]) -> None:
    """Store a new study's attention checks, spread over its HITs; raises StudyRefused."""
    if len(checks) >= study.assignments:
        raise StudyRefused("A study needs more HITs than attention checks.")
    for number, each in enumerate(checks, start=1):
        if len(set(each.choices)) < LEAST_CHOICES or each.right_choice not in each.choices:
            raise StudyRefused("An attention check needs at least two different answers.")
        each.study = study
        each.after = number * study.assignments // (len(checks) + 1)
    AttentionCheck.objects.bulk_create(checks)


def due_check(participation: Participation, *, done: int) -> AttentionCheck | None:
    """The check that comes before the participant's next HIT."""
    answered = participation.attention_answers.values("check_asked")
    checks = participation.study.attention_checks.filter(after__lte=done)
    return checks.exclude(pk__in=answered).order_by("after").first()


def answer(*, participation: Participation, check: AttentionCheck, text: str, at: datetime) -> None:
    """Store the answer; a second one to the same check changes nothing."""
    AttentionAnswer.objects.get_or_create(
        check_asked=check,
        participation=participation,
        defaults={"is_right": text == check.right_choice, "answered_at": at},
    )
