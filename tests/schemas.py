"""What a database consists of, to compare two of them."""

import re
from collections.abc import Iterator

from django.apps import apps
from django.db import connection

Part = tuple[object, ...]
INDEX = re.compile(r'(CREATE (?:UNIQUE )?INDEX) "?(\w+)"?')


def schema() -> set[Part]:
    """Columns, constraints, indexes and triggers of the database, whatever their order is.

    A name that the database or Django made up is left out: it stays when a table is renamed.
    """
    parts = {"sqlite": _sqlite, "postgresql": _postgresql}[connection.vendor]
    return {*parts(_given_names())}


def _given_names() -> set[str]:
    return {
        part.name
        for model in apps.get_models()
        for part in [*model._meta.constraints, *model._meta.indexes]
    }


def _sqlite(names: set[str]) -> Iterator[Part]:
    for kind, table, sql in _rows("SELECT type, tbl_name, sql FROM sqlite_master"):
        if kind == "table":
            _, _, columns = sql.partition("(")
            yield from ((table, part) for part in _parts(columns.removesuffix(")")))
        elif sql is not None:  # that of a UNIQUE column has no text of its own
            yield (table, _without_made_up_name(sql, names))


def _parts(columns: str) -> Iterator[str]:
    """The parts of the inside of CREATE TABLE, between commas that are in no parenthesis."""
    depth, part = 0, ""
    for character in columns:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += character
    yield part.strip()


def _postgresql(names: set[str]) -> Iterator[Part]:
    yield from _rows(
        "SELECT table_name, column_name, udt_name, character_maximum_length, numeric_precision, "
        "numeric_scale, is_nullable, column_default, is_identity, collation_name "
        "FROM information_schema.columns WHERE table_schema = 'public'"
    )
    for name, *rest in _rows(
        "SELECT conname, conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace"
    ):
        yield (name if name in names else "", *rest)
    for (sql,) in _rows("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'"):
        yield (_without_made_up_name(sql, names),)
    yield from _rows("SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal")
    yield from _rows(
        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    )


def _without_made_up_name(sql: str, names: set[str]) -> str:
    return INDEX.sub(lambda found: f"{found[1]} {found[2] if found[2] in names else ''}", sql)


def _rows(query: str) -> list[Part]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [tuple(row) for row in cursor.fetchall()]
