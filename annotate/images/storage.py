"""Where copies of images are stored: in MEDIA_ROOT, or in a bucket of S3 (STORAGES in settings)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.files.storage import FileSystemStorage, Storage, storages

from annotate.images.files import write_atomically

if TYPE_CHECKING:
    from django.core.files import File

COPIES = "image-copies"


def copy_storage() -> Storage:
    return storages[COPIES]


class WholeFiles(FileSystemStorage):
    """Files in MEDIA_ROOT. Writing replaces a file: readers see the old content or the new one."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:  # noqa: ARG002
        return name

    def _save(self, name: str, content: "File[Any]") -> str:
        write_atomically(Path(self.path(name)), content.read())
        return name
