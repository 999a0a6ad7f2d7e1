"""Pages of releases, downloads of their files, image files, and error pages."""

import logging
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe
from django.views.static import serve

from annotate.exports.formats import FORMATS
from annotate.images import copies as image_copies
from annotate.images.files import BrokenImage
from annotate.kinds import KINDS
from annotate.kinds.exporting import extras_of
from annotate.models import Image, Release
from annotate.pages.exports import ExportForm, days_kept, exports_of
from annotate.pages.paging import page_of
from annotate.pages.reports import report_of
from annotate.pages.signed_in import current_team, release_of
from annotate.queries.withdrawn import withdrawn_in

logger = logging.getLogger(__name__)


@require_safe
def releases(request: HttpRequest) -> HttpResponse:
    """List the releases of the team's campaigns, latest first."""
    rows = (
        Release.objects.of_team(current_team(request))
        .select_related("campaign")
        .annotate(image_count=Count("images"))
    )
    rows = rows.order_by("-created_at", "-pk")
    return render(request, "annotate/releases.html", {"page": page_of(rows, request)})


@require_safe
def release(request: HttpRequest, name: str) -> HttpResponse:
    """Show a release: its contents, its files and its first images."""
    found = release_of(request, name)
    kind = KINDS[found.campaign.kind]
    images = found.images.select_related("task__image", "task__campaign")
    context = {
        "release": found,
        "campaign": found.campaign,
        "kind": kind,
        "files": list(kind.files_of(found)),
        "formats": FORMATS.values(),
        "extras": extras_of(found),
        "export_form": ExportForm(found),
        "exports": exports_of(found),
        "archive_days": days_kept(),
        "image_count": found.images.count(),
        "report": report_of(found),
        "withdrawn_count": withdrawn_in(found),
        **(_hidden(found) if found.hidden else {}),
        "page": page_of(images.prefetch_related(*kind.released_relations), request, per_page=10),
    }
    return render(request, "annotate/release.html", context)


def _hidden(release: Release) -> dict[str, Any]:
    """How many images have hidden captions, and who exported them."""
    return {
        "hidden_count": release.images.filter(is_hidden=True).count(),
        "hidden_exports": release.hidden_exports.select_related("actor"),
    }


@require_safe
def release_file(request: HttpRequest, name: str, file: str) -> StreamingHttpResponse:
    """Download a file of a release."""
    return stream_release_file(release_of(request, name), file)


CONTENT_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}


def stream_release_file(found: Release, file: str) -> StreamingHttpResponse:
    """The streamed file; raises Http404 if there is no such file."""
    files = KINDS[found.campaign.kind].files_of(found)
    if file not in files:
        raise Http404(f"This release has no file {file!r}.")
    content_type = CONTENT_TYPES[PurePosixPath(file).suffix]
    response = StreamingHttpResponse(files[file](found), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{found.name}-{file}"'
    return response


@require_safe
def media(request: HttpRequest, path: str) -> HttpResponse | FileResponse:
    """An imported image file, for researchers; pages show copies of it.

    The file of another team's image is not found.
    """
    of_teams = Image.objects.filter(file=path, team__isnull=False)
    if of_teams.exists() and not of_teams.visible_to(request.user).exists():
        raise Http404("There is no such file.")
    try:
        response = serve(request, path, document_root=str(settings.MEDIA_ROOT))
    except OSError as error:  # Such as a name that is longer than the file system allows.
        raise Http404("There is no such file.") from error
    patch_cache_control(response, private=True, max_age=86_400)
    return response


@login_not_required
@require_safe
def image_copy(request: HttpRequest, size: str, pk: int, code: str) -> HttpResponse:
    """A copy of an image file, which is made now if it is missing.

    It is read from the bucket, if copies are in one, so that the bucket needs no public address.
    Needs no sign-in, because the marketplace's frame shows it to workers. The code in the URL is
    checked instead.
    """
    image = Image.objects.exclude(file="").filter(pk=pk).first()
    if image is None or size not in image_copies.SIZES or not image_copies.is_code_of(image, code):
        raise Http404("There is no such image.")
    try:
        content = image_copies.read_copy(image, size)
    except BrokenImage as error:
        logger.warning("No copy of the image %s: its file %s.", image.key, error)
        raise Http404("This image cannot be shown.") from error
    except image_copies.CopiesUnreachable as error:
        logger.warning("No copy of the image %s: %s", image.key, error)
        return HttpResponse(status=503)
    # Browsers ask again after a day, and get the copy again only if it has changed.
    etag = quote_etag(sha256(content).hexdigest())
    made = HttpResponse(content, content_type="image/jpeg", headers={"ETag": etag})
    response = get_conditional_response(request, etag=etag, response=made) or made
    patch_cache_control(response, public=True, max_age=86_400)
    return response


def not_found(request: HttpRequest, *_: object, **__: object) -> HttpResponse:
    return _error(request, 404, "Not found", "There is no page at this address.")


def forbidden(request: HttpRequest, exception: object = None, **_: object) -> HttpResponse:
    """The page for a refused request, with the sentence of the exception if it has one."""
    said = str(exception or "") or "Your account does not have permission to do this."
    return _error(request, 403, "Not allowed", said)


def bad_request(request: HttpRequest, **_: object) -> HttpResponse:
    return _error(request, 400, "Not understood", "This request is damaged or incomplete.")


def too_large(request: HttpRequest, reason: str) -> HttpResponse:
    return _error(request, 413, "Too large", reason)


def stale_form(request: HttpRequest, **_: object) -> HttpResponse:
    """The page for a failed CSRF check, most often because the session has changed."""
    return _error(
        request,
        403,
        "Form expired",
        "This form does not belong to your current session. Go back, reload the page and send it "
        "again. If that does not help, allow cookies for this site.",
    )


def _error(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    context = {"title": title, "message": message}
    return render(request, "annotate/error.html", context, status=status)
