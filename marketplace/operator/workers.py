"""The operator's pages of workers: list, new workers, sign-in links, profile, suspension."""

from decimal import Decimal

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.models import Worker
from marketplace.operator.access import (
    OperatorRequest,
    form_page,
    found_in,
    get_or_post,
    logged,
    logged_with_message,
    newest_first,
    operator_required,
    search_of,
)
from marketplace.operator.forms import NewWorkersForm, WorkerForm
from marketplace.pages.links import sign_in_url
from marketplace.services import accounts, operators
from marketplace.services.money import balances
from marketplace.services.retention import data_of, erase_worker, obstacle_to_erasure


@get_or_post
@operator_required
def workers(request: OperatorRequest) -> HttpResponse:
    """List the workers, filtered by id or name; create workers on POST and show their links."""
    form = NewWorkersForm(request.POST or None)
    made = _make_workers(request, form) if form.is_valid() else []
    search = search_of(request)
    state = request.GET.get("state", "")
    found = Worker.objects.filter(found_in(search, "name", ids=("public_id",)))
    if state in ("active", "suspended"):
        found = found.filter(is_suspended=state == "suspended")
    page = newest_first(request, found)
    due = balances(Worker.objects.filter(pk__in=[row.pk for row in page.rows]))
    context = {
        "page": page,
        "rows": [(row, due.get(row.pk, 0)) for row in page.rows],
        "search": search,
        "state": state,
        "states": ["active", "suspended"],
        "form": NewWorkersForm() if made else form,
        "made": [(worker, sign_in_url(worker)) for worker in made],
        "link_days": settings.SIGN_IN_LINK_AGE.days,
    }
    return form_page(request, "workers.html", context)


def _make_workers(request: OperatorRequest, form: NewWorkersForm) -> list[Worker]:
    """The new workers; none, with an error in the form, if they cannot be created."""
    names = form.cleaned_data["names"]
    try:
        # Without the names: an erasure would not find them.
        with logged(request, "created workers", f"{len(names)} new"):
            return operators.make_workers(names=names, profile=form.profile(), at=clock.now())
    except DomainError as error:
        form.add_error("names", str(error))
        return []


@get_or_post
@operator_required
def worker(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Show a worker; change the profile on POST."""
    found = get_object_or_404(Worker, public_id=public_id)
    form = WorkerForm(request.POST or None, initial=_profile(found))
    if form.is_valid():
        with logged_with_message(
            request, "changed a worker", public_id, "Qualification values saved."
        ):
            operators.set_profile(worker=found, changes=form.changes())
        return redirect("operator:worker", public_id)
    return _show(request, found, form)


def _profile(found: Worker) -> dict[str, object]:
    return {
        "country": found.place,
        "approved": found.approved_count,
        "rejected": found.rejected_count,
        "is_master": found.is_master,
        "is_adult": found.is_adult,
    }


def _show(
    request: OperatorRequest, found: Worker, form: WorkerForm, *, link: str = ""
) -> HttpResponse:
    due = balances(Worker.objects.filter(pk=found.pk)).get(found.pk, Decimal())
    context = {
        "worker": found,
        "form": form,
        "link": link,
        "link_days": settings.SIGN_IN_LINK_AGE.days,
        "blocks": found.blocks.select_related("requester").order_by("-pk")[:20],
        "assignments": found.assignments.select_related("hit__hit_type").order_by("-pk")[:20],
        "due": due,
        "obstacle": obstacle_to_erasure(found, due),
    }
    return form_page(request, "worker.html", context)


@require_POST
@operator_required
def link(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Show a new link that signs the worker in. It is in no other page and in no log."""
    found = get_object_or_404(Worker, public_id=public_id)
    try:
        with logged(request, "created a sign-in link", public_id):
            operators.refuse_closed(found)
            url = sign_in_url(found)
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("operator:worker", public_id)
    return _show(request, found, WorkerForm(initial=_profile(found)), link=url)


@require_POST
@operator_required
def end_sessions(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Sign the worker out everywhere and make all earlier links invalid."""
    found = get_object_or_404(Worker, public_id=public_id)
    done = "The worker is signed out. Earlier sign-in links no longer work."
    with logged_with_message(request, "ended a worker's sessions", public_id, done):
        accounts.end_all_sessions(worker=found)
    return redirect("operator:worker", public_id)


@require_POST
@operator_required
def suspend(request: OperatorRequest, public_id: str) -> HttpResponse:
    found = get_object_or_404(Worker, public_id=public_id)
    is_suspended = request.POST.get("suspended") == "yes"
    action, done = (
        ("suspended a worker", "Worker suspended.")
        if is_suspended
        else ("ended a suspension", "Suspension ended.")
    )
    with logged_with_message(request, action, public_id, done):
        operators.suspend(worker=found, is_suspended=is_suspended)
    return redirect("operator:worker", public_id)


@never_cache
@require_safe
@operator_required
def data(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Everything stored about a worker, as a JSON file."""
    found = get_object_or_404(Worker, public_id=public_id)
    with logged(request, "exported a worker's data", public_id):
        values = data_of(found)
    name = f'attachment; filename="{found.public_id}.json"'
    params = {"indent": 2, "ensure_ascii": False}
    return JsonResponse(values, json_dumps_params=params, headers={"Content-Disposition": name})


@require_POST
@operator_required
def erase(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Erase a worker's personal data, if the operator typed the worker's id."""
    found = get_object_or_404(Worker, public_id=public_id)
    if request.POST.get("typed", "").strip().upper() != found.public_id.upper():
        messages.error(request, f"Nothing was erased. Type {found.public_id} to confirm.")
        return redirect("operator:worker", public_id)
    done = "The personal data is erased, and the account is closed."
    with logged_with_message(request, "erased a worker's data", "erased worker", done):
        erase_worker(worker=found, at=clock.now())
    return redirect("operator:worker", public_id)
