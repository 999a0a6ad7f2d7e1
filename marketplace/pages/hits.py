"""Pages for finding, accepting and doing HITs, and for messages."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock, queries
from marketplace.errors import DomainError, NothingToAccept, NotQualified
from marketplace.models import (
    LIVE,
    Assignment,
    AssignmentStatus,
    Hit,
    HitStatus,
    HitType,
    Participation,
    Worker,
)
from marketplace.pages.decorators import (
    WorkerRequest,
    carried_out_once,
    once,
    scope_required,
    see_other,
    worker_required,
)
from marketplace.pages.frames import frame_of
from marketplace.pages.problems import plainly
from marketplace.pages.sessions import AUTO_ACCEPT_KEY, recognise
from marketplace.requirements import Action
from marketplace.services import assignments, qualifications
from marketplace.services.assignments import participation_for, progress_of
from marketplace.services.money import with_rewards
from marketplace.services.qualification_types import requestable_for
from marketplace.services.qualifications import allowed, reasons_for
from shared.requests import refusal


@dataclass(frozen=True)
class Group:
    """A HIT type, and how many of its HITs the worker could do."""

    hit_type: HitType
    hits_available: int
    can_accept: bool
    # Another group of the requester in the list has the same title.
    shares_title: bool = False


# Sort orders: value in the URL, label on the page, and sort key.
SORTS: dict[str, tuple[str, Callable[[Group], Any]]] = {
    "newest": ("Newest first", lambda group: -group.hit_type.pk),
    "reward": ("Highest reward", lambda group: -group.hit_type.reward),
    "time": ("Shortest time allotted", lambda group: group.hit_type.assignment_duration),
    "available": ("Most HITs available", lambda group: -group.hits_available),
}


@dataclass(frozen=True)
class GroupFilters:
    """A worker's filters and sort order for the list."""

    search: str = ""
    sort: str = "newest"
    least_reward: Decimal | None = None
    qualified_only: bool = False

    @classmethod
    def of(cls, query: QueryDict) -> "GroupFilters":
        """The filters in the query string; invalid values are ignored."""
        sort = query.get("sort", "")
        return cls(
            search=query.get("q", "").replace("\0", "").strip()[:100],
            sort=sort if sort in SORTS else "newest",
            least_reward=_amount(query.get("reward", "")),
            qualified_only=query.get("qualified") == "1",
        )

    @property
    def is_narrow(self) -> bool:
        """Whether a filter is active."""
        return bool(self.search or self.least_reward or self.qualified_only)


def _amount(text: str) -> Decimal | None:
    try:
        amount = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        return None
    is_sensible = amount.is_finite() and 0 < amount < 10**6
    return amount.quantize(Decimal("0.01")) if is_sensible else None


def groups_for(*, worker: Worker, filters: GroupFilters, at: datetime) -> list[Group]:
    """The groups that the worker may see and that have HITs for them, filtered and sorted."""
    counts = _counts(worker, at)
    hit_types = _wanted(HitType.objects.filter(pk__in=counts), filters)
    visible = allowed(
        worker=worker,
        hit_types=hit_types.select_related("requester").order_by("-pk"),
        action=Action.DISCOVER,
    )
    accepted = {
        hit_type.pk for hit_type in allowed(worker=worker, hit_types=visible, action=Action.ACCEPT)
    }
    shared = sharing_a_title(visible)
    groups = [
        Group(
            hit_type,
            counts[hit_type.pk],
            hit_type.pk in accepted,
            shares_title=hit_type.pk in shared,
        )
        for hit_type in visible
        if hit_type.pk in accepted or not filters.qualified_only
    ]
    return sorted(groups, key=SORTS[filters.sort][1])


