"""The pages of an operator's own people, in plain words: how an invited person joins, what there is
to do and what was done, the account, and the withdrawal of work."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock, queries
from marketplace.errors import (
    AccountRefused,
    ConsentNeeded,
    DomainError,
    GroupRefused,
    LinkRefused,
    NothingToAccept,
    ShareDone,
    TooManyAttempts,
)
from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    ConsentText,
    Hit,
    Membership,
    Offer,
    TransferKind,
    WithdrawnBy,
    Worker,
)
from marketplace.pages.decorators import (
    WorkerRequest,
    carried_out_once,
    get_or_post,
    member_required,
    once,
    see_other,
)
from marketplace.pages.frames import frame_of
from marketplace.pages.hits import PAGE_SIZE, messages_page
from marketplace.pages.problems import plainly
from marketplace.pages.sessions import begin_session
from marketplace.services import accounts, assignments, mail_invitations, people_groups, people_work
from marketplace.services.links import Invited, invitation_to_stop, invited_by, member_of
from marketplace.services.people_groups import latest_text
from shared.requests import client_address, refusal

JUST_NOW = timedelta(minutes=10)


@get_or_post
@sensitive_post_parameters("password")
def welcome(request: HttpRequest, token: str) -> HttpResponseBase:
    """Tell an invited person about the group; a POST creates the account with the consent.

    The link of a mail signs in the member who joined with it.
    """
    try:
        invited = invited_by(token)
    except LinkRefused as error:
        return refusal(request, 403, _("This link does not work"), str(error))
    with translation.override(invited.group.language):
        return _welcome(request, invited)


def _welcome(request: HttpRequest, invited: Invited) -> HttpResponseBase:
    worker = _member_here(request)
    if invited.invitation is not None and invited.invitation.worker is not None:
        return _come_back(request, invited, worker)
    if worker and Membership.objects.filter(worker=worker, group=invited.group).exists():
        return redirect("people_home")
    if request.method != "POST":
        return _page(request, invited)
    if worker:
        return _join(request, invited, worker)
    return carried_out_once(
        request,
        lambda: _join(request, invited, None),
        otherwise="people_home",
        again=lambda _location: _sign_in_again(request, invited),
    )


def _member_here(request: HttpRequest) -> Worker | None:
    """The signed-in member. Other accounts stay apart: their pages are not for people."""
    worker: Worker | None = request.worker  # type: ignore[attr-defined]
    return worker if worker and worker.is_member else None


def _come_back(request: HttpRequest, invited: Invited, worker: Worker | None) -> HttpResponse:
    assert invited.invitation is not None
    member = member_of(invited.invitation, at=clock.now())
    if member is None:
        return redirect("people_home" if worker else "sign_in")
    if worker != member:
        begin_session(request, member)
    return redirect("people_home")


def _page(
    request: HttpRequest, invited: Invited, *, status: int = 200, **more: object
) -> HttpResponse:
    offers = invited.group.offers.filter(is_open=True).select_related("hit_type")
    hits = Hit.objects.filter(hit_type__in=offers.values("hit_type"))
    context = {
        "group": invited.group,
        "text": latest_text(invited.group),
        "offers": offers,
        "has_tasks": hits.open_at(clock.now()).exists(),
        "is_closed": not invited.group.is_open,
        "link_days": settings.SIGN_IN_LINK_AGE.days,
        **more,
    }
    return render(request, "marketplace/people/welcome.html", context, status=status)


def _join(request: HttpRequest, invited: Invited, worker: Worker | None) -> HttpResponse:
    at, given = clock.now(), request.POST
    text = _text_read(invited, given.get("version", ""))
    name = given.get("name", "")
    try:
        if given.get("agree") != "yes" or text is None:
            raise ConsentNeeded(_("Please read the text, and tick that you agree."))
        if worker is None:
            accounts.count_new_account(address=client_address(request), at=at)
        membership = people_groups.join(
            group=invited.group,
            text=text,
            at=at,
            worker=worker,
            name=name,
            password=given.get("password", ""),
            invitation=invited.invitation,
        )
    except AccountRefused as error:
        context = {"problem": str(error), "field": error.field}
        return _page(request, invited, status=400, name=name, agreed=True, **context)
    except (ConsentNeeded, GroupRefused, TooManyAttempts) as error:
        return _page(request, invited, status=error.status, name=name, problem=str(error))
    if worker is None:
        begin_session(request, membership.worker)
    return see_other("people_home")


def _sign_in_again(request: HttpRequest, invited: Invited) -> None:
    """Sign in whom this form has just made an account: the browser may have dropped that answer,
    and its cookie, for the one to a second press."""
    made = Membership.objects.filter(
        group=invited.group,
        worker__name=accounts.normal_name(request.POST.get("name", "")),
        joined_at__gt=clock.now() - JUST_NOW,
    )
    if membership := made.select_related("worker").first():
        begin_session(request, membership.worker)


def _text_read(invited: Invited, version: str) -> ConsentText | None:
    """The version that the person's page showed; the service refuses an old one."""
    if not version.isascii() or not version.isdigit() or len(version) > 9:
        return None
    return invited.group.consent_texts.filter(version=int(version)).first()


