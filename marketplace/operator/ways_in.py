"""The operator's pages of what lets people and HITs in: invitations, studies and layouts."""

from collections.abc import Callable
from datetime import timedelta

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.models import HitLayout, Invitation, Study
from marketplace.pages.sign_in import invitation_url
from marketplace.questions.layouts import gaps
from marketplace.services import accounts
from marketplace.services import layouts as layout_services
from marketplace.services import studies as study_services

from .access import OperatorRequest, logged, operator_required
from .forms import InvitationForm, LayoutForm, StudyForm
from .pages import newest_first

get_or_post = require_http_methods(["GET", "POST"])


def _made(
    request: OperatorRequest, form: forms.Form, action: str, about: str, make: Callable[[], object]
) -> bool:
    """Make what a valid form asks for; a refusal becomes the form's own problem."""
    try:
        with logged(request, action, about):
            make()
    except DomainError as error:
        form.add_error(None, str(error))
        return False
    return True


def _page(request: OperatorRequest, template: str, context: dict[str, object]) -> HttpResponse:
    form = context["form"]
    status = 400 if isinstance(form, forms.Form) and form.errors else 200
    return render(request, f"marketplace/operator/{template}.html", context, status=status)


@get_or_post
@operator_required
def invitations(request: OperatorRequest) -> HttpResponse:
    """All invitations with their links, and a form for one more."""
    form, at = InvitationForm(request.POST or None), clock.now()
    if form.is_valid():
        uses, days = form.cleaned_data["uses"], form.cleaned_data["days"]
        expires_at = at + timedelta(days=days)
        with logged(request, "made an invitation", f"{uses} accounts, {days} days"):
            accounts.invite(uses=uses, expires_at=expires_at, at=at)
        messages.success(request, "The invitation is made. Its link is in the list.")
        return redirect("operator:invitations")
    page = newest_first(request, Invitation.objects.all())
    rows = [
        (row, invitation_url(row) if row.uses_left and row.expires_at > at else "")
        for row in page.rows
    ]
    return _page(request, "invitations", {"form": form, "page": page, "rows": rows})


@require_POST
@operator_required
def end_invitation(request: OperatorRequest, pk: int) -> HttpResponse:
    """Let nobody make an account by the invitation any more."""
    found = get_object_or_404(Invitation, pk=pk)
    with logged(request, "ended an invitation", str(found)):
        accounts.end_invitation(invitation_id=pk, at=clock.now())
    messages.success(request, "The invitation's link makes no more accounts.")
    return redirect("operator:invitations")


@get_or_post
@operator_required
def studies(request: OperatorRequest) -> HttpResponse:
    """All studies with the addresses for their panels, and a form for one more."""
    form = StudyForm(request.POST or None)
    if form.is_valid():
        name, hit_type = form.cleaned_data["name"], form.cleaned_data["hit_type"]
        if _made(request, form, "made a study", name, lambda: study_services.create_study(
            name=name, hit_type=hit_type, plan=form.plan(), at=clock.now()
        )):  # fmt: skip
            messages.success(request, "The study is made. Give the panel its address.")
            return redirect("operator:studies")
    found = Study.objects.select_related("hit_type").annotate(
        joined=Count("participations"),
        completed=Count("participations", filter=Q(participations__completed_at__isnull=False)),
    )
    page = newest_first(request, found)
    rows = [(row, study_services.panel_url(row)) for row in page.rows]
    return _page(request, "studies", {"form": form, "page": page, "rows": rows})


@require_POST
@operator_required
def open_study(request: OperatorRequest, slug: str) -> HttpResponse:
    """Close a study to newcomers, or open it again."""
    found = get_object_or_404(Study, slug=slug)
    is_open = request.POST.get("open") == "yes"
    with logged(request, "opened a study" if is_open else "closed a study", slug):
        study_services.set_open(study=found, is_open=is_open)
    told = "Participants can join" if is_open else "Nobody new can join"
    messages.success(request, f"{told} {found.name}.")
    return redirect("operator:studies")


@get_or_post
@operator_required
def layouts(request: OperatorRequest) -> HttpResponse:
    """All HIT layouts with the parameters that they take, and a form for one more."""
    form = LayoutForm(request.POST or None)
    if form.is_valid() and _made(
        request, form, "made a layout", form.cleaned_data["name"],
        lambda: layout_services.create_layout(**form.cleaned_data, at=clock.now()),
    ):  # fmt: skip
        messages.success(request, "The layout is made. HITs name it by its id.")
        return redirect("operator:layouts")
    page = newest_first(request, HitLayout.objects.select_related("requester"))
    rows = [(row, sorted(gaps(row.template))) for row in page.rows]
    return _page(request, "layouts", {"form": form, "page": page, "rows": rows})
