"""Workers from whom a campaign's HITs are hidden."""

from django.db import models

from hits.models.accounts import WorkerAccount
from hits.models.hits import HitType


class WorkerBarring(models.Model):
    """Whether a campaign's HITs must be hidden from a worker (`is_wanted`), and whether the
    marketplace hides them (`is_in_force`).

    A worker is barred while excluded or paused, and after submitting an answer to every task that
    still needs one.
    """

    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="barrings")
    account = models.ForeignKey(WorkerAccount, models.PROTECT, related_name="barrings")
    is_wanted = models.BooleanField()
    is_in_force = models.BooleanField(default=False, help_text="as the marketplace was told last")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit_type", "account"], name="barring_once_per_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.account} {'kept from' if self.is_wanted else 'let into'} {self.hit_type}"
