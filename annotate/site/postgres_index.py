"""Indexes of expressions that only PostgreSQL has. SQLite databases work without them."""

from typing import NamedTuple

from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class PostgresIndex(NamedTuple):
    """An index; `create` and `drop` are the steps of a migration that is not atomic, so that rows
    can be written while the index is made."""

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
