"""Addresses of static files."""

from functools import cache
from typing import Any

from django.contrib.staticfiles.storage import StaticFilesStorage


class KeptAddresses(StaticFilesStorage):
    """Django's storage, but it puts together the address of each file once.

    An address depends on the name and on settings, which do not change while a process runs.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url = cache(self.url)  # type: ignore[method-assign]
