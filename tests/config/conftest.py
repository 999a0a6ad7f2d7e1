"""Rows for every page of the site."""

import pytest

from tests.config.every_row import rows_of_every_page, world_of_a_team
from tests.worlds import renewed, shared_rows


@pytest.fixture(scope="module")
def shared_world(django_db_setup, django_db_blocker):
    with shared_rows(django_db_blocker):
        yield world_of_a_team()


@pytest.fixture
def world(shared_world):
    """Values of addresses of a team's rows, and a client of each user."""
    names, clients = shared_world
    return dict(names), renewed(clients)


@pytest.fixture(scope="module")
def shared_every_row(django_db_setup, django_db_blocker):
    with shared_rows(django_db_blocker):
        yield rows_of_every_page()


@pytest.fixture
def every_row(shared_every_row):
    """Values of addresses of rows for every page, and clients of users who see them all."""
    names, clients = shared_every_row
    return dict(names), renewed(clients)
