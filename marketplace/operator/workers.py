"""The operator's pages of workers: list, new workers, sign-in links, profile, suspension."""

from decimal import Decimal

from django.conf import settings
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.models import Worker
from marketplace.operator.base import (
    OperatorRequest,
    form_page,
    found_in,
    logged,
    logged_with_message,
    newest_first,
    operator_page,
    search_of,
)
from marketplace.operator.forms import NewWorkersForm, WorkerForm
from marketplace.services import accounts, operators
from marketplace.services.links import sign_in_url
from marketplace.services.money import balances
from marketplace.services.retention import data_of, erase_worker, obstacle_to_erasure

# A closed account is suspended, too.
STATES = {
    "active": Q(is_suspended=False),
    "suspended": Q(is_suspended=True, erased_at=None),
    "closed": Q(erased_at__isnull=False),
}


@operator_page("GET", "POST")
def workers(request: OperatorRequest) -> HttpResponse:
    """List the workers, filtered by id or name; create workers on POST and show their links."""
    form = NewWorkersForm(request.POST or None)
    made = _make_workers(request, form) if form.is_valid() else []
    search = search_of(request)
    state = request.GET.get("state", "")
    workers = Worker.objects.filter(found_in(search, "name", ids=("public_id",)))
    if state in STATES:
        workers = workers.filter(STATES[state])
    page = newest_first(request, workers)
    due = balances(Worker.objects.filter(pk__in=[row.pk for row in page.rows]))
    context = {
        "page": page,
        "rows": [(row, due.get(row.pk, 0)) for row in page.rows],
        "search": search,
        "state": state,
        "states": list(STATES),
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
            return operators.make_workers(names=names, columns=form.columns(), at=clock.now())
    except DomainError as error:
        form.add_error("names", str(error))
        return []


@operator_page("GET", "POST")
def worker(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Show a worker; change the profile on POST."""
    worker = get_object_or_404(Worker, public_id=public_id)
    form = WorkerForm(request.POST or None, initial=_profile(worker))
    if form.is_valid():
        with logged_with_message(
            request, "changed a worker", public_id, "Qualification values saved."
        ):
            operators.set_profile(worker=worker, changes=form.changes())
        return redirect("operator:worker", public_id)
    return _show(request, worker, form)


def _profile(worker: Worker) -> dict[str, object]:
    return {
        "country": worker.place,
        "approved": worker.approved_count,
        "rejected": worker.rejected_count,
        "is_master": worker.is_master,
        "is_adult": worker.is_adult,
    }


def _show(
    request: OperatorRequest, worker: Worker, form: WorkerForm, *, link: str = ""
) -> HttpResponse:
    due = balances(Worker.objects.filter(pk=worker.pk)).get(worker.pk, Decimal())
    context = {
        "worker": worker,
        "form": form,
        "link": link,
        "link_days": settings.SIGN_IN_LINK_AGE.days,
        "blocks": worker.blocks.select_related("requester").order_by("-pk")[:20],
        "assignments": worker.assignments.select_related("hit__hit_type").order_by("-pk")[:20],
        "due": due,
        "obstacle": obstacle_to_erasure(worker, due),
    }
    return form_page(request, "worker.html", context)


@operator_page("POST")
def link(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Show a new link that signs the worker in. It is in no other page and in no log."""
    worker = get_object_or_404(Worker, public_id=public_id)
    try:
        with logged(request, "created a sign-in link", public_id):
            operators.refuse_closed(worker)
            url = sign_in_url(worker)
    except DomainError as error:
        messages.error(request, str(error))
        return redirect("operator:worker", public_id)
    return _show(request, worker, WorkerForm(initial=_profile(worker)), link=url)


@operator_page("POST")
def end_sessions(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Sign the worker out everywhere and make all earlier links invalid."""
    worker = get_object_or_404(Worker, public_id=public_id)
    success = "The worker is signed out. Earlier sign-in links no longer work."
    with logged_with_message(request, "ended a worker's sessions", public_id, success):
        accounts.end_all_sessions(worker=worker)
    return redirect("operator:worker", public_id)


@operator_page("POST")
def suspend(request: OperatorRequest, public_id: str) -> HttpResponse:
    worker = get_object_or_404(Worker, public_id=public_id)
    is_suspended = request.POST.get("suspended") == "yes"
    action, success = (
        ("suspended a worker", "Worker suspended.")
        if is_suspended
        else ("ended a suspension", "Suspension ended.")
    )
    with logged_with_message(request, action, public_id, success):
        operators.suspend(worker=worker, is_suspended=is_suspended)
    return redirect("operator:worker", public_id)


@never_cache
@operator_page("GET", "HEAD")
def data(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Everything stored about a worker, as a JSON file."""
    worker = get_object_or_404(Worker, public_id=public_id)
    with logged(request, "exported a worker's data", public_id):
        values = data_of(worker)
    name = f'attachment; filename="{worker.public_id}.json"'
    params = {"indent": 2, "ensure_ascii": False}
    return JsonResponse(values, json_dumps_params=params, headers={"Content-Disposition": name})


@operator_page("POST")
def erase(request: OperatorRequest, public_id: str) -> HttpResponse:
    """Erase a worker's personal data, if the operator typed the worker's id."""
    worker = get_object_or_404(Worker, public_id=public_id)
    if request.POST.get("typed", "").strip().upper() != worker.public_id.upper():
        messages.error(request, f"Nothing was erased. Type {worker.public_id} to confirm.")
        return redirect("operator:worker", public_id)
    success = "The personal data is erased, and the account is closed."
    with logged_with_message(request, "erased a worker's data", "erased worker", success):
        erase_worker(worker=worker, at=clock.now())
    return redirect("operator:worker", public_id)
