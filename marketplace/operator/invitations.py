"""The operator's pages of invitations, studies and HIT layouts."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.models import HitLayout, Invitation, Study
from marketplace.operator.base import (
    OperatorRequest,
    all_at,
    form_page,
    logged,
    logged_with_message,
    newest_first,
    operator_page,
)
from marketplace.operator.forms import InvitationForm, LayoutForm, StudyForm
from marketplace.questions.documents import gaps
from marketplace.services import accounts, hit_types
from marketplace.services import studies as study_services
from marketplace.services.links import invitation_url


def _list_and_make(
    request: OperatorRequest,
    name: str,
    form: forms.Form,
    *,
    make: Callable[[], object],
    texts: tuple[str, str, str],
    rows: QuerySet[Any],
    extra: Callable[[Any], object],
) -> HttpResponse:
    """List all rows with a form that creates one more.

    `texts` are the action and its object for the activity log, and the message to the operator. The
    object may contain the form's fields in braces. `extra` computes a value of each row that the
    table shows in addition to the row's fields.
    """
    action, about, success = texts
    if form.is_valid():
        try:
            with logged(request, action, about.format_map(form.cleaned_data)):
                make()
        except DomainError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, success)
            return redirect(f"operator:{name}")
    page = newest_first(request, rows)
    context = {"form": form, "page": page, "rows": [(row, extra(row)) for row in page.rows]}
    return form_page(request, f"{name}.html", context)


@operator_page("GET", "POST")
def invitations(request: OperatorRequest) -> HttpResponse:
    """List the invitations with their links; create one on POST."""
    form, at = InvitationForm(request.POST or None), clock.now()

    def make() -> None:
        uses, days = form.cleaned_data["uses"], form.cleaned_data["days"]
        accounts.invite(uses=uses, expires_at=at + timedelta(days=days), at=at)

    return _list_and_make(
        request,
        "invitations",
        form,
        make=make,
        texts=(
            "created an invitation",
            "{uses} accounts, {days} days",
            "Invitation created. Its link is in the list.",
        ),
        rows=Invitation.objects.all(),
        extra=lambda row: invitation_url(row) if row.uses_left and row.expires_at > at else "",
    )


@operator_page("POST")
def end_invitation(request: OperatorRequest, pk: int) -> HttpResponse:
    """End an invitation: its link creates no further accounts."""
    invitation = get_object_or_404(Invitation, pk=pk)
    with logged_with_message(
        request, "revoked an invitation", str(invitation), "Invitation revoked."
    ):
        accounts.end_invitation(invitation_id=pk, at=clock.now())
    return redirect("operator:invitations")


@operator_page("GET", "POST")
def studies(request: OperatorRequest) -> HttpResponse:
    """List the studies with the URLs for their panels; create one on POST."""
    form = StudyForm(
        request.POST or None,
        initial={"hit_type": request.GET.get("hit_type", "")[:64]},
        all_at=all_at(request, request.path),
    )

    def make() -> None:
        study_services.create_study(study=Study(**form.cleaned_data), at=clock.now())

    return _list_and_make(
        request,
        "studies",
        form,
        make=make,
        texts=("created a study", "{name}", "Study created. Give its address to the panel."),
        rows=Study.objects.select_related("hit_type").annotate(
            joined=Count("participations"),
            completed=Count("participations", filter=Q(participations__completed_at__isnull=False)),
        ),
        extra=study_services.panel_url,
    )


@operator_page("POST")
def open_study(request: OperatorRequest, slug: str) -> HttpResponse:
    """Close a study to new participants, or open it again."""
    study = get_object_or_404(Study, slug=slug)
    is_open = request.POST.get("open") == "yes"
    action = "reopened a study" if is_open else "closed a study"
    success = f"{study.name} is {'open' if is_open else 'closed'} to new participants."
    with logged_with_message(request, action, slug, success):
        study_services.set_open(study=study, is_open=is_open)
    return redirect("operator:studies")


@operator_page("GET", "POST")
def layouts(request: OperatorRequest) -> HttpResponse:
    """List the HIT layouts with their parameters; create one on POST."""
    form = LayoutForm(request.POST or None)
    return _list_and_make(
        request,
        "layouts",
        form,
        make=lambda: hit_types.create_layout(**form.cleaned_data, at=clock.now()),
        texts=("created a layout", "{name}", "Layout created. HITs use it by its id."),
        rows=HitLayout.objects.select_related("requester"),
        extra=lambda row: sorted(gaps(row.template)),
    )
