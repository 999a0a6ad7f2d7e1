"""Indexes and NOT NULL columns that are made while rows are written, and indexes that only
PostgreSQL has."""

from typing import Any, NamedTuple

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddIndex, AlterField
from django.db.transaction import atomic


class PostgresIndex(NamedTuple):
    """An index of an expression, which SQLite databases work without.

    `create` and `drop` are the steps of a migration that is not atomic, so that rows can be written
    while the index is made.
    """

    name: str
    table: str
    on: str

    def create(self, _apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(
                f"CREATE INDEX {self._how(schema_editor)} IF NOT EXISTS {self.name} "
                f"ON {self.table} USING {self.on}"
            )

    def drop(self, _apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP INDEX {self._how(schema_editor)} IF EXISTS {self.name}")

    def _how(self, schema_editor: BaseDatabaseSchemaEditor) -> str:
        return "" if schema_editor.connection.in_atomic_block else "CONCURRENTLY"


class AddIndexWhileWriting(AddIndex):
    """Add an index in a migration that is not atomic. On PostgreSQL, the table is not locked."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        connection = schema_editor.connection
        if connection.vendor != "postgresql" or connection.in_atomic_block:
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        schema_editor.add_index(model, self.index, concurrently=True)


class SetNotNullWhileWriting(AlterField):
    """Make a column NOT NULL in a migration that is not atomic. PostgreSQL reads the table for a
    check while rows are written; with the check, the column changes in moments."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        arguments = (app_label, schema_editor, from_state, to_state)
        connection = schema_editor.connection
        if connection.vendor != "postgresql" or connection.in_atomic_block:
            with atomic(connection.alias):
                super().database_forwards(*arguments)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        table, column = model._meta.db_table, model._meta.get_field(self.name).column
        check = f"{self.name}_not_null"
        drop = f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {check}"
        schema_editor.execute(drop)  # of a migration that was interrupted
        schema_editor.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT {check} CHECK ({column} IS NOT NULL) NOT VALID"
        )
        schema_editor.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {check}")
        super().database_forwards(*arguments)
        schema_editor.execute(drop)
