"""Image files: those that were imported, and the copies that pages and tasks show."""

import logging
from hashlib import sha256

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe
from django.views.static import serve

from annotate.images import copies as image_copies
from annotate.images.files import BrokenImage
from annotate.models import Image

logger = logging.getLogger(__name__)


@require_safe
def media(request: HttpRequest, path: str) -> HttpResponse | FileResponse:
    """An imported image file, for members of teams; pages show copies of it.

    Only an image's row gives access to a file: the row that names exactly this path. Without one,
    and if one of them is another team's, the file is not found.
    """
    named = Image.objects.exclude(file="").filter(file=path)
    image = named.visible_to(request.user).first()
    if image is None or named.count() > named.visible_to(request.user).count():
        raise Http404("There is no such file.")
    try:
        response = serve(request, image.file, document_root=str(settings.MEDIA_ROOT))
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
