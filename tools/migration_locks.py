"""Write the table in docs/upgrading.md of migrations that lock a large table while they run.

`--check` only says whether the table is up to date, with status 1 if it is not.

A migration counts if it scans or rewrites a large table, or builds an index on one, in a lock that
writers wait for. Adding a column that may be null, or has a default in the database, does not: it
takes moments on PostgreSQL. Creating a table with its indexes does not either. A migration that
replaces others runs on an empty database only.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "upgrading.md"
BEGIN, END = "<!-- migrations: begin -->", "<!-- migrations: end -->"
# The tables that grow with the number of images, captions, submissions or calls.
LARGE = {
    "annotate": {
        "answer", "behaviour", "box", "caption", "claim", "correspondence", "givencaption", "image",
        "releasedanswer", "releasedcaption", "releasedfile", "releasedimage", "response",
        "selectedimage", "task",
    },
    "hits": {"assignment", "hit", "processedmessage", "taskpage"},
    "qualcontrol": {"assessment", "copying", "copykey", "decision", "judgement", "spotcheck"},
    "leaderboard": set(),
    "marketplace": {
        "activity", "assignment", "bonuspayment", "event", "hit", "message", "requesttoken",
        "transfer", "worker",
    },
}  # fmt: skip
SITES = {
    "annotate.settings": ("annotate", "hits", "qualcontrol", "leaderboard"),
    "marketplace.settings": ("marketplace",),
}


def rows_of(settings: str) -> list[str]:
    """The rows for one site. Its settings need a process of their own."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": settings}
    command = [sys.executable, str(Path(__file__)), "--rows"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def own_rows() -> Iterator[str]:
    """The rows for the site of DJANGO_SETTINGS_MODULE."""
    import django  # noqa: PLC0415

    django.setup()
    from django.db.migrations.loader import MigrationLoader  # noqa: PLC0415

    loader = MigrationLoader(None)
    apps = SITES[os.environ["DJANGO_SETTINGS_MODULE"]]
    for app, name in sorted(loader.disk_migrations):
        migration = loader.disk_migrations[app, name]
        if app in apps and not migration.replaces:
            what = list(dict.fromkeys(_locks(app, migration)))
            if what:
                yield f"| `{app}.{name}` | {'; '.join(what)} |"


def _locks(app: str, migration: object) -> Iterator[str]:
    created: set[str] = set()
    for operation in migration.operations:  # type: ignore[attr-defined]
        kind = type(operation).__name__
        model = str(getattr(operation, "model_name", "")).lower()
        if kind == "CreateModel":
            created.add(operation.name_lower)
        elif kind == "RunPython":
            yield "runs code of its own"
        elif kind == "RunSQL":
            yield "runs SQL"
        elif model in LARGE[app] - created and (what := _lock(kind, operation)):
            yield f"{what} `{app}_{model}`"


def _lock(kind: str, operation: object) -> str:
    """What the operation does to its table while writers wait; empty if they hardly wait."""
    if kind == "AddIndex":
        return "builds an index on"
    if kind == "AddConstraint":
        is_unique = type(operation.constraint).__name__ == "UniqueConstraint"  # type: ignore[attr-defined]
        return "builds a unique index on" if is_unique else "checks all rows of"
    if kind == "AlterField":
        return "changes a column of"
    if kind == "AddField":
        field = operation.field  # type: ignore[attr-defined]
        if field.unique or (field.db_index and not field.null):
            return "builds an index on"
        is_quick = field.null or field.has_db_default() or field.many_to_many
        return "" if is_quick else "adds a column to"
    return ""


def table() -> str:
    rows = [row for settings in SITES for row in rows_of(settings)]
    return "\n".join(["| migration | what it does |", "|---|---|", *rows])


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the table of migrations that lock.")
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("--rows", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.rows:
        sys.path.insert(0, str(ROOT))
        print("\n".join(own_rows()))
        return 0
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    new = f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"
    if asked.check:
        if new != page:
            print("docs/upgrading.md is out of date. Run `python tools/migration_locks.py`.")
        return int(new != page)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
