"""Who answered what: workers, the tasks on open pages, responses and captions, and how the answers
were made."""

import secrets
import uuid
from typing import Self

from django.db import models

from annotate.models.campaigns import Task


def new_pseudonym() -> str:
    """A name for a worker that says nothing about them."""
    return f"W-{secrets.token_hex(4).upper()}"


class Worker(models.Model):
    """A person who answers tasks, under a pseudonym; only `hits` knows the marketplace's id."""

    pseudonym = models.CharField(max_length=10, unique=True, default=new_pseudonym, editable=False)

    def __str__(self) -> str:
        return self.pseudonym


class Claim(models.Model):
    """A reservation of one place of a task for an open task page. It steers which tasks other pages
    show and promises nothing: it never keeps a worker from a task, nor an answer from counting."""

    task = models.ForeignKey(Task, models.CASCADE, related_name="claims")
    page = models.ForeignKey("hits.TaskPage", models.CASCADE, related_name="claims")
    # False once the page's HIT has been returned, as far as can be told: the page keeps its task,
    # and other pages show it as if the page were not there.
    takes_place = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["page", "task"], name="claim_once_per_page_and_task"),
        ]

    def __str__(self) -> str:
        return f"{self.task} on page {self.page_id}"


class ResponseStatus(models.TextChoices):
    SUBMITTED = "SUBMITTED", "submitted: counts towards the task"
    DISCARDED = "DISCARDED", "discarded: kept, but not counted"


class ResponseQuerySet(models.QuerySet["Response"]):
    def of(self, campaign: models.Model) -> Self:
        return self.filter(task__campaign=campaign)

    def counting(self) -> Self:
        return self.filter(status=ResponseStatus.SUBMITTED)


class Response(models.Model):
    """One worker's answer to one task, as the marketplace reported it or a file of captions
    collected elsewhere has it. Its answer is a Caption, a Correspondence or,
    for other kinds of task, an Answer."""

    task = models.ForeignKey(Task, models.PROTECT, related_name="responses")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="responses")
    # Names the response on review pages: unlike a number, it does not tell a response from gold.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Empty for a response that was collected elsewhere.
    assignment = models.ForeignKey(
        "hits.Assignment", models.PROTECT, null=True, blank=True, related_name="responses"
    )
    status = models.CharField(
        max_length=9, choices=ResponseStatus, default=ResponseStatus.SUBMITTED
    )
    submitted_at = models.DateTimeField()
    # From the page's opening to its answer; of a page with several tasks, this one's share.
    seconds = models.PositiveIntegerField(null=True, blank=True)

    objects = ResponseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "worker"], name="response_once_per_worker_and_task"
            ),
        ]
        indexes = [
            models.Index(fields=["status", "submitted_at"], name="response_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.task} by {self.worker} ({self.status.lower()})"


class Caption(models.Model):
    """The sentence of a caption response, with white space and Unicode in order, else as typed."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="caption"
    )
    text = models.TextField()

    def __str__(self) -> str:
        return self.text


class Correspondence(models.Model):
    """What the words of a task's caption refer to, as one worker sees it.

    One JSON column, because it is written and read as a whole: the number of each word that was
    answered, to the keys of its boxes or to one of annotate.kinds.correspondence's kinds.
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
    """What an answer was written on; nothing finer is kept."""

    PHONE = "PHONE"
    TABLET = "TABLET"
    COMPUTER = "COMPUTER"


class Behaviour(models.Model):
    """How an answer came about, as the task page counted it; never what was typed. A count is
    empty where nothing is known of it: the page ran without its script, or was not ours."""

    response = models.OneToOneField(
        Response, models.CASCADE, primary_key=True, related_name="behaviour"
    )
    keystrokes = models.PositiveIntegerField(null=True, blank=True)
    pastes = models.PositiveIntegerField(null=True, blank=True)
    pasted_characters = models.PositiveIntegerField(null=True, blank=True)
    # Seconds during which a field of the answer had the focus.
    seconds_writing = models.FloatField(null=True, blank=True)
    # How often the page lost the focus to another window or tab.
    times_left = models.PositiveIntegerField(null=True, blank=True)
    device = models.CharField(max_length=8, choices=Device, blank=True)

    class Meta:
        verbose_name_plural = "behaviours"

    def __str__(self) -> str:
        return f"behaviour of {self.response}"
