"""A row for each run of the command `backup`, with its result."""

from datetime import timedelta

from django.db import models
from django.db.models import F, Q


class BackupRun(models.Model):
    """A run of the command. Without an error, its backup was written and read back.

    A backup does not contain its own run, so a restored site knows the runs before it.
    """

    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    # The machine, and the folder on it.
    host = models.CharField(max_length=255)
    folder = models.TextField()
    database_bytes = models.PositiveBigIntegerField(default=0)
    files = models.PositiveBigIntegerField(default=0)
    files_bytes = models.PositiveBigIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="backup_run_has_a_database_or_an_error",
                condition=Q(error="", database_bytes__gt=0) | ~Q(error="") & Q(database_bytes=0),
            ),
            models.CheckConstraint(
                name="backup_run_ends_after_it_began",
                condition=Q(ended_at__gte=F("started_at")),
            ),
        ]

    def __str__(self) -> str:
        return f"backup in {self.folder}"

    @property
    def size(self) -> int:
        return self.database_bytes + self.files_bytes

    @property
    def duration(self) -> timedelta:
        return self.ended_at - self.started_at
