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


def days_or_never(name: str, *, default: int) -> int | None:
    """A number of days, 1 to 36500, or None for `never`; raises ImproperlyConfigured for anything
    else."""
    value = os.environ.get(name, "").strip().lower() or str(default)
    if value == "never":
        return None
    if value.isdecimal() and 1 <= int(value) <= 36_500:
        return int(value)
    raise ImproperlyConfigured(f"{name} must be 1 to 36500 days, or never, not {value!r}.")