def _wanted(hit_types: QuerySet[HitType], filters: GroupFilters) -> QuerySet[HitType]:
    for word in filters.search.split():
        hit_types = hit_types.filter(
            Q(title__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    if filters.least_reward:
        hit_types = hit_types.filter(reward__gte=filters.least_reward)
    return hit_types


def sharing_a_title(hit_types: Iterable[HitType]) -> set[int]:
    """The keys of those groups whose requester has another one with the same title among them."""
    named = {hit_type.pk: (hit_type.requester_id, hit_type.title) for hit_type in hit_types}
    times = Counter(named.values())
    return {pk for pk, name in named.items() if times[name] > 1}


def _counts(worker: Worker, at: datetime) -> Counter[int]:
    # Two counts, each over an index. One query that excludes the worker's own HITs would read every
    # assignment of every HIT.
    counts = Counter(
        dict(Hit.objects.open_at(at).order_by().values_list("hit_type").annotate(hits=Count("pk")))
    )
    mine = (
        worker.assignments.filter(
            status__in=LIVE,
            hit__status=HitStatus.ASSIGNABLE,
            hit__available__gt=0,
            hit__expires_at__gt=at,
        )
        .order_by()
        .values_list("hit__hit_type")
        .annotate(hits=Count("pk"))
    )
    counts.subtract(dict(mine))
    return Counter({pk: count for pk, count in counts.items() if count > 0})


PAGE_SIZE = 50


@worker_required
def groups(request: WorkerRequest) -> HttpResponse:
    """List the HIT groups that have HITs for the worker."""
    filters = GroupFilters.of(request.GET)
    groups = groups_for(worker=request.worker, filters=filters, at=clock.now())
    page = Paginator(groups, PAGE_SIZE).get_page(request.GET.get("page"))
    closed = [group.hit_type for group in page if not group.can_accept]
    context = {
        "page": page,
        "reasons": reasons_for(request.worker, closed),
        "filters": filters,
        "sorts": [(key, label) for key, (label, _order) in SORTS.items()],
    }
    return render(request, "marketplace/groups.html", context)


@require_GET
@worker_required
def preview(request: WorkerRequest, hit_type_id: str) -> HttpResponse:
    """Show one HIT of the group in a frame, without assigning it."""
    hit_type = _visible(request, _find_group(hit_type_id))
    if qualifications.is_blocked(worker=request.worker, hit_type=hit_type):
        return refusal(request, 403, "Blocked by the requester", qualifications.BLOCKED)
    return _preview(request, hit_type)


@require_GET
@worker_required
def group_link(request: WorkerRequest, group_id: str = "") -> HttpResponse:
    """Redirect Amazon's URLs of a group, which many programs print, to its preview."""
    hit_type = _find_group(group_id or request.GET.get("groupId", ""))
    return redirect(_visible(request, hit_type))


@require_GET
@worker_required
def search_link(request: WorkerRequest) -> HttpResponse:
    """Redirect Amazon's URL of a search, which psiTurk prints, to the list of groups."""
    term = request.GET.get("filters[search_term]", "")
    return redirect(f"{reverse('groups')}?{urlencode({'q': term})}")


def _visible(request: WorkerRequest, hit_type: HitType) -> HitType:
    """The group; raises Http404 if its requirements hide it from the worker."""
    if qualifications.unmet(hit_type, qualifications.held_by(request.worker), Action.DISCOVER):
        raise Http404("Group of HITs not found.")
    return hit_type


def _find_group(public_id: str) -> HitType:
    hit_types = HitType.objects.select_related("notification_setting")
    return get_object_or_404(hit_types.known_as(public_id))


def _preview(
    request: WorkerRequest, hit_type: HitType, *, problem: str = "", status: int = 200
) -> HttpResponse:
    allowed = {
        action: bool(
            qualifications.allowed(worker=request.worker, hit_types=[hit_type], action=action)
        )
        for action in (Action.PREVIEW, Action.ACCEPT)
    }
    hit = assignments.next_hit(worker=request.worker, hit_type=hit_type, at=clock.now())
    shows_frame = hit is not None and allowed[Action.PREVIEW]
    context = {
        "hit_type": hit_type,
        "has_hit": hit is not None,
        "frame": frame_of(hit, worker=request.worker) if hit and shows_frame else None,
        "can_accept": allowed[Action.ACCEPT],
        "problem": problem,
        "accepts_next": request.session.get(AUTO_ACCEPT_KEY, False),
        "reasons": reasons_for(request.worker, [] if allowed[Action.ACCEPT] else [hit_type]),
        "can_ask_for": requestable_for(worker=request.worker, hit_type=hit_type),
    }
    return render(request, "marketplace/preview.html", context, status=status)


@require_POST
@worker_required
def accept(request: WorkerRequest, hit_type_id: str) -> HttpResponseBase:
    """Accept a HIT of the group; a double click accepts one. A worker who goes back to the page
    after that HIT accepts another."""
    return carried_out_once(
        request,
        lambda: _accept(request, hit_type_id),
        otherwise="queue",
        is_over=lambda address: not _is_at_work(request.worker, address),
    )


def _is_at_work(worker: Worker, address: str) -> bool:
    """Whether the address is that of an assignment that the worker can submit."""
    public_id = address.rpartition("/")[2]
    return worker.assignments.in_time(clock.now()).filter(public_id=public_id).exists()


def _accept(request: WorkerRequest, hit_type_id: str) -> HttpResponse:
    hit_type = _find_group(hit_type_id)
    if "auto" in request.POST:
        request.session[AUTO_ACCEPT_KEY] = request.POST["auto"] == "1"
    try:
        assignment = assignments.accept(worker=request.worker, hit_type=hit_type, at=clock.now())
    except (NothingToAccept, NotQualified) as error:
        hit_type = _visible(request, hit_type)
        return _preview(request, hit_type, problem=str(error), status=error.status)
    return see_other(assignment)


def _own(request: WorkerRequest, assignment: Assignment | None) -> Assignment:
    """The assignment; raises Http404 if it is not in the session's scope."""
    if assignment is None or not request.scope.owns(assignment):
        raise Http404("Assignment not found.")
    return assignment


@require_GET
def assignment(request: HttpRequest, assignment_id: str) -> HttpResponseBase:
    """Show the task in its frame, or how the assignment ended."""
    assignment = queries.assignment_of_page(assignment_id, "hit__hit_type__requester")
    if assignment is not None:
        recognise(request, assignment.worker)
    return _assignment(request, assignment)


@scope_required
def _assignment(request: WorkerRequest, read: Assignment | None) -> HttpResponse:
    assignment = _own(request, read)
    at = clock.now()
    is_open = assignment.status == AssignmentStatus.ACCEPTED and assignment.deadline > at
    context: dict[str, object] = {
        "assignment": assignment,
        "hit_type": assignment.hit.hit_type,
        "frame": frame_of(assignment.hit, worker=assignment.worker, assignment=assignment)
        if is_open
        else None,
        "seconds_left": int(assignment.time_left(at).total_seconds()),
    }
    if participation := _participation(request, assignment):
        context |= {"study": participation.study, "progress": progress_of(participation)}
        with translation.override(participation.study.language):
            return render(request, "marketplace/study_task.html", context)
    context["accepts_next"] = request.session.get(AUTO_ACCEPT_KEY, False)
    if is_open:
        number, dollars = queries.recent_work(assignment.worker, since=at - timedelta(days=1))
        # With this HIT, as it is shown once that is submitted.
        context["recent"] = {"hits": number + 1, "reward": dollars + assignment.hit.hit_type.reward}
    else:
        # The HIT may have another reward by now.
        ended = with_rewards(Assignment.objects.filter(pk=assignment.pk))
        context["reward"] = ended.values_list("reward", flat=True)[0]
    return render(request, "marketplace/assignment.html", context)


def _participation(request: WorkerRequest, assignment: Assignment) -> Participation | None:
    return request.scope.participation or participation_for(assignment)


@require_POST
@worker_required
def auto_accept(request: WorkerRequest) -> HttpResponse:
    """Store in the session whether submitting a HIT accepts the next one."""
    request.session[AUTO_ACCEPT_KEY] = request.POST.get("on") == "1"
    return HttpResponse(status=204)


@require_POST
@scope_required
@once(otherwise="groups")
def give_back(request: WorkerRequest, assignment_id: str) -> HttpResponse:
    assignment = _own(request, queries.assignment_of_page(assignment_id))
    participation = _participation(request, assignment)
    try:
        assignments.give_back(assignment=assignment, at=clock.now())
    except DomainError as error:
        messages.error(request, plainly(error) if participation else str(error))
    else:
        messages.success(request, _returned(participation))
    # Redirect to the list, because the worker may no longer see the group.
    return see_other(participation.study if participation else "groups")


def _returned(participation: Participation | None) -> str:
    if participation is None:
        return "HIT returned. This does not lower your approval rate."
    with translation.override(participation.study.language):
        return _("Task returned. This has no disadvantage for you.")


@require_GET
@worker_required
def queue(request: WorkerRequest) -> HttpResponse:
    """List the worker's accepted assignments."""
    at = clock.now()
    rows = [
        (assignment, int(assignment.time_left(at).total_seconds()))
        for assignment in request.worker.assignments.in_time(at)
        .select_related("hit__hit_type__requester")
        .order_by("deadline")
    ]
    shared = sharing_a_title(assignment.hit.hit_type for assignment, _ in rows)
    return render(request, "marketplace/queue.html", {"rows": rows, "shared": shared})


@require_GET
@worker_required
def worker_messages(request: WorkerRequest) -> HttpResponse:
    """List the messages to the worker and mark them as read."""
    return messages_page(request)


def messages_page(request: WorkerRequest) -> HttpResponse:
    """The page of a worker's or a member's messages, which are marked as read afterwards."""
    folder = "marketplace/people" if request.worker.is_member else "marketplace"
    rows = request.worker.messages.select_related("requester").order_by("-pk")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page": page, "base": f"{folder}/base.html"}
    response = render(request, "marketplace/messages.html", context)
    unread = [message.pk for message in page if message.read_at is None]
    request.worker.messages.filter(pk__in=unread).update(read_at=clock.now())
    return response
