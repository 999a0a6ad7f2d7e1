"""How an invited person joins: who asks, what for, the consent text, the account. Then the member's
account, messages, and the withdrawal of their work."""

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from marketplace import clock
from marketplace.errors import (
    AccountRefused,
    ConsentNeeded,
    DomainError,
    GroupRefused,
    LinkRefused,
    TooManyAttempts,
)
from marketplace.models import ConsentText, Membership, WithdrawnBy, Worker
from marketplace.pages.people.access import MemberRequest, member_required
from marketplace.pages.people.links import Invited, invitation_to_stop, invited_by, member_of
from marketplace.pages.sessions import begin_session
from marketplace.services import accounts, mail_invitations, members
from marketplace.services.people_groups import latest_text
from shared.client_addresses import client_address
from shared.refusals import refusal

get_or_post = require_http_methods(["GET", "HEAD", "POST"])


@get_or_post
@sensitive_post_parameters("password")
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Tell an invited person about the group; a POST creates the account with the consent.

    The link of a mail signs in the member who joined with it.
    """
    try:
        invited = invited_by(token)
    except LinkRefused as error:
        return refusal(request, 403, _("This link does not work"), str(error))
    with translation.override(invited.group.language):
        return _welcome(request, invited)


def _welcome(request: HttpRequest, invited: Invited) -> HttpResponse:
    worker = _member_here(request)
    if invited.invitation is not None and invited.invitation.worker is not None:
        return _come_back(request, invited, worker)
    if worker and Membership.objects.filter(worker=worker, group=invited.group).exists():
        return redirect("people_home")
    if request.method == "POST":
        return _join(request, invited, worker)
    return _page(request, invited)


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
    context = {
        "group": invited.group,
        "text": latest_text(invited.group),
        "offers": invited.group.offers.filter(is_open=True).select_related("hit_type"),
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
        if worker is not None:
            members.join_as(
                group=invited.group,
                text=text,
                worker=worker,
                at=at,
                invitation=invited.invitation,
            )
            return HttpResponseRedirect(reverse("people_home"), status=303)
        accounts.count_new_account(address=client_address(request), at=at)
        membership = members.join(
            group=invited.group,
            text=text,
            name=name,
            password=given.get("password", ""),
            at=at,
            invitation=invited.invitation,
        )
    except AccountRefused as error:
        context = {"problem": str(error), "field": error.field}
        return _page(request, invited, status=400, name=name, agreed=True, **context)
    except TooManyAttempts as error:
        return _page(request, invited, status=429, name=name, problem=str(error))
    except (ConsentNeeded, GroupRefused) as error:
        return _page(request, invited, status=400, name=name, problem=str(error))
    begin_session(request, membership.worker)
    return HttpResponseRedirect(reverse("people_home"), status=303)


def _text_read(invited: Invited, version: str) -> ConsentText | None:
    """The version that the person's page showed; the service refuses an old one."""
    if not version.isascii() or not version.isdigit() or len(version) > 9:
        return None
    return invited.group.consent_texts.filter(version=int(version)).first()


@require_POST
@member_required
def agree(request: MemberRequest, pk: int) -> HttpResponse:
    """Store a member's consent to a new version of the text."""
    mine = Membership.objects.select_related("group")
    membership = get_object_or_404(mine, worker=request.worker, group=pk)
    version = _text_read(Invited(membership.group), request.POST.get("version", ""))
    try:
        if request.POST.get("agree") != "yes" or version is None:
            raise ConsentNeeded(_("Please read the text, and tick that you agree."))
        members.consent(membership=membership, text=version, at=clock.now())
    except DomainError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Thank you. Your agreement is saved."))
    return HttpResponseRedirect(reverse("people_home"), status=303)


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


PAGE_SIZE = 50


@require_GET
@member_required
def account(request: MemberRequest) -> HttpResponse:
    """Show the account, the groups with the consents, and the forms for password and sessions."""
    return render(request, "marketplace/people/account.html")


@require_GET
@member_required
def letters(request: MemberRequest) -> HttpResponse:
    """List the messages to the member and mark them as read."""
    rows = request.worker.messages.select_related("requester").order_by("-pk")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    response = render(request, "marketplace/people/messages.html", {"page": page})
    unread = [message.pk for message in page if message.read_at is None]
    request.worker.messages.filter(pk__in=unread).update(read_at=clock.now())
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@member_required
def withdraw(request: MemberRequest, pk: int) -> HttpResponse:
    """Say what a withdrawal does; a POST withdraws the member's work in a group."""
    mine = Membership.objects.select_related("group")
    membership = get_object_or_404(mine, worker=request.worker, group=pk)
    if request.method != "POST":
        context = {"membership": membership, "number": members.work_in(membership).count()}
        return render(request, "marketplace/people/withdraw.html", context)
    if request.POST.get("sure") != "yes":
        messages.error(request, _("Nothing was withdrawn. Tick the box to confirm."))
        return HttpResponseRedirect(reverse("people_withdraw", args=[pk]), status=303)
    if members.withdraw(membership=membership, by=WithdrawnBy.PERSON, at=clock.now()):
        messages.success(request, _("Your work is withdrawn."))
    return HttpResponseRedirect(reverse("people_home"), status=303)
