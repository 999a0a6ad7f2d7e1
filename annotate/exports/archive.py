"""A ZIP archive that is made while it is read."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotate.exports.content import File
from annotate.exports.pipe import Pipe

MODE = 0o100644 << 16


def zipped(files: Iterable[File], *, folder: str, at: datetime) -> Iterator[bytes]:
    """An archive of the files in a folder, in chunks; the same files give the same bytes."""
    pipe = Pipe()
    with ZipFile(pipe, "w") as archive:
        for file in files:
            about = ZipInfo(f"{folder}/{file.name}", at.timetuple()[:6])
            about.compress_type, about.external_attr = ZIP_DEFLATED, MODE
            with archive.open(about, "w", force_zip64=True) as entry:
                for chunk in file.chunks:
                    entry.write(chunk)
                    yield pipe.take()
            yield pipe.take()
    yield pipe.take()
