"""A stand-in for Prolific in this process."""

import pytest

from simulation.prolific.state import World
from tests.marketplace.panels.people import connect


@pytest.fixture
def world() -> World:
    """Prolific's studies, submissions and money, as the stand-in keeps them."""
    return World()


@pytest.fixture
def panel_api(world, settings, monkeypatch):
    """The connection to the stand-in, with its calls and its faults."""
    return connect(world, settings, monkeypatch)
