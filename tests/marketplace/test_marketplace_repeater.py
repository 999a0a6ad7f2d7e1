"""Background threads continue after any error."""

import threading
from datetime import datetime

import pytest
from django.db import OperationalError

from marketplace.background import Repeater
from tests.servers import PATIENCE


@pytest.mark.parametrize("error", [OperationalError("locked"), ValueError("Invalid endpoint")])
def test_a_turn_that_fails_is_not_the_last(settings, caplog, error):
    settings.SWEEP_SECONDS = 0.001
    came_again = threading.Event()
    failures = [error]

    def step(*, at: datetime) -> int:
        if failures:
            raise failures.pop()
        came_again.set()
        return 0

    repeater = Repeater(step)
    repeater.start()
    try:
        assert came_again.wait(PATIENCE)
    finally:
        repeater.stop()

    assert "could not be finished" in caplog.text
