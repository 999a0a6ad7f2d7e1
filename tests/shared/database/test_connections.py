"""Requests while the database cannot be reached."""

from contextlib import ExitStack

import pytest
from django.db import OperationalError, close_old_connections, connection
from django.test import Client
from django.utils import timezone

from accounts.services.api_tokens import issue_token
from shared.database import connections as database_away
from shared.logs import without_needless_traceback
from tests.connections import cut_connection, cuts_connections
from tests.factories import UserFactory

CUT_AT = "annotate_campaign"


class Cut:
    """Lets the connection fail at the first statement that reads campaigns."""

    def __init__(self, fail):
        self.fail, self.is_done = fail, False

    def around_query(self, execute, sql, params, many, context):
        if CUT_AT in sql and not self.is_done:
            self.is_done = True
            self.fail()
        return execute(sql, params, many, context)


def lock():
    raise OperationalError("database is locked")


def close_badly():
    """Fail as a cursor that is closed without a connection, whose error Django leaves as it is."""
    raise connection.Database.OperationalError("server closed the connection unexpectedly")


def break_down():
    raise ValueError


@pytest.fixture
def failing():
    """Lets the connection fail in a way."""
    with ExitStack() as stack:

        def start(fail):
            cut = Cut(fail)
            stack.enter_context(connection.execute_wrapper(cut.around_query))
            return cut

        yield start
    connection.close()


@pytest.fixture
def client():
    return Client(raise_request_exception=False)


ways = pytest.mark.parametrize(
    "way", [lock, close_badly, pytest.param(cut_connection, marks=cuts_connections)]
)


@ways
@pytest.mark.django_db(transaction=True)
def test_a_request_whose_connection_fails_is_to_be_repeated(client, failing, way, caplog):
    cut = failing(way)
    answer = client.get("/task/pilot/")

    assert cut.is_done
    assert answer.status_code == 503
    (entry,) = (each for each in caplog.records if each.name == "django.request")
    assert without_needless_traceback(entry)
    assert entry.exc_info is None
    assert int(answer.headers["Retry-After"]) > 0
    assert database_away.MESSAGE in answer.text

    close_old_connections()  # as a server does between requests
    assert client.get("/task/pilot/").status_code == 404


@ways
@pytest.mark.django_db(transaction=True)
def test_a_call_of_the_api_whose_connection_fails_is_to_be_repeated(client, failing, way):
    text = issue_token(user=UserFactory(), at=timezone.now())[1]
    cut = failing(way)
    answer = client.get("/api/campaigns/", headers={"Authorization": f"Token {text}"})

    assert cut.is_done
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.json()["code"] == "database_away"


@pytest.mark.django_db(transaction=True)
def test_another_error_does_not_ask_for_a_repetition(client, failing):
    cut = failing(break_down)
    answer = client.get("/task/pilot/")

    assert cut.is_done
    assert answer.status_code == 500
    assert "Retry-After" not in answer.headers
