"""Releases that wait for quality control's open questions."""

from collections import Counter
from dataclasses import asdict
from functools import partial
from typing import Any

from django.db.models import Count

from annotate.models import Campaign, ResponseStatus
from annotate.queries.progress import progress
from annotate.services import releases
from corpora.wording import counted
from qualcontrol.models import Proposal, SpotCheck, Verdict
from qualcontrol.queries.methods import methods_text
from qualcontrol.queries.quality_report import estimate_of
from qualcontrol.services.exclusions import count_unwelcome


def open_questions(campaign: Campaign) -> list[str]:
    """What quality control has to decide before a release, one sentence for each sort of
    question."""
    checks = SpotCheck.objects.of(campaign)
    of_kept = checks.exclude(response__status=ResponseStatus.DISCARDED).order_by()
    unsettled = of_kept.filter(verdict__in=["", Verdict.BAD]).values_list("verdict")
    number_of = Counter(dict(unsettled.annotate(Count("pk"))))
    disputed = checks.half_judged().count()
    matters = [
        (
            number_of[""] - disputed,
            "required check is not done",
            "required checks are not done",
        ),
        (
            disputed,
            "response needs another reviewer's judgement",
            "responses need another reviewer's judgement",
        ),
        (
            Proposal.objects.open().filter(campaign=campaign).count(),
            "worker is proposed for exclusion and needs a decision",
            "workers are proposed for exclusion and need a decision",
        ),
        (
            count_unwelcome(campaign),
            "response of an excluded worker is not discarded yet",
            "responses of excluded workers are not discarded yet",
        ),
        (
            number_of[Verdict.BAD],
            "response that is judged bad still counts",
            "responses that are judged bad still count",
        ),
    ]
    return [counted(number, one, many) for number, one, many in matters if number]


def estimate(campaign: Campaign) -> dict[str, Any] | None:
    """The estimated share of bad responses with its 95% interval, from 0 to 1, and the number of
    random `checks`; None without checks."""
    found = estimate_of(campaign, progress(campaign).submitted)
    return asdict(found) if found.checks else None


# Freezes a release. Unless it is `partial`, raises ReleaseRefused with what is missing. The open
# questions are read in the same snapshot as the responses.
release_campaign = partial(
    releases.freeze, open_questions=open_questions, methods=methods_text, estimate=estimate
)
