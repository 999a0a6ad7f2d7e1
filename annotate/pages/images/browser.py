"""Find images, look at one, and pick images for a selection."""

from collections.abc import Collection, Sequence

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from accounts.pages.lists import FilterForm, choice, search, stretch_of
from accounts.pages.signed_in import user_of
from accounts.rights import current_team
from annotate.exports.provenance import license_name
from annotate.images.files import original_url
from annotate.models import Image, Selection
from annotate.queries.images import NO_LICENCE, Split, drawn_boxes, found_images, licences, splits
from annotate.queries.keywords import keywords

KEY = "picked_images"
MOST = 5_000


def picked_images(request: HttpRequest) -> list[int]:
    """Primary keys of the picked images, in the order in which they were picked."""
    picked: list[int] = request.session.get(KEY, [])
    return picked


def add_picked(
    request: HttpRequest, shown: Collection[int], ticked: Sequence[int]
) -> tuple[int, bool]:
    """Pick the ticked images of a page, and unpick the others shown there.

    Returns the number of picked images, and whether some were left out because of MOST.
    """
    kept = [image for image in picked_images(request) if image not in shown or image in ticked]
    picked = list(dict.fromkeys([*kept, *ticked]))
    request.session[KEY] = picked[:MOST]
    return len(picked[:MOST]), len(picked) > MOST


def clear_picked(request: HttpRequest) -> None:
    request.session.pop(KEY, None)


PER_PAGE = 48
MOST_CHOICES = 200


class ImageFilters(FilterForm):
    name = search("File name, title or id")

    def __init__(
        self, request: HttpRequest, images: QuerySet[Image], available: list[Split]
    ) -> None:
        super().__init__(request)
        # `class` is a word of Python's.
        self.fields["class"] = search("Class", max_length=100)
        names = dict.fromkeys(split.name for split in available)
        # The name in the address, if there is no such split. The form keeps it as it is.
        asked = request.GET.get("split", "")
        self.unknown_split = "" if asked in names else asked
        listed = [*names, self.unknown_split] if self.unknown_split else names
        self.fields["split"] = choice("Split", [(name, name) for name in listed])
        self.fields["license"] = choice("Licence", _licence_choices(images))


def _licence_choices(images: QuerySet[Image]) -> list[tuple[str, str]]:
    return [
        (url or NO_LICENCE, license_name(url) if url else "not stated")
        for url in licences(images)[:MOST_CHOICES]
    ]


def visible_images(request: HttpRequest) -> QuerySet[Image]:
    """The images that the current team can select."""
    team = current_team(request)
    return Image.objects.of_team(team) if team else Image.objects.none()


def visible_selections(request: HttpRequest) -> QuerySet[Selection]:
    """The current team's selections."""
    return Selection.objects.of_team(current_team(request))


@require_safe
def images(request: HttpRequest) -> HttpResponse:
    """The images of all splits, the latest first, and those picked so far."""
    visible = visible_images(request)
    available = splits(visible)
    filters = ImageFilters(request, visible, available)
    picked = picked_images(request)
    searched = visible.none() if filters.unknown_split else visible
    stretch = stretch_of(
        found_images(searched, filters.chosen), request, by=("-pk",), per_page=PER_PAGE
    )
    context = {
        "filters": filters,
        "stretch": stretch,
        "splits": available,
        "picked": set(picked),
        "back": request.get_full_path(),
        "whole": _whole_split(request, available),
    }
    return render(request, "annotate/images/images.html", context)


def _whole_split(request: HttpRequest, known: Sequence[Split]) -> Split | None:
    """The split whose images are all listed, or None if others are listed or some are not."""
    given = {name for name, value in request.GET.items() if value} - {"after", "before"}
    if given != {"split"}:
        return None
    of_name = [split for split in known if split.name == request.GET["split"]]
    return of_name[0] if len(of_name) == 1 else None


@require_safe
def image(request: HttpRequest, pk: int) -> HttpResponse:
    """One image with its boxes and what is known of it."""
    image = get_object_or_404(Image.objects.visible_to(user_of(request)), pk=pk)
    selected = visible_selections(request).filter(selected__image=image).order_by("name")
    context = {
        "image": image,
        "original_url": original_url(image),
        "boxes": drawn_boxes(image),
        "keywords": keywords(image),
        "licence": license_name(image.license_url) if image.license_url else "",
        "selections": selected,
        "is_picked": image.pk in picked_images(request),
        "back": request.get_full_path(),
    }
    return render(request, "annotate/images/image.html", context)


@require_POST
def pick(request: HttpRequest) -> HttpResponse:
    """Add the ticked images of a page to those picked, and take the others of the page from them;
    or forget all."""
    if "clear" in request.POST:
        clear_picked(request)
        messages.info(request, "No image is picked any more.")
    else:
        shown, ticked = _numbers(request, "shown"), _numbers(request, "image")
        visible = set(visible_images(request).filter(pk__in=ticked).values_list("pk", flat=True))
        number, is_full = add_picked(request, shown, [pk for pk in ticked if pk in visible])
        if is_full:
            messages.warning(request, f"At most {number:,} images can be picked by hand.")
        else:
            messages.success(request, f"{number:,} image{'' if number == 1 else 's'} picked.")
    back = request.POST.get("back", "")
    # `redirect` takes any other text for the name of a view.
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if is_ours else "images:images")


def _numbers(request: HttpRequest, name: str) -> list[int]:
    return [
        int(word)
        for word in request.POST.getlist(name)
        if word.isascii() and word.isdigit() and len(word) <= 18
    ]
