"""Import images: files from the browser, a folder of the server, or files of a dataset."""

from functools import partial
from unicodedata import normalize

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.timezone import localdate
from django.views.decorators.http import require_http_methods

from accounts.pages.once import once
from accounts.pages.signed_in import refusals_in, user_of
from accounts.rights import team_to_change
from annotate.import_forms import FORMS, ImportForm, begin_import, filled_form
from annotate.models import Image
from annotate.services import imports
from annotate.services.names import address_of, free_name
from background.pages.jobs import begin_job

CUT_OFF = (
    "The upload was cut off, so nothing was imported. Upload the files again; for a slow "
    "connection, in smaller parts."
)


@require_http_methods(["GET", "HEAD", "POST"])
@once()
def import_images(request: HttpRequest) -> HttpResponse:
    """Store an upload and request the job that imports it, or show the forms."""
    team = team_to_change(request)
    if request.method != "POST":
        return _page(request, {})
    kind = request.POST.get("kind", "")
    # The last field of each form. Without it, the end of the request is missing.
    if kind not in FORMS or "complete" not in request.POST:
        return _page(request, {}, problem=CUT_OFF, status=400)
    form = filled_form(kind, _named(request.POST), request.FILES, team, user_of(request))
    if form.is_valid():
        with refusals_in(form):
            return redirect(begin_import(form, partial(begin_job, request)))
    return _page(request, {kind: form}, status=422)


def _named(data: QueryDict) -> QueryDict:
    """The fields of a page's form. Any name of one's own photographs becomes that of a split;
    programs have to give a valid one, because they refer to it."""
    split = data.get("split", "")
    if data.get("kind") != "own" or not split or imports.SPLIT_NAME.fullmatch(split):
        return data
    named = data.copy()
    address = address_of(split, "photographs")[:64]
    # Names that differ in other letters alone would be one split.
    if any(c.isalnum() and not c.isascii() for c in normalize("NFKD", split)):
        address = free_name(Image.objects.all(), address[:60], field="split")
    named["split"] = address
    return named


def _page(
    request: HttpRequest, given: dict[str, ImportForm], *, problem: str = "", status: int = 200
) -> HttpResponse:
    shown = {name: given.get(name) or form() for name, form in FORMS.items()}
    today = f"photographs-{localdate():%Y-%m-%d}"
    shown["own"].initial["split"] = free_name(Image.objects.all(), today, field="split")
    if not user_of(request).is_superuser:
        for form in shown.values():
            form.fields.pop("shared", None)
    context = {
        "forms": shown,
        "problem": problem,
        "most_megabytes": settings.UPLOAD_MAX_MB,
        "most_files": settings.UPLOAD_MAX_FILES,
    }
    return render(request, "annotate/images/import.html", context, status=status)
