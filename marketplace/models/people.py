"""Groups of an operator's own people: their tasks, members, consents and invitations."""

from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester, Worker
from marketplace.models.hits import HitType
from shared.database.queues import Queued


class PeopleGroup(models.Model):
    """A class, a lab or volunteers. Members see the tasks of their groups and nothing else."""

    name = models.CharField(max_length=100)
    # Whose programs made the group and may change it; null for a group of the operators.
    requester = models.ForeignKey(
        Requester, models.PROTECT, null=True, blank=True, related_name="people_groups"
    )
    # Shown to everybody who is invited.
    organizer = models.CharField(max_length=200)
    purpose = models.TextField()
    contact = models.CharField(max_length=200)
    # Of the pages and mails that its people see.
    language = models.CharField(max_length=10, default="en")
    is_open = models.BooleanField(default=True)
    # Group links with a lower number are invalid.
    link_number = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], name="people_group_named_once_by_requester"
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(requester=None),
                name="people_group_named_once_by_operators",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ConsentText(models.Model):
    """One version of a group's consent text. Versions are never changed or deleted."""

    group = models.ForeignKey(PeopleGroup, models.PROTECT, related_name="consent_texts")
    version = models.PositiveIntegerField()
    text = models.TextField()
    # Whether it says that the requester sees each person's name beside their answers.
    shows_names = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "version"], name="consent_text_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.group}, version {self.version}"


class Offer(models.Model):
    """A group of HITs that the people of a group see, and each person's share of it."""

    group = models.ForeignKey(PeopleGroup, models.PROTECT, related_name="offers")
    hit_type = models.ForeignKey(HitType, models.PROTECT, related_name="offers")
    # Most tasks of one person; None for no limit.
    share = models.PositiveIntegerField(null=True, blank=True)
    is_open = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "hit_type"], name="offer_once_per_group"),
            models.CheckConstraint(
                name="offer_share_is_positive", condition=Q(share=None) | Q(share__gt=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit_type} for {self.group}"


class WithdrawnBy(models.TextChoices):
    PERSON = "person"
    OPERATOR = "operator"


class Membership(models.Model):
    """One person in one group."""

    group = models.ForeignKey(PeopleGroup, models.PROTECT, related_name="memberships")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="memberships")
    joined_at = models.DateTimeField()
    # When and by whom all work of this person in the group was withdrawn.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.CharField(max_length=10, choices=WithdrawnBy, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "worker"], name="member_once_per_group"),
            models.CheckConstraint(
                name="withdrawal_has_time_and_actor",
                condition=Q(withdrawn_at=None, withdrawn_by="")
                | (Q(withdrawn_at__isnull=False) & ~Q(withdrawn_by="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in {self.group}"


class Consent(models.Model):
    """A member's consent to one version of the group's text."""

    membership = models.ForeignKey(Membership, models.PROTECT, related_name="consents")
    text = models.ForeignKey(ConsentText, models.PROTECT, related_name="consents")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["membership", "text"], name="consent_once_per_text"),
        ]

    def __str__(self) -> str:
        return f"{self.membership}: version {self.text.version}"


class MailInvitation(Queued):
    """An e-mail address that is invited to a group. The address is stored nowhere else.

    A `run` stays after the attempt, so that no other process sends the mail again. Without
    `sent_at`, the outcome is unknown once `due_at` is over or null.
    """

    group = models.ForeignKey(PeopleGroup, models.PROTECT, related_name="mail_invitations")
    address = models.EmailField()
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(max_length=200, blank=True, default="")
    # The account that was created with the mail's link, and its `sign_in_number` at that time.
    worker = models.ForeignKey(
        Worker, models.PROTECT, null=True, blank=True, related_name="mail_invitations"
    )
    sign_in_number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "address"], name="invited_once_per_group"),
        ]

    def __str__(self) -> str:
        return f"mail invitation {self.pk}"


class MailRefusal(models.Model):
    """An e-mail address that wants no more mail from this site."""

    address = models.EmailField(unique=True)
    refused_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"mail refusal {self.pk}"
