"""Find a campaign's images and responses by word, class, worker, status and flag.

Both lists follow the numbers of the campaign's tasks, so that the database reads them from an index
and stops at the end of a page, in campaigns of any size.
"""

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet, Value

from annotate.kinds import KINDS, TaskKind
from annotate.models import Box, Campaign, ObjectClass, Response, ResponseStatus, Task
from annotate.models.responses import ResponseQuerySet
from annotate.queries.words import if_few
from qualcontrol.flags.flag import FLAG_LABELS
from qualcontrol.models import Assessment, SpotCheck, Verdict

# The order of the two lists.
TASKS_IN_ORDER = ("number",)
RESPONSES_IN_ORDER = ("task__number", "pk")

COUNTING, DISCARDED = "counting", "discarded"
OPEN, GOOD, BAD, UNCHECKED = "open", "good", "bad", "unchecked"
STATUSES = {
    COUNTING: "counts",
    DISCARDED: "discarded",
    OPEN: "to be reviewed",
    GOOD: "judged good",
    BAD: "judged bad",
    UNCHECKED: "not judged",
}
COMPLETE, INCOMPLETE, EMPTY = "complete", "incomplete", "empty"
ANY_FLAG = "any"


def codes_of(kind: TaskKind) -> list[str]:
    """The codes of all flags that answers to such a task may have."""
    return sorted({*FLAG_LABELS, *kind.flags})


class HasCode(Func):
    """Whether a list of codes has this one, in the form of the index `assessment_codes`
    (PostgreSQL only)."""

    template = "(string_to_array(%(expressions)s])"
    arg_joiner = ", ' ') @> ARRAY["
    output_field = BooleanField()


def found_responses(campaign: Campaign, wanted: Mapping[str, Any]) -> ResponseQuerySet:
    """The campaign's responses for which all of `wanted` holds: `words`, `class`, `worker` (a
    pseudonym), `status` (of STATUSES), and `flag` (a code, or ANY_FLAG)."""
    rows, is_narrow = _filtered(campaign, wanted)
    # By the campaign's tasks, because their numbers give the order.
    in_order = rows.filter(task__campaign=campaign)
    if is_narrow or not any(wanted.values()):
        return in_order
    # If few are found, the database looks up just these, instead of all responses in their order.
    few = if_few(rows.of(campaign).values_list("pk", flat=True))
    return in_order if few is None else Response.objects.filter(pk__in=few)


def _filtered(campaign: Campaign, wanted: Mapping[str, Any]) -> tuple[ResponseQuerySet, bool]:
    """The responses for which `wanted` holds, if they are of the campaign; and whether they are
    those of few tasks, by a class."""
    rows, is_narrow = Response.objects.all(), False
    if words := wanted.get("words"):
        rows = KINDS[campaign.kind].with_words(rows, campaign, words)
    if name := wanted.get("class"):
        having = campaign.tasks.filter(_has_class(name, "image"))
        # By number, in whose order the responses are read.
        few = if_few(having.values_list("number", flat=True))
        is_narrow = few is not None
        in_class = _has_class(name, "task__image") if few is None else Q(task__number__in=few)
        rows = rows.filter(in_class)
    if pseudonym := wanted.get("worker"):
        rows = rows.filter(worker__pseudonym=pseudonym)
    if status := wanted.get("status"):
        rows = _with_status(rows, campaign, status)
    if code := wanted.get("flag"):
        rows = with_flag(rows, campaign, code)
    return rows, is_narrow


def found_tasks(campaign: Campaign, wanted: Mapping[str, Any]) -> QuerySet[Task]:
    """The campaign's tasks for which all of `wanted` holds: `image` (the beginning of its id),
    `class`, and `state` (COMPLETE, INCOMPLETE, EMPTY or DISCARDED)."""
    rows = campaign.tasks.all()
    if key := wanted.get("image"):
        rows = rows.filter(image__key__startswith=key)
    if name := wanted.get("class"):
        rows = rows.filter(_has_class(name, "image"))
    state = wanted.get("state")
    if state == COMPLETE:
        rows = rows.filter(answers_missing__lte=0)
    elif state == INCOMPLETE:
        rows = rows.filter(answers_missing__gt=0)
    elif state == EMPTY:
        rows = rows.filter(answers_missing=F("wanted"))
    elif state == DISCARDED:
        gone = Response.objects.filter(task=OuterRef("pk"), status=ResponseStatus.DISCARDED)
        rows = rows.filter(Exists(gone))
    return rows


def _has_class(name: str, image: str) -> Exists:
    # Named by their keys, so that the database knows how many boxes they have.
    classes = ObjectClass.objects.filter(name__iexact=name).values_list("pk", flat=True)
    return Exists(Box.objects.filter(image=OuterRef(image), object_class__in=list(classes)))


def _with_status(rows: ResponseQuerySet, campaign: Campaign, status: str) -> ResponseQuerySet:
    if status == COUNTING:
        return rows.counting()
    if status == DISCARDED:
        return rows.filter(status=ResponseStatus.DISCARDED)
    checks = SpotCheck.objects.of(campaign)
    if status == UNCHECKED:
        return rows.filter(~Exists(checks.exclude(verdict="").filter(response=OuterRef("pk"))))
    verdict = {OPEN: "", GOOD: Verdict.GOOD, BAD: Verdict.BAD}[status]
    matching = checks.open() if status == OPEN else checks.filter(verdict=verdict)
    few = if_few(matching.order_by().values_list("response_id", flat=True))
    if few is not None:
        return rows.filter(pk__in=few)
    has_verdict = Exists(checks.filter(verdict=verdict, response=OuterRef("pk")))
    return (rows.counting() if status == OPEN else rows).filter(has_verdict)


def with_flag(rows: ResponseQuerySet, campaign: Campaign, code: str) -> ResponseQuerySet:
    """Those of the campaign's responses that have the flag with this code, or any flag
    (ANY_FLAG)."""
    flagged = Assessment.objects.filter(response=OuterRef("pk"))
    if code == ANY_FLAG:
        return rows.filter(Exists(flagged.exclude(codes="")))
    if connection.vendor == "postgresql":
        has_code = HasCode(F("codes"), Value(code))
        theirs = Assessment.objects.filter(has_code, campaign=campaign)
        few = if_few(theirs.values_list("pk", flat=True))
        return rows.filter(Exists(flagged.filter(has_code)) if few is None else Q(pk__in=few))
    whole = Q(codes=code) | Q(codes__startswith=f"{code} ") | Q(codes__endswith=f" {code}")
    return rows.filter(Exists(flagged.filter(whole | Q(codes__contains=f" {code} "))))
