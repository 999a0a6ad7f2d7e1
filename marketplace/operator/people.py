"""The operator's pages of groups of people: texts, link, tasks and members."""

import re

from django.contrib import messages
from django.db.models import Count, Q
from django.forms import Form
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock
from marketplace.errors import GroupRefused
from marketplace.models import MailRefusal, Membership, Offer, PeopleGroup, WithdrawnBy
from marketplace.operator.access import (
    OperatorRequest,
    form_page,
    get_or_post,
    logged,
    logged_with_message,
    newest_first,
    operator_required,
)
from marketplace.operator.forms import AddressesForm, GroupForm, OfferForm
from marketplace.pages import links
from marketplace.pages.links import group_url
from marketplace.pages.statements import Month
from marketplace.services import mail_invitations, people_groups, people_work
from marketplace.services.people_groups import latest_text, plan_of
from marketplace.services.qualifications import asked_of_newcomers
from shared.tables import csv_download, csv_lines

NO_MAIL = "This site sends no e-mail: its host has to set EMAIL_HOST. Send people the link instead."
# Failed invitations that the page names.
SHOWN = 20


@get_or_post
@operator_required
def groups(request: OperatorRequest) -> HttpResponse:
    """List the groups; create one on POST."""
    form = GroupForm(request.POST or None)
    if form.is_valid():
        try:
            with logged(request, "created a group of people", form.cleaned_data["name"]):
                made = people_groups.create_group(plan=form.plan(), at=clock.now())
        except GroupRefused as error:
            form.add_error(error.field or None, str(error))
        else:
            messages.success(request, "Group created. Choose its tasks, then send its link.")
            return redirect("operator:people_group", made.pk)
    rows = PeopleGroup.objects.annotate(
        members=Count("memberships", filter=Q(memberships__withdrawn_at=None))
    )
    context = {"form": form, "page": newest_first(request, rows)}
    return form_page(request, "people.html", context)


@get_or_post
@operator_required
def group(request: OperatorRequest, pk: int) -> HttpResponse:
    """Show a group; change its texts on POST."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    form = GroupForm(request.POST or None, initial=vars(plan_of(found)))
    if form.is_valid():
        before = latest_text(found)
        try:
            with logged(request, "changed a group of people", found.name):
                people_groups.change_group(group=found, plan=form.plan(), at=clock.now())
        except GroupRefused as error:
            form.add_error(error.field or None, str(error))
        else:
            is_new = latest_text(found) != before
            read = " Everybody reads the new consent text before their next task."
            messages.success(request, f"Saved.{read if is_new else ''}")
            return redirect("operator:people_group", pk)
    return _show(request, found, form=form)


def _show(request: OperatorRequest, found: PeopleGroup, **forms: Form) -> HttpResponse:
    """The group's page, with these forms in place of new ones."""
    forms = {
        "form": GroupForm(initial=vars(plan_of(found))),
        "offer_form": OfferForm(),
        "addresses_form": AddressesForm(),
        **forms,
    }
    invited = found.mail_invitations
    waiting = mail_invitations.waiting().filter(group=found)
    context = {
        **forms,
        "group": found,
        "url": group_url(found) if found.is_open else "",
        "text": latest_text(found),
        "offers": found.offers.select_related("hit_type__requester").order_by("-is_open", "-pk"),
        "work": people_work.work_by_person(group=found),
        "sends_mail": links.is_configured(),
        "mail": {
            "addresses": invited.count(),
            "waiting": waiting.count(),
            "server_problem": waiting.exclude(problem="").values_list("problem", flat=True).first(),
            "sent": invited.exclude(sent_at=None).count(),
            "joined": invited.exclude(worker=None).count(),
            "refused": invited.filter(address__in=MailRefusal.objects.values("address")).count(),
            "unknown": mail_invitations.unknown(found)[:SHOWN],
        },
    }
    status = 400 if any(each.errors for each in forms.values()) else 200
    return render(request, "marketplace/operator/people_group.html", context, status=status)


@require_POST
@operator_required
def invite(request: OperatorRequest, pk: int) -> HttpResponse:
    """Put e-mail addresses on the group's list. The server sends the mails."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    form = AddressesForm(request.POST)
    if form.is_valid() and not links.is_configured():
        form.add_error("addresses", NO_MAIL)
    if not form.is_valid():
        return _show(request, found, addresses_form=form)
    given = form.cleaned_data["addresses"]
    with logged(request, "invited people by e-mail", f"{found.name}: {len(given)} addresses"):
        new = mail_invitations.add_addresses(group=found, addresses=given, at=clock.now())
    known = len(given) - new
    sent = "are being sent" if found.is_open else "are sent once new people can join"
    messages.success(
        request,
        f"{new} new on the list. Their mails {sent}."
        + (f" {known} had been on it before and get no second mail." if known else ""),
    )
    return redirect("operator:people_group", pk)


@require_POST
@operator_required
def send_again(request: OperatorRequest, pk: int) -> HttpResponse:
    """Send mails again of which nobody knows whether they were sent."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    with logged(request, "sent failed invitations again", found.name):
        number = mail_invitations.try_again(group=found, at=clock.now())
    messages.success(request, f"{number} mails are being sent again.")
    return redirect("operator:people_group", pk)


