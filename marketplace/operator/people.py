"""The operator's pages of groups of people: texts, link, tasks and members."""

import re

from django.contrib import messages
from django.db.models import Count, Q
from django.forms import Form
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from marketplace import clock
from marketplace.errors import GroupRefused
from marketplace.models import MailRefusal, Membership, Offer, PeopleGroup, WithdrawnBy
from marketplace.operator.base import (
    OperatorRequest,
    all_at,
    form_page,
    logged,
    logged_with_message,
    newest_first,
    operator_page,
)
from marketplace.operator.forms import AddressesForm, GroupForm, OfferForm
from marketplace.pages.statements import Month
from marketplace.services import mail_invitations, people_groups, people_work
from marketplace.services.links import group_url
from marketplace.services.people_groups import latest_text, plan_of
from marketplace.services.qualifications import asked_of_newcomers
from shared.mail import sends_email
from shared.tables import csv_download, csv_lines

NO_MAIL = "This site sends no e-mail: its host has to set EMAIL_HOST. Send people the link instead."
# Failed invitations that the page names.
SHOWN = 20


@operator_page("GET", "POST")
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
        members=Count(
            "memberships",
            filter=Q(memberships__withdrawn_at=None, memberships__worker__erased_at=None),
        )
    )
    context = {"form": form, "page": newest_first(request, rows)}
    return form_page(request, "people.html", context)


@operator_page("GET", "POST")
def group(request: OperatorRequest, pk: int) -> HttpResponse:
    """Show a group; change its texts on POST."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    form = GroupForm(request.POST or None, initial=vars(plan_of(group)))
    if form.is_valid():
        before = latest_text(group)
        try:
            with logged(request, "changed a group of people", group.name):
                people_groups.change_group(group=group, plan=form.plan(), at=clock.now())
        except GroupRefused as error:
            form.add_error(error.field or None, str(error))
        else:
            is_new = latest_text(group) != before
            read = " Everybody reads the new consent text before their next task."
            messages.success(request, f"Saved.{read if is_new else ''}")
            return redirect("operator:people_group", pk)
    return _show(request, group, form=form)


def _show(request: OperatorRequest, group: PeopleGroup, **forms: Form) -> HttpResponse:
    """The group's page, with these forms in place of new ones."""
    forms = {
        "form": GroupForm(initial=vars(plan_of(group))),
        "offer_form": OfferForm(all_at=_all_at(request, group.pk)),
        "addresses_form": AddressesForm(),
        **forms,
    }
    invited = group.mail_invitations
    waiting = mail_invitations.waiting().filter(group=group)
    context = {
        **forms,
        "group": group,
        "url": group_url(group) if group.is_open else "",
        "text": latest_text(group),
        "offers": group.offers.select_related("hit_type__requester").order_by("-is_open", "-pk"),
        "work": people_work.work_by_person(group=group),
        "sends_mail": sends_email(),
        "mail": {
            "addresses": invited.count(),
            "waiting": waiting.count(),
            "server_problem": waiting.exclude(problem="").values_list("problem", flat=True).first(),
            "sent": invited.exclude(sent_at=None).count(),
            "joined": invited.exclude(worker=None).count(),
            "refused": invited.filter(address__in=MailRefusal.objects.values("address")).count(),
            "unknown": mail_invitations.unknown(group, at=clock.now())[:SHOWN],
        },
    }
    status = 400 if any(form.errors for form in forms.values()) else 200
    return render(request, "marketplace/operator/people_group.html", context, status=status)


def _all_at(request: OperatorRequest, pk: int) -> str:
    return all_at(request, reverse("operator:people_group", args=[pk]))


@operator_page("POST")
def invite(request: OperatorRequest, pk: int) -> HttpResponse:
    """Put e-mail addresses on the group's list. The server sends the mails."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    form = AddressesForm(request.POST)
    if form.is_valid() and not sends_email():
        form.add_error("addresses", NO_MAIL)
    if not form.is_valid():
        return _show(request, group, addresses_form=form)
    given = form.cleaned_data["addresses"]
    with logged(request, "invited people by e-mail", f"{group.name}: {len(given)} addresses"):
        new = mail_invitations.add_addresses(group=group, addresses=given, at=clock.now())
    earlier = len(given) - new
    sent = "are being sent" if group.is_open else "are sent once new people can join"
    messages.success(
        request,
        f"{new} new on the list. Their mails {sent}."
        + (f" {earlier} had been on it before and get no second mail." if earlier else ""),
    )
    return redirect("operator:people_group", pk)


@operator_page("POST")
def send_again(request: OperatorRequest, pk: int) -> HttpResponse:
    """Send mails again of which nobody knows whether they were sent."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    with logged(request, "sent failed invitations again", group.name):
        number = mail_invitations.try_again(group=group, at=clock.now())
    messages.success(request, f"Failed mails that are being sent again: {number}.")
    return redirect("operator:people_group", pk)


