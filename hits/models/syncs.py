"""Syncs with the marketplace: their runs, problems, pace and events, and the name of this
installation there."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils.crypto import get_random_string

from annotate.models import Campaign

# A run that has not updated `seen_at` for this time was killed: no API call takes longer.
SILENT_AFTER = timedelta(minutes=5)


class Listing(models.TextChoices):
    """How much of the account's list of HITs a sync read."""

    NONE = "", "none, or not to its end because of an error"
    CAMPAIGN = "CAMPAIGN", "as far as the campaign's own HITs go"
    ACCOUNT = "ACCOUNT", "all of it"


class Sync(models.Model):
    """One run of the reconciler for a campaign: its counts, and its first error."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="syncs")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    # When the run last reported progress. The counts below are as of this time.
    seen_at = models.DateTimeField(null=True, blank=True)
    # Whether all HITs were listed, and not only those that events named.
    is_whole = models.BooleanField(default=True)
    listing = models.CharField(max_length=8, choices=Listing, blank=True, default=Listing.NONE)
    api_calls = models.PositiveIntegerField(default=0)
    ingested = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    hits_created = models.PositiveIntegerField(default=0)
    hits_retired = models.PositiveIntegerField(default=0)
    # Number of HITs, assignments, payments and steps that failed; `error` has the first failures.
    problems = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    # Of a campaign for own people: how many more it needs than have joined. Null if not asked.
    people_missing = models.PositiveIntegerField(null=True, blank=True)
    # Rare events in words, such as HITs that were gone, adopted or closed.
    notes = models.TextField(blank=True)

    # Not columns: whether HITs to read, or payments, are left because the run's time or its number
    # of them was over.
    has_more_to_read = False
    has_more_to_pay = False

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.campaign} at {self.started_at:%Y-%m-%d %H:%M}"

    def is_going_on(self, at: datetime) -> bool:
        """Whether the run has not finished, and updated `seen_at` within SILENT_AFTER."""
        return (
            self.finished_at is None
            and self.seen_at is not None
            and (self.seen_at > at - SILENT_AFTER)
        )


class SyncProblem(models.Model):
    """A HIT, assignment, payment or step that failed in the last sync, with the reason.

    The next sync tries again and deletes the row if it succeeds.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="sync_problems")
    subject = models.CharField(max_length=200)
    message = models.TextField()
    times = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_at", "subject"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "subject"], name="sync_problem_once_per_subject"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject}: {self.message}"


class CallPace(models.Model):
    """When the next call to an endpoint may be made, by any process; see hits.mturk.connection."""

    endpoint = models.CharField(max_length=300, unique=True)
    next_at = models.DateTimeField()
    # How long nobody called after the last throttled call; zero once a call was answered.
    pause = models.DurationField(default=timedelta)

    def __str__(self) -> str:
        return f"{self.endpoint} from {self.next_at:%Y-%m-%d %H:%M:%S}"


class ProcessedMessage(models.Model):
    """A processed message of the marketplace's queue, stored so that duplicates are ignored."""

    # The id of the notification, or a digest of the message if it has none.
    document_id = models.CharField(max_length=100, unique=True)
    received_at = models.DateTimeField()
    # The reason and the text of a message that could not be parsed; empty otherwise.
    problem = models.CharField(max_length=300, blank=True)
    body = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(problem="") | Q(body=""),
                name="processed_message_body_kept_with_a_problem_only",
            ),
        ]
        indexes = [models.Index(fields=["received_at"], name="processed_message_by_age")]

    def __str__(self) -> str:
        return self.document_id


def new_installation_name() -> str:
    return get_random_string(16)


class Installation(models.Model):
    """The random name of this database, which identifies its HITs (hits.mturk.hit_texts)."""

    ONLY = 1  # primary key of the only row

    name = models.CharField(max_length=16, default=new_installation_name, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="installation_is_one"),
        ]

    def __str__(self) -> str:
        return self.name