@require_POST
@operator_required
def withdraw(request: OperatorRequest, pk: int, public_id: str) -> HttpResponse:
    """Withdraw a member's work, because the person asked for it."""
    members_of = Membership.objects.select_related("group", "worker")
    found = get_object_or_404(members_of, group=pk, worker__public_id=public_id)
    done = (
        f"The work of {found.worker.name} is withdrawn. Campaigns learn of it by their next sync."
    )
    with logged_with_message(request, "withdrew a person's work", public_id, done):
        people_groups.withdraw(membership=found, by=WithdrawnBy.OPERATOR, at=clock.now())
    return redirect("operator:people_group", pk)


@require_GET
@operator_required
def hours_csv(request: OperatorRequest, pk: int) -> StreamingHttpResponse:
    """Download hours and tasks by person, of all time or of one month (`month=2026-03`)."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    span = _month(request.GET.get("month", ""))
    work = people_work.work_by_person(
        group=found, since=span.start if span else None, before=span.end if span else None
    )
    name = f"hours-{pk}{f'-{span.start:%Y-%m}' if span else ''}"
    rows = (each.row for each in work)
    return csv_download(name, csv_lines(people_work.HOURS_COLUMNS, rows))


def _month(text: str) -> Month | None:
    """The month in a text such as 2026-03; None if it is empty. Raises Http404 if it is invalid."""
    if not text:
        return None
    found = re.fullmatch("([0-9]{4})-([0-9]{2})", text)
    if found is None:
        raise Http404("Month not found.")
    return Month.of(int(found[1]), int(found[2]))


@require_GET
@operator_required
def withdrawals_csv(_request: OperatorRequest, pk: int) -> StreamingHttpResponse:
    """Download the withdrawn assignments, which the requester site imports."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    rows = people_work.withdrawals(found.offers.all())
    lines = csv_lines(people_work.WITHDRAWAL_COLUMNS, rows)
    return csv_download(f"withdrawals-{pk}", lines)


@require_POST
@operator_required
def offer(request: OperatorRequest, pk: int) -> HttpResponse:
    """Show tasks to a group, or change each person's share of them."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    form = OfferForm(request.POST)
    if not form.is_valid():
        return _show(request, found, offer_form=form)
    with logged(request, "gave a group of people tasks", found.name):
        made = people_groups.offer(group=found, **form.cleaned_data)
    messages.success(request, "The group sees these tasks now.")
    if asked := asked_of_newcomers(made.hit_type):
        messages.warning(
            request,
            f"New people cannot do them. The requester asks for: {'; '.join(asked)}. "
            "A campaign for your own people asks for nothing.",
        )
    return redirect("operator:people_group", pk)


@require_POST
@operator_required
def close_offer(request: OperatorRequest, pk: int, offer_pk: int) -> HttpResponse:
    """Stop showing tasks to a group."""
    found = get_object_or_404(Offer.objects.select_related("group"), pk=offer_pk, group=pk)
    action = "closed tasks of a group of people"
    done = "The group no longer sees these tasks. Begun tasks can be finished."
    with logged_with_message(request, action, found.group.name, done):
        people_groups.close_offer(offer=found)
    return redirect("operator:people_group", pk)


@require_POST
@operator_required
def open_group(request: OperatorRequest, pk: int) -> HttpResponse:
    """Close a group to new people, or open it again."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    is_open = request.POST.get("open") == "yes"
    action = "opened a group of people" if is_open else "closed a group of people"
    done = "New people can join." if is_open else "Nobody new can join. Members stay."
    with logged_with_message(request, action, found.name, done):
        people_groups.set_open(group=found, is_open=is_open)
    return redirect("operator:people_group", pk)


@require_POST
@operator_required
def replace_link(request: OperatorRequest, pk: int) -> HttpResponse:
    """Give a group a new link; the earlier one stops working."""
    found = get_object_or_404(PeopleGroup, pk=pk)
    action, done = (
        "replaced the link of a group of people",
        "New link created. The earlier one no longer works.",
    )
    with logged_with_message(request, action, found.name, done):
        people_groups.replace_link(group=found)
    return redirect("operator:people_group", pk)