@operator_page("POST")
def withdraw(request: OperatorRequest, pk: int, public_id: str) -> HttpResponse:
    """Withdraw a member's work, because the person asked for it."""
    members_of = Membership.objects.select_related("group", "worker")
    membership = get_object_or_404(members_of, group__pk=pk, worker__public_id=public_id)
    success = (
        f"The work of {membership.worker.name} is withdrawn. "
        "Campaigns learn of it by their next sync."
    )
    with logged_with_message(request, "withdrew a person's work", public_id, success):
        people_groups.withdraw(membership=membership, by=WithdrawnBy.OPERATOR, at=clock.now())
    return redirect("operator:people_group", pk)


@operator_page("GET")
def hours_csv(request: OperatorRequest, pk: int) -> StreamingHttpResponse:
    """Download hours and tasks by person, of all time or of one month (`month=2026-03`)."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    span = _month(request.GET.get("month", ""))
    work = people_work.work_by_person(
        group=group, since=span.start if span else None, before=span.end if span else None
    )
    name = f"hours-{pk}{f'-{span.start:%Y-%m}' if span else ''}"
    rows = (person.row for person in work)
    return csv_download(name, csv_lines(people_work.HOURS_COLUMNS, rows))


def _month(text: str) -> Month | None:
    """The month in a text such as 2026-03; None if it is empty. Raises Http404 if it is invalid."""
    if not text:
        return None
    match = re.fullmatch("([0-9]{4})-([0-9]{2})", text)
    if match is None:
        raise Http404("Month not found.")
    return Month.of(int(match[1]), int(match[2]))


@operator_page("GET")
def withdrawals_csv(_request: OperatorRequest, pk: int) -> StreamingHttpResponse:
    """Download the withdrawn assignments, which the requester site imports."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    rows = people_work.withdrawals(group.offers.all())
    lines = csv_lines(people_work.WITHDRAWAL_COLUMNS, rows)
    return csv_download(f"withdrawals-{pk}", lines)


@operator_page("POST")
def offer(request: OperatorRequest, pk: int) -> HttpResponse:
    """Show tasks to a group, or change each person's share of them."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    form = OfferForm(request.POST, all_at=_all_at(request, pk))
    if not form.is_valid():
        return _show(request, group, offer_form=form)
    with logged(request, "gave a group of people tasks", group.name):
        made = people_groups.offer(group=group, **form.cleaned_data)
    messages.success(request, "The group sees these tasks now.")
    if asked := asked_of_newcomers(made.hit_type):
        messages.warning(
            request,
            f"New people cannot do them. The requester asks for: {'; '.join(asked)}. "
            "A campaign for your own people asks for nothing.",
        )
    return redirect("operator:people_group", pk)


@operator_page("POST")
def close_offer(request: OperatorRequest, pk: int, offer_pk: int) -> HttpResponse:
    """Stop showing tasks to a group."""
    offer = get_object_or_404(Offer.objects.select_related("group"), pk=offer_pk, group__pk=pk)
    action = "closed tasks of a group of people"
    success = "The group no longer sees these tasks. Begun tasks can be finished."
    with logged_with_message(request, action, offer.group.name, success):
        people_groups.close_offer(offer=offer)
    return redirect("operator:people_group", pk)


@operator_page("POST")
def open_group(request: OperatorRequest, pk: int) -> HttpResponse:
    """Close a group to new people, or open it again."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    is_open = request.POST.get("open") == "yes"
    action = "opened a group of people" if is_open else "closed a group of people"
    success = "New people can join." if is_open else "Nobody new can join. Members stay."
    with logged_with_message(request, action, group.name, success):
        people_groups.set_open(group=group, is_open=is_open)
    return redirect("operator:people_group", pk)


@operator_page("POST")
def replace_link(request: OperatorRequest, pk: int) -> HttpResponse:
    """Give a group a new link; the earlier one stops working."""
    group = get_object_or_404(PeopleGroup, pk=pk)
    action, success = (
        "replaced the link of a group of people",
        "New link created. The earlier one no longer works.",
    )
    with logged_with_message(request, action, group.name, success):
        people_groups.replace_link(group=group)
    return redirect("operator:people_group", pk)
