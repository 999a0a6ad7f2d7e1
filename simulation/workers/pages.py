"""Read the contents of a task page from its HTML."""

from base64 import b64decode
from dataclasses import dataclass, field
from io import BytesIO
from itertools import product

import PIL.Image
from bs4 import Tag

from hits.services.first_questions import CELL


class SiteError(Exception):
    """A page cannot be used by a worker's browser."""


@dataclass(frozen=True)
class Item:
    """One task of a page: its part of the form, and the URL of its image."""

    part: Tag
    image: str


@dataclass(frozen=True)
class TaskForm:
    """The task's form: its items, its hidden fields and what the first page of a campaign asks,
    problems of an earlier answer, and the values of each rating that it asks for before its items.
    """

    action: str
    hidden: dict[str, str]
    items: list[Item]
    problems: list[str]
    ratings: dict[str, list[str]] = field(default_factory=dict)


def read_form(form: Tag) -> TaskForm:
    """Parse the form of a task page of any type; raises SiteError."""
    items = [_item(fieldset) for fieldset in form.select("fieldset.task")]
    if not items:
        raise SiteError("The task page has no field for an answer.")
    return TaskForm(
        action=str(form.get("action", "")),
        hidden=hidden_fields(form) | _entry(form),
        items=items,
        ratings=_ratings(form),
        problems=[li.get_text(strip=True) for li in form.select("[data-problems] li")],
    )


def hidden_fields(form: Tag) -> dict[str, str]:
    """Name and value of the form's inputs, as a browser submits them."""
    return {
        str(field["name"]): str(field.get("value", ""))
        for field in form.select("input[name]")
        if field.get("type") not in {"submit", "button", "checkbox", "radio"}
    }


def _entry(form: Tag) -> dict[str, str]:
    """The sentence to confirm, confirmed, and the number of dots in the picture."""
    boxes = form.select("input[type=checkbox][required]")
    values = {str(box["name"]): str(box["value"]) for box in boxes}
    if picture := form.select_one(".dots img"):
        content = b64decode(str(picture["src"]).partition(",")[2])
        values[str(form.select(".dots input")[0]["name"])] = str(_dots(content))
    return values


def _dots(content: bytes) -> int:
    """The number of dots in a picture, each in its own place."""
    with PIL.Image.open(BytesIO(content)) as picture:
        grey = picture.convert("L")
    corners = product(range(0, grey.width, CELL), range(0, grey.height, CELL))
    places = (grey.crop((x, y, x + CELL, y + CELL)) for x, y in corners)
    return sum(place.getextrema() != (255, 255) for place in places)


def _ratings(form: Tag) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for choice in form.select("fieldset.rate-first input[type=radio]"):
        values.setdefault(str(choice["name"]), []).append(str(choice["value"]))
    return values


def _item(fieldset: Tag) -> Item:
    image = fieldset.select_one("img[data-task-image]")
    if image is None:
        raise SiteError("The task page has no image.")
    return Item(fieldset, str(image["src"]))


def field_of(item: Item, selector: str) -> Tag:
    """The item's first element of this kind; raises SiteError if there is none."""
    found = item.part.select_one(selector)
    if found is None:
        raise SiteError("The task page has no field for an answer.")
    return found
