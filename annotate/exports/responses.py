"""The table of a release's responses, for task types that store answers in files."""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter

from annotate.exports.json_text import json_array
from annotate.exports.tables import CHUNK, Column, Extra, Row, Table, Type
from annotate.models import Release, ReleasedAnswer

WORKER = Column("worker", Type.INTEGER, "number of the worker in this release", Extra.WORKERS)
RESPONSE = Column("response", Type.INTEGER, "number of the response to this item, from 1")


def responses_table(release: Release, item: Column) -> Table:
    """The table `responses`; `item` is the column with the number of the released item."""
    return Table(
        "responses",
        "One row for each response that the release has.",
        [
            item,
            RESPONSE,
            WORKER,
            Column("seconds", Type.INTEGER, "seconds that the worker spent on it", Extra.SECONDS),
        ],
        partial(_rows, release),
    )


def _rows(release: Release) -> Iterator[Row]:
    rows = ReleasedAnswer.objects.filter(image__release=release).order_by("image__number", "pk")
    columns = rows.values_list("image__number", "worker_number", "seconds")
    for item, responses in groupby(columns.iterator(CHUNK), itemgetter(0)):
        for number, (_, worker, seconds) in enumerate(responses, start=1):
            yield (item, number, worker, seconds)


def response_numbers(release: Release) -> dict[tuple[int, int], int]:
    """The number of each response, by its item and its worker."""
    return {(item, worker): number for item, number, worker, _ in _rows(release)}


def seconds_file(release: Release) -> Iterator[str]:
    """`seconds.json`: the seconds of each response, by the number of its released item."""
    yield from json_array(
        {"id": item, "response": number, "seconds": seconds}
        for item, number, _, seconds in _rows(release)
    )
    yield "\n"
