"""A member's account, messages, and the withdrawal of their work."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from marketplace import clock
from marketplace.models import Membership, WithdrawnBy
from marketplace.services import members

from .access import MemberRequest, member_required

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
