"""Names of files: of those that are being written, and of uploads before their import."""

from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler

# A finished file never has this suffix: it gets its own name when it is complete.
SUFFIX = ".part"


class TemporaryFiles(TemporaryFileUploadHandler):
    """Django's handler, whose files have names of their own.

    Django's take the suffix of the uploaded file's name, and no file system has room for a long
    one.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = TemporaryUploadedFile(
            "upload", self.content_type, 0, self.charset, self.content_type_extra
        )
        self.file.name = self.file_name
