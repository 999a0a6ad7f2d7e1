"""Read environment variables for settings."""

import os

from django.core.exceptions import ImproperlyConfigured


def flag(name: str, *, default: bool) -> bool:
    """A yes-or-no variable; raises ImproperlyConfigured for anything else."""
    value = os.environ.get(name, str(default)).strip().lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"", "0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}.")


def words(name: str) -> list[str]:
    """A comma-separated variable as a list."""
    return [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()]
