"""The operator's pages about one worker's personal data: find a worker, download, erase.

A worker may have worked for several teams, so these pages are for operators only. An id is posted
and never part of an address.
"""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.pages.signed_in import posted, refusals_in, refusals_shown, user_of
from annotate.models import Worker
from hits.models import WorkerAccount
from hits.queries.worker_data import data_of
from hits.services.accounts import worker_named
from hits.services.worker_data import erase_worker, obstacle_to_erasure, preview_erasure


def _require_operator(request: HttpRequest) -> None:
    """Raise PermissionDenied for everybody but operators (superusers)."""
    if not user_of(request).is_superuser:
        raise PermissionDenied(
            "Only operators of this site see the data of one worker, because a worker may have "
            "worked for several teams."
        )


class FindForm(forms.Form):
    name = forms.CharField(
        max_length=100,
        label="Worker id or pseudonym",
        help_text="The id that the worker has at the marketplace, or a pseudonym such as "
        "W-1A2B3C4D.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class EraseForm(forms.Form):
    pseudonym = forms.CharField(
        max_length=10,
        label="Type the pseudonym to confirm",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, worker: Worker, *args: Any) -> None:
        super().__init__(*args)
        self.worker = worker

    def clean_pseudonym(self) -> str:
        typed: str = self.cleaned_data["pseudonym"]
        if typed.upper() != self.worker.pseudonym:
            raise forms.ValidationError(f"Type {self.worker} to erase this worker's data.")
        return typed


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def find(request: HttpRequest) -> HttpResponse:
    """Find a worker by id or pseudonym."""
    _require_operator(request)
    form = FindForm(posted(request))
    if form.is_valid():
        with refusals_in(form, "name"):
            worker = worker_named(form.cleaned_data["name"])
            return redirect("hits:worker_data", worker.pseudonym)
    context = {"form": form, "days": settings.WORKER_DATA_DAYS}
    return render(request, "hits/find_worker.html", context, status=400 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def worker_data(request: HttpRequest, pseudonym: str) -> HttpResponse:
    """Show what is stored about a worker and what erasing changes; erase it on POST."""
    _require_operator(request)
    worker = get_object_or_404(Worker, pseudonym=pseudonym)
    form = EraseForm(worker, posted(request))
    if form.is_valid():
        with refusals_shown(request):
            erase_worker(worker=worker, by=user_of(request), at=timezone.now())
            messages.success(request, f"The data of {worker} is erased.")
        return redirect("hits:worker_data", pseudonym)
    context = {
        "worker": worker,
        "account": WorkerAccount.objects.filter(worker=worker).select_related("erased_by").first(),
        "preview": preview_erasure(worker),
        "obstacle": obstacle_to_erasure(worker, timezone.now()),
        "form": form,
    }
    return render(request, "hits/worker_data.html", context, status=400 if form.errors else 200)


@never_cache
@require_safe
def download(request: HttpRequest, pseudonym: str) -> HttpResponse:
    """Everything stored about a worker, as a JSON file."""
    _require_operator(request)
    worker = get_object_or_404(Worker, pseudonym=pseudonym)
    return JsonResponse(
        data_of(worker),
        json_dumps_params={"indent": 2, "ensure_ascii": False},
        headers={"Content-Disposition": f'attachment; filename="{worker.pseudonym}.json"'},
    )
