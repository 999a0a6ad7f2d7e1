"""The images that a user has picked for a selection, kept in the session while they browse."""

from collections.abc import Collection, Sequence

from django.http import HttpRequest

KEY = "picked_images"
MOST = 5_000


def picked_images(request: HttpRequest) -> list[int]:
    """Primary keys of the picked images, in the order in which they were picked."""
    found: list[int] = request.session.get(KEY, [])
    return found


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
