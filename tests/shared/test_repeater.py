"""Repeated work continues after any error."""

import threading

import pytest
from django.db import OperationalError

from shared.repeater import LONGEST_PAUSE, Repeater
from tests.pauses import Stopped, nothing
from tests.servers import PATIENCE


@pytest.mark.parametrize("error", [OperationalError("locked"), ValueError("Invalid endpoint")])
def test_a_turn_that_fails_is_not_the_last(caplog, error):
    came_again = threading.Event()
    failures = [error]

    def step() -> None:
        if failures:
            raise failures.pop()
        came_again.set()

    repeater = Repeater("step", step, every=0.001)
    repeater.start()
    try:
        assert came_again.wait(PATIENCE)
    finally:
        repeater.stop()

    assert "A turn of step could not be finished" in caplog.text
    assert (caplog.records[0].exc_info is None) == isinstance(error, OperationalError)


def test_a_step_is_repeated_at_once_while_it_has_more_to_do():
    left = [1, 2, 3]
    done = threading.Event()

    def step() -> int:
        if not left:
            done.set()
            return 0
        return left.pop()

    repeater = Repeater("step", step, every=0.001)
    repeater.start()
    try:
        assert done.wait(PATIENCE)
    finally:
        repeater.stop()


# The step runs in this thread, which may have a connection from an earlier test.
@pytest.mark.django_db
def test_pauses_grow_with_each_failure_in_a_row_and_not_for_ever(pauses):
    failures = [*[OperationalError("no route to host")] * 6, None]

    def step() -> None:
        if error := failures.pop(0):
            raise error

    pauses.actions = [nothing] * 7
    with pytest.raises(Stopped):
        Repeater("step", step, every=0.5).run()

    assert pauses == [0.5, 1, 2, 4, 8, LONGEST_PAUSE, LONGEST_PAUSE, 0.5]
