"""Indexes that only PostgreSQL has."""

from typing import NamedTuple

from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class PostgresIndex(NamedTuple):
    """An index of an expression, which SQLite databases work without.

    `create` and `drop` are the steps of a migration.
    """

    name: str
    table: str
    on: str

    def create(self, _apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"CREATE INDEX {self.name} ON {self.table} USING {self.on}")

    def drop(self, _apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP INDEX {self.name}")
