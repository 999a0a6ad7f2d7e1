"""The database's own guard of the decision log: a line is added, never changed or removed.

PostgreSQL's TRUNCATE is not guarded: it empties whole tables, which only their owner may do.
"""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLE = "qualcontrol_decision"
MESSAGE = "decisions are only appended, never changed or deleted"

INSTALL = {
    "sqlite": [
        f"CREATE TRIGGER decision_not_{verb.lower()}d BEFORE {verb} ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
        for verb in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        "CREATE FUNCTION decision_is_final() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'; "
        "END $$",
        f"CREATE TRIGGER decision_is_final BEFORE UPDATE OR DELETE ON {TABLE} "
        "FOR EACH ROW EXECUTE FUNCTION decision_is_final()",
    ],
}
REMOVE = {
    "sqlite": ["DROP TRIGGER decision_not_updated", "DROP TRIGGER decision_not_deleted"],
    "postgresql": [
        f"DROP TRIGGER decision_is_final ON {TABLE}",
        "DROP FUNCTION decision_is_final()",
    ],
}


def install(_apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the triggers, as a migration's step."""
    for statement in INSTALL[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def remove(_apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the triggers, as a migration's reverse step."""
    for statement in REMOVE[schema_editor.connection.vendor]:
        schema_editor.execute(statement)
