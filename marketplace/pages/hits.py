"""Pages for finding, accepting and doing HITs, and for messages."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
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
    Worker,
)
from marketplace.once import carried_out_once
from marketplace.pages.decorators import (
    ScopedRequest,
    WorkerRequest,
    scope_required,
    worker_required,
)
from marketplace.pages.frame_urls import assignment_frame, preview_frame
from marketplace.pages.groups import SORTS, GroupFilters, groups_for, sharing_a_title
from marketplace.pages.people.access import plainly
from marketplace.pages.sessions import AUTO_ACCEPT_KEY, recognise
from marketplace.pages.unmet import reasons_for
from marketplace.requirements import Action
from marketplace.services import assignments, qualifications
from marketplace.services.participations import participation_for, progress_of
from marketplace.services.qualification_requests import requestable_for
from shared.refusals import refusal

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
        return refusal(request, 403, "Blocked by the requester", qualifications.BLOCKED)
    return _preview(request, hit_type)


@require_GET
@worker_required
def group_link(request: WorkerRequest, group_id: str = "") -> HttpResponse:
    """Redirect Amazon's URLs of a group, which many programs print, to its preview."""
    return redirect(_find_visible_group(request, group_id or request.GET.get("groupId", "")))


@require_GET
@worker_required
def search_link(request: WorkerRequest) -> HttpResponse:
    """Redirect Amazon's URL of a search, which psiTurk prints, to the list of groups."""
    term = request.GET.get("filters[search_term]", "")
    return redirect(f"{reverse('groups')}?{urlencode({'q': term})}")


def _find_visible_group(request: WorkerRequest, public_id: str) -> HitType:
    """The group; raises Http404 if its requirements hide it from the worker."""
    hit_type = _find_group(public_id)
    if qualifications.unmet(hit_type, qualifications.held_by(request.worker), Action.DISCOVER):
        raise Http404("Group of HITs not found.")
    return hit_type


def _find_group(public_id: str) -> HitType:
    known = HitType.objects.known_as(public_id)
    found = known.select_related("requester", "notification_setting").first()
    if found is None:
        raise Http404("Group of HITs not found.")
    return found


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
def accept(request: WorkerRequest, hit_type_id: str) -> HttpResponseBase:
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


def _own(request: ScopedRequest, found: Assignment | None) -> Assignment:
    """The assignment; raises Http404 if it is not in the session's scope."""
    if found is None or not request.scope.owns(found):
        raise Http404("Assignment not found.")
    return found


@require_GET
def assignment(request: HttpRequest, assignment_id: str) -> HttpResponseBase:
    """Show the task in its frame, or how the assignment ended."""
    found = queries.assignment_of_page(assignment_id)
    if found is not None:
        recognise(request, found.worker)
    return _assignment(request, found)


@scope_required
def _assignment(request: ScopedRequest, read: Assignment | None) -> HttpResponse:
    found = _own(request, read)
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
    found = _own(request, queries.assignment_of_page(assignment_id))
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


WITHIN = timedelta(days=1)


@dataclass(frozen=True)
class RecentWork:
    """The HITs that a worker submitted within a day and that are not rejected."""

    hits: int
    reward: Decimal

    def with_one_more(self, assignment: Assignment) -> "RecentWork":
        """This work once the worker has also submitted the assignment."""
        return RecentWork(self.hits + 1, self.reward + assignment.hit.hit_type.reward)


def recent_work(worker: Worker, at: datetime) -> RecentWork:
    return RecentWork(*queries.recent_work(worker, since=at - WITHIN))
