"""Steps of migrations: triggers that let a log only grow, and indexes of PostgreSQL alone."""

from typing import NamedTuple

from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class AppendOnly(NamedTuple):
    """The triggers of one table; `install` and `remove` are the steps of a migration."""

    table: str
    name: str  # the triggers' names begin with it
    message: str  # of the error

    def install(self, _apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
        statements = {"sqlite": self._sqlite, "postgresql": self._postgresql}
        for statement in statements[schema_editor.connection.vendor]():
            schema_editor.execute(statement)

    def remove(self, _apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
        statements = {
            "sqlite": [
                f"DROP TRIGGER {self.name}_not_updated",
                f"DROP TRIGGER {self.name}_not_deleted",
            ],
            "postgresql": [
                f"DROP TRIGGER {self.name}_is_final ON {self.table}",
                f"DROP FUNCTION {self.name}_is_final()",
            ],
        }
        for statement in statements[schema_editor.connection.vendor]:
            schema_editor.execute(statement)

    def _sqlite(self) -> list[str]:
        return [
            f"CREATE TRIGGER {self.name}_not_{verb.lower()}d BEFORE {verb} ON {self.table} "
            f"BEGIN SELECT RAISE(ABORT, '{self.message}'); END"
            for verb in ("UPDATE", "DELETE")
        ]

    def _postgresql(self) -> list[str]:
        return [
            f"CREATE FUNCTION {self.name}_is_final() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{self.message}' "
            "USING ERRCODE = 'integrity_constraint_violation'; END $$",
            f"CREATE TRIGGER {self.name}_is_final BEFORE UPDATE OR DELETE ON {self.table} "
            f"FOR EACH ROW EXECUTE FUNCTION {self.name}_is_final()",
        ]


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
