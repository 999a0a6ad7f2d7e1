"""Workers' accounts at the marketplace, and the name of this installation."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.crypto import get_random_string

from annotate.models import Worker


def new_installation_name() -> str:
    return get_random_string(16)


class Installation(models.Model):
    """The random name of this database, which identifies its HITs (hits.mturk.annotations)."""

    ONLY = 1  # primary key of the only row

    name = models.CharField(max_length=16, default=new_installation_name, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="installation_is_one"),
        ]

    def __str__(self) -> str:
        return self.name


class WorkerAccountQuerySet(models.QuerySet["WorkerAccount"]):
    def known(self, *, endpoint: str, marketplace_id: str) -> "WorkerAccount | None":
        """The account with this id at this marketplace, with its worker.

        Pages use this, because anybody can forge their parameters.
        """
        accounts = self.filter(endpoint=endpoint, marketplace_id=marketplace_id)
        return accounts.select_related("worker").first()


class WorkerAccount(models.Model):
    """A worker's id at one endpoint.

    The id is personal data. Only this table and TaskPage store it. When it is deleted, a text that
    nobody can turn back into the id takes its place (`hits.queries.worker_data`).
    """

    worker = models.OneToOneField(Worker, models.PROTECT, related_name="account")
    endpoint = models.CharField(max_length=300)
    marketplace_id = models.CharField(max_length=64)
    id_deleted_at = models.DateTimeField(null=True, blank=True)
    # Who erased the worker's data on request. Null for the schedule and for a command.
    erased_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    objects = WorkerAccountQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "marketplace_id"], name="worker_account_once_per_endpoint"
            ),
        ]

    def __str__(self) -> str:
        return str(self.worker)
