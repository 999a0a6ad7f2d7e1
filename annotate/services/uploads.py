"""Uploaded files of an import, which wait in their own folder until a job has imported them.

A file is stored under a number, and a list keeps its name: so no name can lead out of the folder,
and any name is possible.
"""

import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from annotate.services.own_images import OwnFile, is_system_file
from corpora.errors import DomainError
from corpora.reading.files import is_folder
from corpora.reading.zip_files import Contents, UnsafeName, check_zip, safe_name, unpack

NAMES = "names.json"
FILES = "files"
UNPACKED = "unpacked"
MEGABYTE = 1_000_000
# Uploads whose import has failed can be tried again for this long.
KEPT = timedelta(days=7)


class UploadMissing(DomainError):
    """The uploaded files no longer exist."""


class Upload(NamedTuple):
    """A stored upload: its folder, and the names of its files by their path in the folder."""

    folder: Path
    names: Mapping[str, str]


def is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def store_upload(files: Sequence[tuple[str, UploadedFile]]) -> str:
    """Store files under these names, and return the upload's key; raises DomainError.

    All are stored or none. ZIP archives are checked, and unpacked later.
    """
    _check_limits(files)
    key = uuid.uuid4().hex
    folder = _folder(key)
    (folder / FILES).mkdir(parents=True)
    try:
        names: dict[str, str] = {}
        left = Contents(settings.UNPACKED_MAX_FILES, settings.UNPACKED_MAX_MB * MEGABYTE)
        for number, (name, file) in enumerate(files):
            # Readers of datasets know a compressed file by its suffix.
            suffix = ".gz" if name.lower().endswith(".gz") else ""
            path = folder / FILES / f"{number:06}{suffix}"
            with path.open("wb") as out:
                for chunk in file.chunks():
                    out.write(chunk)
            names[f"{FILES}/{path.name}"] = safe_name(name)
            if is_zip(name):
                contents = check_zip(path, name, most_files=left.files, most_bytes=left.size)
                left = Contents(left.files - contents.files, left.size - contents.size)
        (folder / NAMES).write_text(json.dumps(names), encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return key


def _check_limits(files: Sequence[tuple[str, UploadedFile]]) -> None:
    if not files:
        raise DomainError("Choose at least one file.")
    if len(files) > settings.UPLOAD_MAX_FILES:
        raise DomainError(
            f"{len(files):,} files are too many for one upload: at most "
            f"{settings.UPLOAD_MAX_FILES:,} are allowed. Upload them in parts, or as a ZIP file."
        )
    if sum(file.size or 0 for _, file in files) > settings.UPLOAD_MAX_MB * MEGABYTE:
        raise DomainError(
            f"The files have more than {settings.UPLOAD_MAX_MB:,} MB together. Upload them in "
            "parts."
        )


def _folder(key: str) -> Path:
    # A job's arguments have the key in this form; nothing else leads to a folder.
    return Path(settings.UPLOAD_ROOT) / uuid.UUID(key).hex


def delete_old_uploads(*, at: datetime) -> int:
    """Delete uploads that nobody has imported for KEPT; return their number."""
    root, deleted = Path(settings.UPLOAD_ROOT), 0
    for folder in root.iterdir() if root.is_dir() else ():
        # Another process may delete it at the same time.
        with suppress(FileNotFoundError):
            if folder.is_dir() and at.timestamp() - folder.stat().st_mtime > KEPT.total_seconds():
                shutil.rmtree(folder, ignore_errors=True)
                deleted += not folder.exists()
    return deleted


def find_upload(key: str) -> Upload:
    """The stored upload; raises UploadMissing."""
    folder = _folder(key)
    try:
        names = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    except OSError as error:
        raise UploadMissing(
            "The uploaded files are not there any more: they are deleted after an import, and a "
            "week after an import that failed. Upload them again."
        ) from error
    return Upload(folder, names)


def drop_upload(key: str) -> None:
    """Delete an upload. Deleting it twice changes nothing."""
    shutil.rmtree(_folder(key), ignore_errors=True)


def uploaded_path(upload: Upload, name: str) -> Path:
    """The path of the uploaded file of this name; raises UploadMissing."""
    for path, stored in upload.names.items():
        if stored == name:
            return upload.folder / path
    raise UploadMissing(f"The upload has no file {name!r}.")


def own_files_of(
    upload: Upload, *, but: Path | None, progress: Callable[[int], Any]
) -> list[OwnFile]:
    """The upload's files with those of its archives, which are unpacked now; raises DomainError."""
    target = upload.folder / UNPACKED
    # A job that was killed may have left a part.
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    files: list[OwnFile] = []
    left = settings.UNPACKED_MAX_MB * MEGABYTE

    def place(name: str) -> Path:
        path = target / f"{len(files):06}"
        files.append(OwnFile(path, name))
        return path

    for stored, name in upload.names.items():
        path = upload.folder / stored
        if path == but:
            continue
        if is_zip(name):
            left -= unpack(path, name, place, most_bytes=left, progress=progress)
        else:
            files.append(OwnFile(path, name))
    return sorted(
        (file for file in files if not is_system_file(file.name)), key=lambda file: file.name
    )


def server_folder(name: str) -> Path:
    """A folder below IMAGES_FOLDER; raises DomainError if it is elsewhere, or if there is none."""
    if not settings.IMAGES_FOLDER:
        raise DomainError(
            "Folders of the server cannot be imported here, because the setting IMAGES_FOLDER is "
            "empty. Upload the files, or use the command import_images."
        )
    root = Path(settings.IMAGES_FOLDER).resolve()
    try:
        relative = "." if name in {"", "."} else safe_name(name)
    except UnsafeName as error:
        raise DomainError(f"{error} Give a path below the folder that is named.") from error
    folder = (root / relative).resolve()
    if not folder.is_relative_to(root) or not is_folder(folder):
        raise DomainError(
            f"There is no folder {name!r} on the server, below the one that is named."
        )
    return folder
