"""Imports that run at the same time as other imports or readers, or are killed."""

import os
import signal
from contextlib import contextmanager
from typing import Any

import psycopg2
import pytest
from django.db import connection, connections

from annotate.models import Box, Image
from annotate.services import bulk, imports
from annotate.services.bulk import Counts
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER
from tests.factories import BoxFactory, CampaignFactory, ClassFactory, ImageFactory
from tests.threads import at_once

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # Python from 3.12 on warns of a child that takes another thread's lock along; ours is killed.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
on_postgresql = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="the keys of SQLite's tables stay where they are"
)

BOXES = 3_000


@pytest.fixture
def boxes_file(write_csv: Any, box_row: Any) -> Any:
    ClassFactory(label="/m/0bt9lr", name="Dog")
    ImageFactory(key="0001", split="validation")
    ImageFactory(key="0002", split="validation")
    rows = [
        box_row("0001" if number % 2 else "0002", XMin=f"0.{number:05}") for number in range(BOXES)
    ]
    return write_csv("boxes.csv", BOX_HEADER, rows)


def constraints() -> dict[str, tuple[int, str]]:
    """Number and definition of each constraint of the box table; a recreated one has a new
    number."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname, oid::int, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE conrelid = 'annotate_box'::regclass"
        )
        return {name: (number, rule) for name, number, rule in cursor.fetchall()}


def rules(found: dict[str, tuple[int, str]]) -> dict[str, str]:
    return {name: rule for name, (_, rule) in found.items()}


@contextmanager
def somebody_reads(table: str) -> Any:
    """Another transaction that has read the table and is still open."""
    other = psycopg2.connect(**connection.get_connection_params())
    try:
        other.cursor().execute(f"SELECT count(*) FROM {table}")
        yield
    finally:
        other.close()


def test_two_imports_of_a_file_at_once_take_each_box_in_once(boxes_file):
    def take_in(_: int) -> Counts:
        return imports.import_boxes(path=boxes_file, split="validation")

    first, second = sorted(at_once(take_in, range(2)), key=lambda counts: counts.new)

    assert (first, second) == (Counts(BOXES, 0, 0), Counts(BOXES, BOXES, 0))
    assert Box.objects.count() == BOXES


def test_imports_of_images_and_boxes_at_once_do_not_stop_each_other(
    boxes_file, write_csv, image_row
):
    images = write_csv("i.csv", IMAGE_HEADER, [image_row(f"1{number:03}") for number in range(500)])

    def take_in(item: int) -> Counts:
        if item % 2:
            return imports.import_boxes(path=boxes_file, split="validation")
        return imports.import_images(path=images, split="validation")

    counts = at_once(take_in, range(6))

    assert sorted(found.new for found in counts) == [0, 0, 0, 0, 500, BOXES]
    assert (Box.objects.count(), Image.objects.count()) == (BOXES, 502)


@on_postgresql
def test_a_first_import_makes_the_keys_anew_and_alike(boxes_file):
    before = constraints()

    imports.import_boxes(path=boxes_file, split="validation")

    after = constraints()
    assert rules(after) == rules(before)
    kept = {name for name in before if before[name] == after[name]}
    assert kept == {"box_lies_in_the_image"}


@on_postgresql
@pytest.mark.parametrize("table", ["annotate_box", "annotate_image", "annotate_objectclass"])
def test_readers_are_not_disturbed_and_the_boxes_are_imported_in_the_slower_way(
    boxes_file, table, monkeypatch
):
    monkeypatch.setattr(bulk, "LOCK_MILLISECONDS", 20)
    before = constraints()

    with somebody_reads(table):
        counts = imports.import_boxes(path=boxes_file, split="validation")

    assert counts == Counts(BOXES, BOXES, 0)
    assert constraints() == before


@on_postgresql
@pytest.mark.parametrize("reason", ["a campaign runs", "there are many others"])
def test_the_keys_stay_where_making_them_anew_would_disturb_or_take_longer(boxes_file, reason):
    if reason == "a campaign runs":
        CampaignFactory()
        size = BOXES
    else:
        BoxFactory.create_batch(60, image=ImageFactory(key="0003", split="train"))
        lines = boxes_file.read_text().splitlines(keepends=True)
        boxes_file.write_text("".join(lines[:2]))
        size = 1
    before = constraints()

    counts = imports.import_boxes(path=boxes_file, split="validation")

    assert counts == Counts(size, size, 0)
    assert constraints() == before


def test_an_import_that_is_killed_leaves_nothing_and_a_second_one_does_it_all(boxes_file):
    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            connection.commit = kill  # every row is written by then
            imports.import_boxes(path=boxes_file, split="validation")
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert not Box.objects.exists()

    counts = imports.import_boxes(path=boxes_file, split="validation")

    assert counts == Counts(BOXES, BOXES, 0)
    assert Box.objects.count() == BOXES
    assert imports.import_boxes(path=boxes_file, split="validation") == Counts(BOXES, 0, 0)
