"""Accounts of submitters."""

from django.conf import settings
from django.db import models


class Submitter(models.Model):
    """Marks an account as a submitter's: it may use the evaluation server and nothing else."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="submitter"
    )
    team = models.CharField(max_length=100, help_text="shown on boards")
    # A keyed digest, to limit how many accounts one address creates; empty if a researcher did.
    address = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["address", "created_at"], name="submitter_by_address")]

    def __str__(self) -> str:
        return self.team
