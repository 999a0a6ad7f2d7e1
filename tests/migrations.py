"""Migrate the test database to an earlier version."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader


class StepByStep(MigrationLoader):
    """Goes by the replaced migrations. By the one that replaces them, it is all or nothing."""

    def load_disk(self) -> None:
        super().load_disk()
        self.disk_migrations = {
            key: migration
            for key, migration in self.disk_migrations.items()
            if not migration.replaces
        }


def step_by_step() -> MigrationExecutor:
    executor = MigrationExecutor(connection)
    executor.loader = StepByStep(connection)
    return executor