@require_POST
@member_required
def agree(request: WorkerRequest, pk: int) -> HttpResponse:
    """Store a member's consent to a new version of the text."""
    mine = Membership.objects.select_related("group")
    membership = get_object_or_404(mine, worker=request.worker, group__pk=pk)
    version = _text_read(Invited(membership.group), request.POST.get("version", ""))
    try:
        if request.POST.get("agree") != "yes" or version is None:
            raise ConsentNeeded(_("Please read the text, and tick that you agree."))
        people_groups.consent(membership=membership, text=version, at=clock.now())
    except DomainError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Thank you. Your agreement is saved."))
    return see_other("people_home")


# Mail programs post to the link without a page of ours, as RFC 8058 describes.
@csrf_exempt
@get_or_post
def stop_mail(request: HttpRequest, token: str) -> HttpResponse:
    """Send no more mail to an address. A GET asks, because mail filters open links."""
    try:
        invitation = invitation_to_stop(token)
    except LinkRefused as error:
        return refusal(request, 403, _("This link does not work"), str(error))
    if request.method == "POST":
        mail_invitations.stop(address=invitation.address, at=clock.now())
    context = {"is_stopped": request.method == "POST"}
    with translation.override(invitation.group.language):
        return render(request, "marketplace/people/stop_mail.html", context)


@require_GET
@member_required
def account(request: WorkerRequest) -> HttpResponse:
    """Show the account, the groups with the consents, and the forms for password and sessions."""
    return render(request, "marketplace/people/account.html")


@require_GET
@member_required
def letters(request: WorkerRequest) -> HttpResponse:
    """List the messages to the member and mark them as read."""
    return messages_page(request)


@get_or_post
@member_required
def withdraw(request: WorkerRequest, pk: int) -> HttpResponse:
    """Say what a withdrawal does; a POST withdraws the member's work in a group."""
    mine = Membership.objects.select_related("group")
    membership = get_object_or_404(mine, worker=request.worker, group__pk=pk)
    if request.method != "POST":
        context = {"membership": membership, "number": people_groups.work_in(membership).count()}
        return render(request, "marketplace/people/withdraw.html", context)
    if request.POST.get("sure") != "yes":
        messages.error(request, _("Nothing was withdrawn. Tick the box to confirm."))
        return see_other("people_withdraw", pk)
    if people_groups.withdraw(membership=membership, by=WithdrawnBy.PERSON, at=clock.now()):
        messages.success(request, _("Your work is withdrawn."))
    return see_other("people_home")


# Done tasks on the home page; all are on their own page.
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
        return not self.is_begun and bool(self.done) and (self.has_share or not self.has_more)

    @property
    def has_share(self) -> bool:
        """Whether the member has done as many as each member may do."""
        return self.offer.share is not None and self.done >= self.offer.share

    @property
    def thanks(self) -> str:
        text = ngettext(
            "You have done {count} task. Thank you!",
            "You have done all {count} tasks. Thank you!",
            self.done,
        )
        thanks = text.format(count=self.done)
        if self.has_share:
            return thanks
        # As the next round of a text, which opens when others have done theirs.
        return thanks + " " + _("If more tasks come for you, you find them here.")


