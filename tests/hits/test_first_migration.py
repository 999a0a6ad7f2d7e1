"""The migration that makes all tables at once, in place of the first ones of four apps."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from annotate.models import Membership, Team
from tests.databases import empty_database
from tests.migrations import step_by_step
from tests.schemas import schema

FIRST = ("hits", "0001_all_tables")
SOMEWHERE = [("annotate", "0027_invitations_and_changes_of_teams"), ("hits", "0013_slots")]


@pytest.fixture
def _databases(django_db_modify_db_settings: None, django_db_blocker: Any) -> Iterator[None]:
    """Other databases than the test database may be used."""
    with django_db_blocker.unblock():
        yield


@pytest.mark.database
@pytest.mark.long
@pytest.mark.usefixtures("_databases")
def test_it_makes_what_the_replaced_migrations_made():
    with empty_database():
        make_user()
        migrate()
        made_at_once = contents()

    with empty_database():
        make_user()
        migrate_by_replaced_ones()
        migrate()
        made_in_steps = contents()

    assert made_at_once.pop("schema") ^ made_in_steps.pop("schema") == set()
    assert made_at_once == made_in_steps


def make_user() -> None:
    """One who has an account before there are teams."""
    call_command("migrate", "auth", verbosity=0)
    User.objects.create(username="ada")


def migrate() -> None:
    call_command("migrate", verbosity=0)
    assert FIRST in MigrationRecorder(connection).applied_migrations()


def migrate_by_replaced_ones() -> None:
    """To an earlier version, from which the way on is that of the replaced migrations, too."""
    step_by_step().migrate(SOMEWHERE)
    assert FIRST not in MigrationRecorder(connection).applied_migrations()
    assert FIRST not in MigrationLoader(connection).graph.nodes


def contents() -> dict[str, Any]:
    return {
        "schema": schema(),
        "migrations": {*MigrationRecorder(connection).applied_migrations()},
        "rows": {table: _count(table) for table in connection.introspection.table_names()},
        "teams": [*Team.objects.values_list("slug", "name")],
        "members": [*Membership.objects.values_list("team__slug", "user__username", "role")],
    }


def _count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])
