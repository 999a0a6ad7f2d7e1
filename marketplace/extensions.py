"""What other apps add to the marketplace, which itself knows none of them.

An app registers an Extension in its module `extension`, which is imported when the first question
is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern
from django.utils.module_loading import autodiscover_modules

from marketplace.models import Participation, Study, Worker


class Step(Protocol):
    """A periodic action; returns how much it did, and is called again until that is 0."""

    __name__: str

    def __call__(self, *, at: datetime) -> int: ...


@dataclass(frozen=True)
class Extension:
    """What one app adds."""

    urls: Sequence[URLPattern]
    # Under /operator/, in the namespace `operator`.
    operator_urls: Sequence[URLPattern]
    # Each runs in a thread beside the web server.
    steps: Sequence[Step]
    # Checks who opens or sends the first page of a study, by a GET or a POST with this id; returns
    # hidden fields of the page's form. Raises DomainError, whose message the participant reads.
    check_arrival: Callable[[HttpRequest, Study, str], Mapping[str, str]]
    # Dollars of workers' earnings that are paid elsewhere, by the worker's primary key.
    credits: Callable[[QuerySet[Worker] | None], Mapping[int, Decimal]]
    # Why the worker's account is still needed; empty if it is not.
    obstacle_to_erasure: Callable[[Worker], str]
    # Participations that wait for a decision elsewhere.
    undecided: Callable[[], QuerySet[Participation]]
    # What the app stores about the worker, for the file with all of the worker's data.
    data_of: Callable[[Worker], Mapping[str, Any]]


_extensions: list[Extension] = []


def register(extension: Extension) -> None:
    _extensions.append(extension)


def extensions() -> Sequence[Extension]:
    """What the installed apps add."""
    autodiscover_modules("extension")
    return _extensions
