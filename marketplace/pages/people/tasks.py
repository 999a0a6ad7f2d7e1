"""A member's home, their tasks one after the other, and what they have done."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Sum
from django.db.models.fields import DurationField
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock, queries
from marketplace.errors import DomainError, NothingToAccept, ShareDone
from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    ConsentText,
    Membership,
    Offer,
    TransferKind,
    Worker,
)
from marketplace.pages.frame_urls import assignment_frame
from marketplace.services import assignments, members

from .access import MemberRequest, member_required, memberships_of, plainly

PAGE_SIZE = 50
# Done tasks on the home page; all are on a page of their own.
LATEST = 5


@dataclass(frozen=True)
class OfferedTasks:
    """The tasks of one offer for one member."""

    offer: Offer
    done: int
    is_begun: bool
    has_more: bool

    @property
    def is_done(self) -> bool:
        """Whether the member has done their share, or all that there is for them at the moment."""
        if self.is_begun or not self.done:
            return False
        return not self.has_more or (self.offer.share is not None and self.done >= self.offer.share)

    @property
    def thanks(self) -> str:
        text = ngettext(
            "You have done {count} task. Thank you!",
            "You have done all {count} tasks. Thank you!",
            self.done,
        )
        return text.format(count=self.done)


@dataclass(frozen=True)
class GroupTasks:
    """A group of the member, its tasks, and the consent text that the member has to read."""

    membership: Membership
    new_text: ConsentText | None
    offered: Sequence[OfferedTasks]


@require_GET
@member_required
def home(request: MemberRequest) -> HttpResponse:
    """Show what there is to do, what was done, and how it was judged."""
    worker, at = request.worker, clock.now()
    groups = [_group_tasks(each, at) for each in memberships_of(worker)]
    work = _work_of(worker)
    context = {
        "groups": groups,
        "summary": summary_of(worker),
        "latest": work.order_by("-submitted_at", "-pk")[:LATEST],
    }
    return render(request, "marketplace/people/home.html", context)


def _group_tasks(membership: Membership, at: datetime) -> GroupTasks:
    if membership.withdrawn_at is not None:
        return GroupTasks(membership, None, [])
    shown = membership.group.offers.filter(is_open=True).select_related("hit_type__requester")
    offered = [_offered(membership.worker, offer, at) for offer in shown.order_by("-pk")]
    return GroupTasks(membership, members.needs_consent(membership), offered)


def _offered(worker: Worker, offer: Offer, at: datetime) -> OfferedTasks:
    mine = Assignment.objects.filter(worker=worker, hit__hit_type=offer.hit_type_id)
    is_begun = mine.in_time(at).exists()
    return OfferedTasks(
        offer=offer,
        done=mine.filter(status__in=REVEALED).count(),
        is_begun=is_begun,
        has_more=is_begun
        or assignments.next_hit(worker=worker, hit_type=offer.hit_type, at=at) is not None,
    )


def _work_of(worker: Worker) -> QuerySet[Assignment]:
    return worker.assignments.filter(status__in=REVEALED).select_related("hit__hit_type")


@dataclass(frozen=True)
class Summary:
    """Counts of a member's work, the time that it took, and the dollars earned.

    `earned` is None for people who are not paid.
    """

    done: int
    accepted: int
    waiting: int
    not_accepted: int
    time: timedelta
    earned: Decimal | None


def summary_of(worker: Worker) -> Summary:
    work = worker.assignments.filter(status__in=REVEALED)
    took = ExpressionWrapper(F("submitted_at") - F("accepted_at"), output_field=DurationField())
    counts: dict[str, Any] = work.aggregate(
        done=Count("pk"),
        accepted=Count("pk", filter=Q(status=AssignmentStatus.APPROVED)),
        waiting=Count("pk", filter=Q(status=AssignmentStatus.SUBMITTED)),
        not_accepted=Count("pk", filter=Q(status=AssignmentStatus.REJECTED)),
        time=Sum(took, default=timedelta()),
    )
    return Summary(**counts, earned=_earned(worker) if is_paid(worker) else None)


def is_paid(worker: Worker) -> bool:
    """Whether a task that the member did or may do has a reward, or money was paid."""
    offered = Offer.objects.filter(group__memberships__worker=worker, is_open=True)
    return (
        offered.filter(hit_type__reward__gt=0).exists()
        or worker.assignments.filter(hit__hit_type__reward__gt=0, status__in=REVEALED).exists()
        or worker.transfers.exists()
    )


def _earned(worker: Worker) -> Decimal:
    paid = worker.transfers.filter(kind__in=[TransferKind.REWARD, TransferKind.BONUS])
    earned: Decimal = paid.aggregate(sum=Sum("amount", default=0))["sum"]
    return earned


@require_POST
@member_required
def next_task(request: MemberRequest, pk: int) -> HttpResponse:
    """Open the member's next task of an offer."""
    mine = Membership.objects.filter(worker=request.worker, group=OuterRef("group"))
    offer = get_object_or_404(Offer.objects.filter(Exists(mine)), pk=pk)
    membership = Membership.objects.get(worker=request.worker, group=offer.group_id)
    try:
        found = members.next_assignment(membership=membership, offer=offer, at=clock.now())
    except (ShareDone, NothingToAccept):
        pass  # the home page says so
    except DomainError as error:
        messages.info(request, plainly(error))
    else:
        return HttpResponseRedirect(reverse("people_task", args=[found.public_id]), status=303)
    return HttpResponseRedirect(reverse("people_home"), status=303)


def _own_task(request: MemberRequest, public_id: str) -> Assignment:
    found = queries.assignment_of_page(public_id)
    if found is None or found.worker_id != request.worker.pk:
        raise Http404("Task not found.")
    return found


def _offer_of(worker: Worker, assignment: Assignment) -> Offer | None:
    """The latest offer by which the member gets tasks like this one."""
    mine = Offer.objects.filter(
        group__memberships__worker=worker, hit_type=assignment.hit.hit_type_id
    )
    return mine.order_by("-is_open", "-pk").first()


@require_GET
@member_required
def task(request: MemberRequest, assignment_id: str) -> HttpResponse:
    """Show a task in its frame, or what became of it."""
    found, at = _own_task(request, assignment_id), clock.now()
    is_open = found.status == AssignmentStatus.ACCEPTED and found.deadline > at
    offer = _offer_of(request.worker, found)
    context = {
        "task": found,
        "title": found.hit.hit_type.title,
        "offer": offer,
        "number": members.tasks_of(worker=request.worker, offer=offer) if offer else 0,
        "frame": assignment_frame(found) if is_open else None,
        "seconds_left": int(found.time_left(at).total_seconds()),
        "reward": found.hit.hit_type.reward,
    }
    return render(request, "marketplace/people/task.html", context)


@require_POST
@member_required
def give_back(request: MemberRequest, assignment_id: str) -> HttpResponse:
    """Return a task."""
    found = _own_task(request, assignment_id)
    try:
        assignments.give_back(assignment=found, at=clock.now())
    except DomainError as error:
        messages.error(request, plainly(error))
    else:
        messages.success(request, _("Task returned. This has no disadvantage for you."))
    return HttpResponseRedirect(reverse("people_home"), status=303)


@require_GET
@member_required
def done(request: MemberRequest) -> HttpResponse:
    """List everything that the member has done, and how it was judged."""
    rows = _work_of(request.worker).order_by("-submitted_at", "-pk")
    context = {
        "summary": summary_of(request.worker),
        "page": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
    }
    return render(request, "marketplace/people/done.html", context)
