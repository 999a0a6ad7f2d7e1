"""Whether this site sends e-mail."""

from django.conf import settings


def sends_email() -> bool:
    """Whether this installation can send e-mail."""
    return bool(settings.EMAIL_HOST) or not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend")
