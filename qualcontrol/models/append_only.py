"""Database triggers that let the decision log only grow: they refuse updates and deletes.

They do not guard PostgreSQL's TRUNCATE, which only the owner of a table may run.
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
    """Create the triggers; a migration's step."""
    for statement in INSTALL[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def remove(_apps: object, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the triggers; a migration's reverse step."""
    for statement in REMOVE[schema_editor.connection.vendor]:
        schema_editor.execute(statement)
