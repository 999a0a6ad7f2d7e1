"""Print a migration that makes the tables of all apps of the requester's site in one step.

    python tools/first_migration.py > build/first_migration.py

It replaces every migration of the four apps except each app's last one. The apps' migrations depend
on each other, so `manage.py squashmigrations`, which takes one app at a time, cannot replace them.
What code in the replaced migrations does to an empty database (rows, triggers, indexes of
expressions) has to be added by hand; a test compares the databases. docs/upgrading.md says when to
make the next one.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")

import django  # noqa: E402
from django.db.migrations import CreateModel  # noqa: E402
from django.db.migrations.loader import MigrationLoader  # noqa: E402
from django.db.migrations.state import ModelState  # noqa: E402
from django.db.migrations.writer import OperationWriter  # noqa: E402

APPS = ["annotate", "hits", "qualcontrol", "leaderboard"]
PAGE = '''"""The tables of all apps, as the replaced migrations make them.

Why: docs/decisions/0032-first-migration.md.
`tools/first_migration.py` printed the list of replaced migrations and the models.
"""

{imports}

from annotate.site.create_tables import CreateTables


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    replaces = [
{replaced}
    ]
    operations = [
        CreateTables({{
{models}
        }}),
    ]
'''

Key = tuple[str, str]


def main() -> None:
    django.setup()
    loader = MigrationLoader(None, replace_migrations=False)
    replaced = _replaced(loader)
    models = loader.project_state(replaced).models
    lines: list[str] = []
    imports = {"from django.conf import settings", "from django.db import migrations"}
    for app in APPS:
        lines.append(f"            {app!r}: [")
        for _, model in sorted(item for item in models.items() if item[0][0] == app):
            text, needed = OperationWriter(_created(model), indentation=4).serialize()
            lines.append(text)
            imports |= needed
        lines.append("            ],")
    print(
        PAGE.format(
            imports="\n".join(sorted(imports)),
            replaced="\n".join(f"        {key!r}," for key in replaced),
            models="\n".join(lines),
        ),
        end="",
    )


def _replaced(loader: MigrationLoader) -> list[Key]:
    """All but the last of each app: `makemigrations` looks there for the next one's number."""
    replaced: list[Key] = []
    for app in APPS:
        keys = sorted(key for key, each in loader.disk_migrations.items() if not each.replaces)
        replaced += [key for key in keys if key[0] == app][:-1]
    needed = {each for key in replaced for each in loader.graph.forwards_plan(key)}
    if missing := {key for key in needed if key[0] in APPS} - {*replaced}:
        raise SystemExit(f"Replaced migrations depend on {missing}, which would come later.")
    return replaced


def _created(model: ModelState) -> CreateModel:
    return CreateModel(
        model.name,
        fields=[*model.fields.items()],
        options={name: value for name, value in model.options.items() if value},
        bases=model.bases,
        managers=model.managers,
    )


if __name__ == "__main__":
    main()
