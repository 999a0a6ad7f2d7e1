"""The list of migrations that lock large tables is complete."""

import subprocess
import sys
from pathlib import Path

from django.db import migrations, models

from tools.migration_locks import _locks

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_migrations_that_lock_is_up_to_date():
    done = subprocess.run(
        [sys.executable, "tools/migration_locks.py", "--check"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


class Given:
    def __init__(self, *operations):
        self.operations = operations


def test_a_new_index_on_a_large_table_counts_and_one_on_a_new_table_does_not():
    index = migrations.AddIndex("response", models.Index(fields=["task"], name="by_task"))
    made = migrations.CreateModel("Response", [])

    assert list(_locks("annotate", Given(index))) == ["builds an index on `annotate_response`"]
    assert list(_locks("annotate", Given(made, index))) == []


def test_a_column_that_may_be_null_or_has_a_default_in_the_database_does_not_count():
    columns = {
        "empty": models.IntegerField(null=True),
        "given": models.IntegerField(default=0, db_default=0),
        "filled": models.IntegerField(default=0),
    }

    found = {
        name: list(_locks("annotate", Given(migrations.AddField("response", name, column))))
        for name, column in columns.items()
    }

    assert found == {"empty": [], "given": [], "filled": ["adds a column to `annotate_response`"]}


def test_small_tables_do_not_count():
    index = migrations.AddIndex("campaign", models.Index(fields=["name"], name="by_name"))

    assert list(_locks("annotate", Given(index))) == []
