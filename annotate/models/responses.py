"""Workers, responses and their contents, and how responses were made."""

import secrets
import uuid
from typing import Self

from django.db import models

from annotate.models.campaigns import Campaign, Task


def new_pseudonym() -> str:
    """A random name for a worker."""
    return f"W-{secrets.token_hex(4).upper()}"


class Worker(models.Model):
    """A person who does tasks, known by a pseudonym; only `hits` stores the marketplace's id."""

    pseudonym = models.CharField(max_length=10, unique=True, default=new_pseudonym, editable=False)

    def __str__(self) -> str:
        return self.pseudonym


class ResponseStatus(models.TextChoices):
    SUBMITTED = "SUBMITTED", "submitted: counts towards the task"
    DISCARDED = "DISCARDED", "discarded: kept, but not counted"


class ResponseQuerySet(models.QuerySet["Response"]):
    def of(self, campaign: models.Model) -> Self:
        return self.filter(campaign=campaign)

    def counting(self) -> Self:
        return self.filter(status=ResponseStatus.SUBMITTED)


class ImportedFile(models.Model):
    """A file from which responses were imported that were collected elsewhere."""

    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Submission(models.Model):
    """Groups the responses that one worker submitted together.

    The packages above share its key: an assignment of the marketplace has the key of its
    submission.
    """

    # Since when it counts as never made, because the marketplace does not have it. Its responses
    # stay discarded until it is found.
    lost_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"submission {self.pk}"


class Response(models.Model):
    """One worker's response to one task, reported by the marketplace or imported from a file.

    Its answer is a Caption, a Correspondence or, for other task types, an Answer.
    """

    # The campaign of the task, so that counts and lists need not join the tasks.
    campaign = models.ForeignKey(
        Campaign, models.PROTECT, related_name="responses", db_index=False
    )  # response_by_campaign serves it
    task = models.ForeignKey(
        Task, models.PROTECT, related_name="responses", db_index=False
    )  # response_once_per_worker_and_task serves it
    worker = models.ForeignKey(
        Worker, models.PROTECT, related_name="responses", db_index=False
    )  # response_by_worker serves it
    # Identifies the response on review pages. Unlike a number, it does not reveal whether an item
    # is a response or a gold item.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Null for a response that was collected elsewhere.
    submission = models.ForeignKey(
        Submission, models.PROTECT, null=True, blank=True, related_name="responses"
    )
    # Null for a response that was collected here.
    imported_from = models.ForeignKey(
        ImportedFile,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="responses",
        db_index=False,  # nothing looks for a file's responses, and files are never deleted
    )
    status = models.CharField(
        max_length=9, choices=ResponseStatus, default=ResponseStatus.SUBMITTED
    )
    submitted_at = models.DateTimeField()
    # Seconds from opening to submitting the page, divided by the number of tasks on the page.
    seconds = models.PositiveIntegerField(null=True, blank=True)
    # Whether the page showed the keywords. Null if the task decides it, or if no page of ours
    # showed the task to the worker. Of an imported response, what its file says.
    primed = models.BooleanField(null=True, blank=True)
    # Why the worker says that the image cannot be described, one of the campaign's reasons; empty
    # if the answer describes it.
    cannot_describe = models.CharField(max_length=200, blank=True, default="", db_default="")
    # When the person withdrew it. It then stays discarded for good.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # The version of a text that this one builds on, and the round that it is from, 1 for the first.
    # Both null for responses that do not build on each other.
    builds_on = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="later", db_index=False
    )  # response_built_on serves it
    round = models.PositiveSmallIntegerField(null=True, blank=True)

    objects = ResponseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "worker"], name="response_once_per_worker_and_task"
            ),
            models.CheckConstraint(
                condition=models.Q(withdrawn_at=None) | models.Q(status=ResponseStatus.DISCARDED),
                name="response_withdrawn_is_discarded",
            ),
            models.CheckConstraint(
                condition=models.Q(imported_from=None) | models.Q(submission=None),
                name="response_imported_has_no_submission",
            ),
            models.UniqueConstraint(
                fields=["task", "round"],
                condition=models.Q(status=ResponseStatus.SUBMITTED, round__isnull=False),
                name="response_one_counts_in_a_round",
            ),
            models.CheckConstraint(
                condition=models.Q(builds_on=None, round=None)
                | models.Q(builds_on=None, round=1)
                | models.Q(builds_on__isnull=False, round__gt=1),
                name="response_builds_on_an_earlier_round",
            ),
        ]
        indexes = [
            # Counts by campaign, by hour and by worker read these indexes only.
            models.Index(
                fields=["campaign", "status", "submitted_at"], name="response_by_campaign"
            ),
            models.Index(
                fields=["worker", "campaign", "status", "submission"], name="response_by_worker"
            ),
            # Without it, releases and lists of the API would read the responses of all campaigns.
            models.Index(fields=["campaign", "id"], name="response_in_order"),
            models.Index(
                fields=["campaign", "id", "worker"],
                name="response_discarded",
                condition=models.Q(status=ResponseStatus.DISCARDED),
            ),
            models.Index(
                fields=["builds_on"],
                name="response_built_on",
                condition=models.Q(builds_on__isnull=False),
            ),
            models.Index(
                fields=["worker", "task"],
                name="response_in_a_chain",
                condition=models.Q(round__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} by {self.worker} ({self.status.lower()})"

    @property
    def is_primed(self) -> bool | None:
        """Whether the worker saw the keywords; None if nobody knows."""
        return self.task.is_primed(self.primed, is_imported=self.imported_from_id is not None)


class Caption(models.Model):
    """The sentence of a response, as typed except for normalised whitespace and Unicode."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="caption"
    )
    # Empty if the response says why the image cannot be described.
    text = models.TextField()
    # What the worker wrote to the researcher, if the campaign asks for it; no part of the caption.
    remark = models.TextField(blank=True, default="", db_default="")
    # Of the given captions that the worker rated first (`annotate.kinds.caption.rate_first`).
    ratings = models.JSONField(null=True, blank=True)

    def __str__(self) -> str:
        return self.text


class Correspondence(models.Model):
    """The boxes that the words of a caption refer to, according to one worker.

    One JSON column, because it is read and written as a whole: it maps the number of each answered
    word to the keys of its boxes, or to a kind of word without box.
    """

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="correspondence"
    )
    words = models.JSONField()

    def __str__(self) -> str:
        return f"{self.response}: {len(self.words)} words"


class Answer(models.Model):
    """The answer to a task of a kind that has no table of its own."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="answer"
    )
    content = models.JSONField()

    def __str__(self) -> str:
        return f"answer of {self.response}"


class Device(models.TextChoices):
    """The type of device on which a response was made. Nothing more precise is stored."""

    PHONE = "PHONE"
    TABLET = "TABLET"
    COMPUTER = "COMPUTER"


class Behaviour(models.Model):
    """How a response was made, as counted by the task page; never the text that was typed.

    A value is null if unknown: the page ran without its script, or was not ours.
    """

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="behaviour"
    )
    # The characters of the text by the way in which each came (`annotate.characters`). Of an
    # imported caption, those that were pasted, if its file says so.
    characters = models.JSONField(null=True, blank=True)
    # Seconds during which a field of the answer had the focus.
    seconds_writing = models.FloatField(null=True, blank=True)
    # How often the page lost the focus to another window or tab.
    times_left = models.PositiveIntegerField(null=True, blank=True)
    device = models.CharField(max_length=8, choices=Device, blank=True)

    class Meta:
        verbose_name_plural = "behaviours"

    def __str__(self) -> str:
        return f"behaviour of {self.response}"
