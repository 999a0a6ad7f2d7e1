"""The task type's own files; for captions those of COCO and nocaps."""

from collections.abc import Iterator

from annotate.exports.content import Content, File, encoded
from annotate.exports.formats.base import Format


def files(content: Content) -> Iterator[File]:
    for name, texts in content.own_files():
        yield File(name, encoded(texts))


COCO = Format(
    name="coco",
    title="COCO",
    about="the files of the task type; for captions the JSON files of COCO and nocaps",
    files=files,
)
