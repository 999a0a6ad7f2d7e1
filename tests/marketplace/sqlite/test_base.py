"""Writers of an SQLite marketplace get the database in the order in which they asked."""

import threading

import pytest
from django.db import OperationalError, connection, transaction

from marketplace.models import Worker
from marketplace.sqlite.base import Turns, turns_at
from tests.marketplace.factories import make_worker
from tests.servers import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="PostgreSQL queues writers itself"
)


def test_a_lock_that_is_taken_again_at_once_goes_to_those_who_wait_first():
    turns, order = Turns(), []
    assert turns.take(0)

    def wait_in_line(name: str) -> None:
        assert turns.take(PATIENCE)
        order.append(name)
        turns.give_up()

    threads = []
    for place, name in enumerate("bcd"):
        threads.append(threading.Thread(target=wait_in_line, args=(name,)))
        threads[-1].start()
        wait_until(lambda place=place: len(turns._waiting) == place + 1)
    turns.give_up()
    wait_in_line("a")
    for thread in threads:
        thread.join(PATIENCE)

    assert order == ["b", "c", "d", "a"]


def test_a_thread_that_waited_in_vain_leaves_the_line():
    turns = Turns()
    assert turns.take(0)

    assert not turns.take(0.001)
    turns.give_up()

    assert turns.take(0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("in_transaction", [True, False])
def test_a_waiting_writer_is_not_overtaken(in_transaction):
    """The first writer asks again before its turn ends, as a busy thread does."""
    make_worker()
    turns, order = turns_at(str(connection.settings_dict["NAME"])), []

    def write(name: str) -> None:
        if in_transaction:
            with transaction.atomic():
                order.append(name)
        else:
            Worker.objects.update(country=name)
            order.append(name)

    def rival() -> None:
        write("BB")
        connection.close()

    thread = threading.Thread(target=rival)
    with transaction.atomic():
        thread.start()
        wait_until(lambda: len(turns._waiting) == 1)
    write("AA")
    thread.join(PATIENCE)

    assert order == ["BB", "AA"]


@pytest.mark.django_db(transaction=True)
def test_a_turn_ends_with_its_transaction_however_that_ends():
    turns = turns_at(str(connection.settings_dict["NAME"]))

    with pytest.raises(ValueError, match="undone"), transaction.atomic():
        raise ValueError("undone")
    assert not turns._is_taken
    with transaction.atomic():
        make_worker()
        assert turns._is_taken
    assert not turns._is_taken
    with transaction.atomic():
        connection.close()
        assert not turns._is_taken
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_does_not_come_in_time_is_an_error_of_the_database(monkeypatch):
    turns = turns_at(str(connection.settings_dict["NAME"]))
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.001)
    assert turns.take(0)

    with pytest.raises(OperationalError, match="locked"), transaction.atomic():
        pass
    turns.give_up()

    with transaction.atomic():
        make_worker()
    assert Worker.objects.count() == 1
