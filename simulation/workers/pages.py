"""Read the contents of a task page from its HTML."""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from itertools import product

import PIL.Image
from bs4 import Tag

from hits.services.entry import CELL


class SiteError(Exception):
    """A page cannot be used by a worker's browser."""


@dataclass(frozen=True)
class CaptionItem:
    """An image to describe: its caption field, its URL, its keywords, and the reasons that a worker
    may choose in place of a caption, with the name of their field."""

    name: str
    image: str
    keywords: list[str]
    reasons: list[str]
    reason_name: str


@dataclass(frozen=True)
class WordField:
    """The field with the meaning of one word of a caption."""

    name: str
    is_required: bool


@dataclass(frozen=True)
class LinkItem:
    """A caption to link: its words in order, and the class of each box by the box's value."""

    image: str
    caption: str
    words: list[WordField]
    boxes: dict[str, str]


@dataclass(frozen=True)
class EditItem:
    """A text about an image to edit: its field, the image's URL and the text so far."""

    name: str
    image: str
    text: str


@dataclass(frozen=True)
class ComparisonItem:
    """Texts to compare, two by two in the order of the page, and the names of the questions."""

    image: str
    texts: list[str]
    names: list[str]


Item = CaptionItem | LinkItem | ComparisonItem | EditItem


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
    for sign, read in READERS.items():
        if found := fieldset.select_one(sign):
            return read(found, fieldset, str(image["src"]))
    raise SiteError("The task page has no field for an answer.")


def _caption_item(area: Tag, fieldset: Tag, image: str) -> CaptionItem:
    keywords = [li.get_text(strip=True) for li in fieldset.select("[data-keywords] li")]
    select = fieldset.select_one("select[name^=cannot_describe-]")
    values = [str(option["value"]) for option in select.select("option")] if select else []
    reasons = [value for value in values if value]
    name = str(select["name"]) if select else ""
    return CaptionItem(str(area["name"]), image, keywords, reasons, name)


def _edit_item(area: Tag, _fieldset: Tag, image: str) -> EditItem:
    return EditItem(str(area["name"]), image, area.get_text().strip())


def _link_item(sentence: Tag, fieldset: Tag, image: str) -> LinkItem:
    selects = {select["id"]: select for select in fieldset.select("select[id]")}
    chosen = [selects[word["data-select"]] for word in sentence.select("[data-word]")]
    return LinkItem(
        image=image,
        caption=sentence.get_text(),
        words=[WordField(str(select["name"]), select.has_attr("required")) for select in chosen],
        boxes={
            str(box["data-box"]): str(box["data-label"])
            for box in fieldset.select("[data-boxes] [data-box]")
        },
    )


def _comparison_item(_pair: Tag, fieldset: Tag, image: str) -> ComparisonItem:
    names = [str(choice["name"]) for choice in fieldset.select("input[type=radio]")]
    texts = [quotation.get_text() for quotation in fieldset.select(".pair blockquote")]
    return ComparisonItem(image, texts, list(dict.fromkeys(names)))


READERS: dict[str, Callable[[Tag, Tag, str], Item]] = {
    "textarea[name^=caption-]": _caption_item,
    "textarea[name^=text-]": _edit_item,
    "[data-sentence]": _link_item,
    ".pair": _comparison_item,
}
