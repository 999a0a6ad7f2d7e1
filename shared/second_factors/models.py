"""Second factors: codes of an authenticator app, and recovery codes in place of it."""

from django.conf import settings
from django.db import models


class SecondFactor(models.Model):
    """The authenticator app that an account needs to sign in, besides its password."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="second_factor"
    )
    # In base32, as the app has it. It cannot be a digest: the codes are computed from it.
    secret = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    # The number of the half minute whose code was used last. Its code and older ones are refused.
    last_step = models.PositiveBigIntegerField()
    # Wrong codes in a row, given with the right password.
    wrong_codes = models.PositiveIntegerField(default=0)
    wrong_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"authenticator app of {self.user}"


class RecoveryCode(models.Model):
    """A code that can be used once in place of the app. Only a digest is stored."""

    factor = models.ForeignKey(SecondFactor, models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["factor", "digest"], name="recovery_code_once")
        ]

    def __str__(self) -> str:
        return f"recovery code of {self.factor.user}"
