"""Idempotency keys of API requests, and keys of forms."""

from django.conf import settings
from django.db import models


class IdempotencyKey(models.Model):
    """The key that a program gave to a request, or a page to its form, and the answer that it got.

    A program's key is written in the transaction of the request, so that the two stand or fall
    together. A form's key is written before the form is carried out (`accounts.pages.once`).
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="idempotency_keys"
    )
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="of the request's address and body")
    # Null until the request is answered.
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once_per_user"),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_by_age")]

    def __str__(self) -> str:
        return f"idempotency key {self.pk}"
