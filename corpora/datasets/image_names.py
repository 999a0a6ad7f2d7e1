"""Find images by what files call them: by id, file name or address. Does not use Django."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import unquote

from corpora.datasets.sidecar import comparable
from corpora.reading.files import MalformedFile, decoded, open_text, short
from corpora.reading.json_files import NotJson, parse_json

Found = TypeVar("Found")
# Keys of an entry of a JSON list that can name its image, most exact first.
ID_KEYS = ("open_images_id", "image", "id")


def image_names(text: str) -> list[str]:
    """Possible keys of an image, most likely first.

    The text itself; its last part without suffix, if it is a path or URL, also without escapes such
    as %20; and the number in a COCO file name.
    """
    stem = _path(text).rsplit("/", 1)[-1]
    names = [text, stem, unquote(stem)]
    if number := re.fullmatch(r"(?:COCO_\w+_)?0*([1-9]\d*)", stem, re.ASCII):
        names.append(number[1])
    # No database finds an escaped NUL character.
    return [name for name in dict.fromkeys(names) if "\0" not in name]


def _path(text: str) -> str:
    """A path, or that of a URL, without its suffix."""
    # Names of files may have a number sign, which ends the path of a URL.
    ends = r"[?#]" if re.match("https?://", text) else r"\?"
    path = re.sub(r"^https?://[^/]*/", "", re.split(ends, text)[0].rstrip("/"))
    return re.sub(r"\.[A-Za-z]{3,4}$", "", path)


class Named(NamedTuple, Generic[Found]):
    """Something that is found by the names of its image; `file_name` is an own file's."""

    found: Found
    key: str
    file_name: str = ""
    url: str = ""


class ImageNames(Generic[Found]):
    """What belongs to images, by the images' names.

    A name that is an image's key means this image; then come whole file names, then the last parts
    of file names and addresses. A name that several images have at the same rank means none, and a
    path means no file that is in another folder.
    """

    def __init__(self, rows: Iterable[Named[Found]]) -> None:
        ranks: list[dict[str, Named[Found] | None]] = [{}, {}, {}]
        for row in rows:
            _, key, file_name, url = row
            # Tables do not keep blanks at the ends of a name.
            written = {file_name, file_name.strip(), url} if file_name or url else ()
            parts = [name for text in written for name in image_names(text)]
            for rank, names in zip(ranks, ([key], [comparable(file_name)], parts), strict=True):
                for name in filter(None, names):
                    rank[name] = row if rank.get(name, row) == row else None
        keys, files, others = ranks
        self._keys, self._names = keys, others | files | keys

    def find(self, text: str, file_name: str = "") -> Found | None:
        """What belongs to the image that the text names; None if it names none, or several.

        Unless the text is the key of an image, a `file_name` that goes with it decides.
        """
        if row := self._keys.get(text):
            return row.found
        text = file_name or text
        names = _spelled(text)
        row = next(filter(None, map(self._names.get, names)), None)
        if row is None:
            return None
        fits = _has_number(row, text) if row.key in names else _may_be(row, text)
        return row.found if fits else None

    def is_ambiguous(self, text: str) -> bool:
        """Whether the text names several images."""
        is_shared = any(self._names.get(name, True) is None for name in _spelled(text))
        return is_shared and self.find(text) is None


def _may_be(row: Named[Any], text: str) -> bool:
    """Whether the text can mean this file: if both have folders, they must be the same as far as
    they go. The file's address is its own, regardless of its name."""
    one, other = (
        f"/{comparable(unquote(_path(path)))}" for path in (text.strip(), row.file_name.strip())
    )
    has_folders = min(one.count("/"), other.count("/")) > 1
    return text == row.url or not has_folders or one.endswith(other) or other.endswith(one)


def _has_number(row: Named[Any], text: str) -> bool:
    """Whether the text is the image's id with a suffix at most, or the number in its file's name,
    if it has one, is the id."""
    is_id = _path(text).rsplit("/", 1)[-1] == row.key
    return is_id or not row.file_name or row.key in image_names(row.file_name)


def _spelled(text: str) -> list[str]:
    return [comparable(text), *image_names(text)]


def read_image_ids(path: Path) -> list[str]:
    """The ids in a file, as `image_ids_in`; raises MalformedFile."""
    with open_text(path) as text:
        return image_ids_in(str(path), text.read())


def decoded_image_ids(name: str, content: bytes) -> list[str]:
    """The ids in a file whose content is in memory; raises MalformedFile."""
    return image_ids_in(name, decoded(name, content))


def image_ids_in(name: str, text: str) -> list[str]:
    """The ids in a text, in its order: one in each line, or those of a JSON list or of a COCO file;
    raises MalformedFile."""
    if not text.lstrip().startswith(("[", "{")):
        return [line.strip() for line in re.split("[\r\n]", text) if line.strip()]
    try:
        content = parse_json(text)
    except NotJson as error:
        raise MalformedFile(name, str(error), error.line) from error
    images = content.get("images") if isinstance(content, dict) else content
    if not isinstance(images, list):
        raise MalformedFile(name, "there is no list of images")
    return [_id_of(name, number, image) for number, image in enumerate(images)]


def _id_of(name: str, number: int, image: Any) -> str:
    if isinstance(image, dict):
        image = next((image[key] for key in ID_KEYS if key in image), None)
    if not isinstance(image, int | str) or isinstance(image, bool) or not str(image).strip():
        raise MalformedFile(name, f"images[{number}]: {short(image)} is not the id of an image")
    return str(image).strip()
