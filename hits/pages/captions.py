"""Pages of a campaign's images and of the answers about them."""

from operator import itemgetter

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.pages.lists import FilterForm, choice, csv_file, search, stretch_of, wants_csv
from annotate.images.files import original_url
from annotate.kinds import KINDS, TaskKind
from annotate.lookups import campaign_of
from annotate.models import Campaign, Response, Task
from annotate.queries.images import drawn_boxes
from annotate.queries.keywords import keywords_with_language
from hits.queries.stories import stories
from qualcontrol.flags.flag import label_of
from qualcontrol.queries.finding import (
    ANY_FLAG,
    COMPLETE,
    DISCARDED,
    EMPTY,
    INCOMPLETE,
    RESPONSES_IN_ORDER,
    STATUSES,
    TASKS_IN_ORDER,
    codes_of,
    found_responses,
    found_tasks,
)
from shared.tables import Column

IMAGES_PER_PAGE = 24


class ImageFilters(FilterForm):
    image = search("Image id begins with", max_length=64)
    state = choice(
        "State",
        [
            (COMPLETE, "complete"),
            (INCOMPLETE, "incomplete"),
            (EMPTY, "without answers"),
            (DISCARDED, "with discarded answers"),
        ],
    )

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        # `class` is a word of Python's.
        self.fields["class"] = search("Class", max_length=100)


class CaptionFilters(FilterForm):
    words = search("Words")
    worker = search("Worker", max_length=10, placeholder="W-…")
    status = choice("Status", STATUSES.items())

    def __init__(self, request: HttpRequest, kind: TaskKind) -> None:
        super().__init__(request)
        flags = sorted(((code, label_of(code)) for code in codes_of(kind)), key=itemgetter(1))
        self.fields["flag"] = choice("Flag", [(ANY_FLAG, "any flag"), *flags])
        self.fields["class"] = search("Class", max_length=100)
        if not kind.words_field:
            del self.fields["words"]


@require_safe
def images(request: HttpRequest, slug: str) -> HttpResponse:
    """The campaign's images, with how many answers each has."""
    campaign = campaign_of(request, slug)
    filters = ImageFilters(request)
    rows = found_tasks(campaign, filters.chosen).select_related("image", "subject")
    stretch = stretch_of(rows, request, by=TASKS_IN_ORDER, per_page=IMAGES_PER_PAGE)
    context = {
        "campaign": campaign,
        "filters": filters,
        "stretch": stretch,
        "images": [(task, _has(task)) for task in stretch.rows],
    }
    return render(request, "hits/campaign_images.html", context)


@require_safe
def captions(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The campaign's answers, those that the filters find; also as a CSV file."""
    campaign = campaign_of(request, slug)
    kind = KINDS[campaign.kind]
    filters = CaptionFilters(request, kind)
    rows = _with_related(found_responses(campaign, filters.chosen), campaign)
    if wants_csv(request):
        ordered = rows.order_by(*RESPONSES_IN_ORDER).iterator(chunk_size=2000)
        return csv_file(f"{campaign.slug}-{kind.answers_name}", _columns(kind), ordered)
    context = {
        "campaign": campaign,
        "kind": kind,
        "filters": filters,
        "stretch": stretch_of(rows, request, by=RESPONSES_IN_ORDER),
    }
    return render(request, "hits/campaign_captions.html", context)


@require_safe
def image(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """One image with its boxes, its answers, and what happened to each of them."""
    campaign = campaign_of(request, slug)
    tasks = campaign.tasks.select_related("image", "subject")
    task: Task = get_object_or_404(tasks, number=number)
    answers = list(
        _with_related(task.responses.all(), campaign)
        .select_related("submission__assignment__account", "imported_from", "behaviour")
        .order_by("submitted_at", "pk")
    )
    told = stories(answers)
    context = {
        "campaign": campaign,
        "kind": KINDS[campaign.kind],
        "task": task,
        "image": task.image,
        "original_url": original_url(task.image),
        "boxes": drawn_boxes(task.image),
        "has": _has(task),
        "keywords": keywords_with_language(task, campaign.config.language),
        "answers": [(answer, told[answer.pk]) for answer in answers],
        "previous": _neighbour(campaign, "-number", number__lt=number),
        "next": _neighbour(campaign, "number", number__gt=number),
    }
    return render(request, "hits/campaign_image.html", context)


def _has(task: Task) -> int:
    """The number of the task's answers that count."""
    return task.wanted - task.answers_missing


def _neighbour(campaign: Campaign, order: str, **beyond: int) -> int | None:
    """The number of the task before or after this one."""
    numbers = campaign.tasks.filter(**beyond).order_by(order).values_list("number", flat=True)
    return numbers.first()


def _with_related(rows: QuerySet[Response], campaign: Campaign) -> QuerySet[Response]:
    related = KINDS[campaign.kind].answer_relations
    return rows.select_related("task__image", "worker", "spot_check", "assessment", *related)


def _columns(kind: TaskKind) -> list[Column]:
    """The columns of the file."""
    return [
        Column("image", value=lambda row: row.task.image.key),
        Column("number", value=lambda row: row.task.number),
        Column("worker", value=lambda row: row.worker.pseudonym),
        Column("answer", value=kind.summary),
        Column("status", value=lambda row: row.status.lower()),
        Column("verdict", value=lambda row: _part(row, "spot_check", "verdict").lower()),
        Column("reason", value=lambda row: _part(row, "spot_check", "reason")),
        Column("flags", value=lambda row: _part(row, "assessment", "codes")),
        Column("seconds"),
        Column("submitted_at"),
    ]


def _part(row: Response, relation: str, name: str) -> str:
    """A text of the row's spot check or assessment; empty if it has none."""
    return str(getattr(getattr(row, relation, None), name, ""))