@require_GET
@member_required
def home(request: WorkerRequest) -> HttpResponse:
    """Show what there is to do, what was done, and how it was judged."""
    worker, at = request.worker, clock.now()
    mine = Membership.objects.filter(worker=worker).select_related("group", "worker")
    groups = [_group_tasks(membership, at) for membership in mine.order_by("-pk")]
    work = _work_of(worker)
    context = {
        "groups": groups,
        "summary": summary_of(worker),
        "latest": work.order_by("-submitted_at", "-pk")[:LATEST],
    }
    return render(request, "marketplace/people/home.html", context)


def _group_tasks(membership: Membership, at: datetime) -> dict[str, Any]:
    """A group of the member, its tasks, and the consent text that the member has to read."""
    if membership.withdrawn_at is not None:
        return {"membership": membership}
    shown = membership.group.offers.filter(is_open=True).select_related("hit_type__requester")
    offered = [_offered(membership.worker, offer, at) for offer in shown.order_by("-pk")]
    new_text = people_groups.needs_consent(membership)
    return {"membership": membership, "new_text": new_text, "offered": offered}


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


def summary_of(worker: Worker) -> dict[str, Any]:
    """The counts of `people_work`, and the dollars earned; None for people who are not paid."""
    counts = worker.assignments.filter(status__in=REVEALED).aggregate(**people_work.COUNTS)
    return {**counts, "earned": _earned(worker) if is_paid(worker) else None}


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
def next_task(request: WorkerRequest, pk: int) -> HttpResponse:
    """Open the member's next task of an offer."""
    mine = Membership.objects.filter(worker=request.worker, group=OuterRef("group"))
    offer = get_object_or_404(Offer.objects.filter(Exists(mine)), pk=pk)
    membership = Membership.objects.get(worker=request.worker, group=offer.group_id)
    try:
        assignment = people_groups.next_assignment(
            membership=membership, offer=offer, at=clock.now()
        )
    except (ShareDone, NothingToAccept):
        pass  # the home page says so
    except DomainError as error:
        messages.info(request, plainly(error))
    else:
        return see_other("people_task", assignment.public_id)
    return see_other("people_home")


def _own_task(request: WorkerRequest, public_id: str) -> Assignment:
    assignment = queries.assignment_of_page(public_id)
    if assignment is None or assignment.worker_id != request.worker.pk:
        raise Http404("Task not found.")
    return assignment


def _offer_of(worker: Worker, assignment: Assignment) -> Offer | None:
    """The latest offer by which the member gets tasks like this one."""
    mine = Offer.objects.filter(
        group__memberships__worker=worker, hit_type=assignment.hit.hit_type_id
    )
    return mine.order_by("-is_open", "-pk").first()


@require_GET
@member_required
def task(request: WorkerRequest, assignment_id: str) -> HttpResponse:
    """Show a task in its frame, or what became of it."""
    assignment, at = _own_task(request, assignment_id), clock.now()
    is_open = assignment.status == AssignmentStatus.ACCEPTED and assignment.deadline > at
    offer = _offer_of(request.worker, assignment)
    context = {
        "task": assignment,
        "title": assignment.hit.hit_type.title,
        "offer": offer,
        "number": people_groups.tasks_of(worker=request.worker, offer=offer) if offer else 0,
        "frame": frame_of(assignment.hit, worker=assignment.worker, assignment=assignment)
        if is_open
        else None,
        "seconds_left": int(assignment.time_left(at).total_seconds()),
        "reward": assignment.hit.hit_type.reward,
    }
    return render(request, "marketplace/people/task.html", context)


@require_POST
@member_required
@once(otherwise="people_home")
def give_back(request: WorkerRequest, assignment_id: str) -> HttpResponse:
    assignment = _own_task(request, assignment_id)
    try:
        assignments.give_back(assignment=assignment, at=clock.now())
    except DomainError as error:
        messages.error(request, plainly(error))
    else:
        messages.success(request, _("Task returned. This has no disadvantage for you."))
    return see_other("people_home")


@require_GET
@member_required
def done(request: WorkerRequest) -> HttpResponse:
    """List everything that the member has done, and how it was judged."""
    rows = _work_of(request.worker).order_by("-submitted_at", "-pk")
    context = {
        "summary": summary_of(request.worker),
        "page": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
    }
    return render(request, "marketplace/people/done.html", context)
