"""The version of this software."""

import subprocess
import tomllib
from functools import cache

from django.conf import settings

SECONDS = 5


@cache
def software_version() -> str:
    """The version in pyproject.toml, and the commit in a checkout: `0.1.0+a512bc6d01e2`."""
    with (settings.BASE_DIR / "pyproject.toml").open("rb") as file:
        version = str(tomllib.load(file)["project"]["version"])
    commit = _commit()
    return f"{version}+{commit}" if commit else version


def _commit() -> str:
    """The commit of the checkout; empty outside a checkout, and without git."""
    if not (settings.BASE_DIR / ".git").exists():
        return ""
    command = ["git", "-C", str(settings.BASE_DIR), "rev-parse", "--short=12", "HEAD"]
    try:
        finished = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return finished.stdout.strip() if finished.returncode == 0 else ""
