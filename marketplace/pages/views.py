"""Pages for finding, accepting and doing HITs, and for messages."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock, queries
from marketplace.errors import DomainError, NothingToAccept, NotQualified
from marketplace.models import (
    Assignment,
    AssignmentStatus,
    HitType,
    Participation,
)
from marketplace.once import carried_out_once
from marketplace.requirements import Action
from marketplace.services import assignments, qualifications
from marketplace.services.participations import participation_for, progress_of
from marketplace.services.qualification_requests import requestable_for

from .context import AUTO_ACCEPT_KEY
from .decorators import ScopedRequest, WorkerRequest, scope_required, worker_required
from .frame_urls import assignment_frame, preview_frame
from .groups import SORTS, GroupFilters, groups_for, sharing_a_title
from .people.wording import plainly
from .problems import not_possible
from .recent_work import recent_work
from .unmet import reasons_for

PAGE_SIZE = 50


@worker_required
def groups(request: WorkerRequest) -> HttpResponse:
    """List the HIT groups that have HITs for the worker."""
    filters = GroupFilters.of(request.GET)
    found = groups_for(worker=request.worker, filters=filters, at=clock.now())
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
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
    hit_type = _find_visible_group(request, hit_type_id)
    if qualifications.is_blocked(worker=request.worker, hit_type=hit_type):
        return not_possible(request, "Blocked by the requester", qualifications.BLOCKED, 403)
    return _preview(request, hit_type)


@require_GET
@worker_required
def group_link(request: WorkerRequest, group_id: str = "") -> HttpResponse:
    """Redirect Amazon's URLs of a group, which many programs print, to its preview."""
    return redirect(_find_visible_group(request, group_id or request.GET.get("groupId", "")))


def _find_visible_group(request: WorkerRequest, public_id: str) -> HitType:
    """The group; raises Http404 if its requirements hide it from the worker."""
    hit_type = _find_group(public_id)
    if qualifications.unmet(hit_type, qualifications.held_by(request.worker), Action.DISCOVER):
        raise Http404("Group of HITs not found.")
    return hit_type


def _find_group(public_id: str) -> HitType:
    found = queries.groups_known_as(public_id=public_id)
    if not found:
        raise Http404("Group of HITs not found.")
    return found[0]


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
        "frame": preview_frame(hit=hit, worker=request.worker) if hit and shows_frame else None,
        "can_accept": allowed[Action.ACCEPT],
        "problem": problem,
        "accepts_next": request.session.get(AUTO_ACCEPT_KEY, False),
        "reasons": reasons_for(request.worker, [] if allowed[Action.ACCEPT] else [hit_type]),
        "can_ask_for": requestable_for(worker=request.worker, hit_type=hit_type),
    }
    return render(request, "marketplace/preview.html", context, status=status)


@require_POST
@worker_required
def accept(request: WorkerRequest, hit_type_id: str) -> HttpResponse:
    """Accept a HIT of the group; a double click accepts one."""
    return carried_out_once(request, lambda: _accept(request, hit_type_id), otherwise="queue")


def _accept(request: WorkerRequest, hit_type_id: str) -> HttpResponse:
    hit_type = _find_group(hit_type_id)
    if "auto" in request.POST:
        request.session[AUTO_ACCEPT_KEY] = request.POST["auto"] == "1"
    try:
        assignment = assignments.accept(worker=request.worker, hit_type=hit_type, at=clock.now())
    except NothingToAccept as error:
        return _preview(request, hit_type, problem=str(error), status=409)
    except NotQualified as error:
        return _preview(request, hit_type, problem=str(error), status=403)
    return HttpResponseRedirect(assignment.get_absolute_url(), status=303)


def _own_assignment(request: ScopedRequest, public_id: str) -> Assignment:
    found = queries.assignments_of_page(public_id=public_id)
    if not found or not request.scope.owns(found[0]):
        raise Http404("Assignment not found.")
    return found[0]


@require_GET
@scope_required
def assignment(request: ScopedRequest, assignment_id: str) -> HttpResponse:
    """Show the task in its frame, or how the assignment ended."""
    found = _own_assignment(request, assignment_id)
    at = clock.now()
    is_open = found.status == AssignmentStatus.ACCEPTED and found.deadline > at
    context: dict[str, object] = {
        "assignment": found,
        "hit_type": found.hit.hit_type,
        "frame": assignment_frame(found) if is_open else None,
        "seconds_left": int(found.time_left(at).total_seconds()),
    }
    if participation := _participation(request, found):
        context |= {"study": participation.study, "progress": progress_of(participation)}
        with translation.override(participation.study.language):
            return render(request, "marketplace/study_task.html", context)
    context["accepts_next"] = request.session.get(AUTO_ACCEPT_KEY, False)
    if is_open:
        context["recent"] = recent_work(found.worker, at).with_one_more(found)
    return render(request, "marketplace/assignment.html", context)


def _participation(request: ScopedRequest, found: Assignment) -> Participation | None:
    return request.scope.participation or participation_for(found)


@require_POST
@worker_required
def auto_accept(request: WorkerRequest) -> HttpResponse:
    """Store in the session whether submitting a HIT accepts the next one."""
    request.session[AUTO_ACCEPT_KEY] = request.POST.get("on") == "1"
    return HttpResponse(status=204)


@require_POST
@scope_required
def give_back(request: ScopedRequest, assignment_id: str) -> HttpResponse:
    """Return the assignment."""
    found = _own_assignment(request, assignment_id)
    participation = _participation(request, found)
    try:
        assignments.give_back(assignment=found, at=clock.now())
    except DomainError as error:
        messages.error(request, plainly(error) if participation else str(error))
    else:
        messages.success(request, _returned(participation))
    # Redirect to the list, because the worker may no longer see the group.
    target = resolve_url(participation.study) if participation else reverse("groups")
    return HttpResponseRedirect(target, status=303)


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
        (found, int(found.time_left(at).total_seconds()))
        for found in request.worker.assignments.in_time(at)
        .select_related("hit__hit_type__requester")
        .order_by("deadline")
    ]
    shared = sharing_a_title(found.hit.hit_type for found, _ in rows)
    return render(request, "marketplace/queue.html", {"rows": rows, "shared": shared})


@require_GET
@worker_required
def worker_messages(request: WorkerRequest) -> HttpResponse:
    """List the messages to the worker and mark them as read."""
    rows = request.worker.messages.select_related("requester").order_by("-pk")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    response = render(request, "marketplace/messages.html", {"page": page})
    unread = [message.pk for message in page if message.read_at is None]
    request.worker.messages.filter(pk__in=unread).update(read_at=clock.now())
    return response
