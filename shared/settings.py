"""Settings that both sites have. The settings module of each site imports all of them.

Variables of the environment are read by the sites themselves, which name all wrong ones together.
"""

from decimal import Decimal
from pathlib import Path
from typing import Any

import dj_database_url

BASE_DIR = Path(__file__).resolve().parent.parent
# Default folder for all files that a running site writes.
VAR_DIR = BASE_DIR / "var"

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TIME_ZONE = "UTC"
# Of the pages that workers read, whose campaign, study or group names its language. All other pages
# are in English.
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("es", "español"),
    ("fr", "français"),
    ("zh-hans", "简体中文"),
    ("ja", "日本語"),
    ("ar", "العربية"),
]
WHITENOISE_USE_FINDERS = True
CSRF_COOKIE_HTTPONLY = True
EMAIL_TIMEOUT = 20

# Fees of Mechanical Turk (docs/decisions lists the sources): a share of reward and bonus, a further
# share of the reward from ten assignments on and for Masters (reports of 2015 and 2016), and a
# minimum per payment.
MTURK_FEE_SHARE = Decimal("0.20")
MTURK_LARGE_HIT_FEE_SHARE = Decimal("0.20")
MTURK_MASTERS_FEE_SHARE = Decimal("0.05")
MTURK_LEAST_FEE = Decimal("0.01")
# The least reward per hour that Prolific allows, in its currency.
PROLIFIC_LEAST_PER_HOUR = Decimal("8.00")

_SQLITE = "django.db.backends.sqlite3"


def databases(
    url: str, *, file: str, timeout: int, engine: str = _SQLITE, pragmas: str = ""
) -> dict[str, Any]:
    """`DATABASES` with this URL, or else with an SQLite file of this name in VAR_DIR.

    The other arguments are for SQLite: the seconds to wait for a lock, and the site's own engine.
    """
    # Check a connection before a request uses it, and replace it if it is broken.
    database: Any = dj_database_url.parse(
        url or "sqlite://", conn_max_age=60, conn_health_checks=True
    )
    if not url:
        database["NAME"] = str(VAR_DIR / file)
    if database["ENGINE"] == _SQLITE:
        VAR_DIR.mkdir(exist_ok=True)
        # With write-ahead logging, readers do not wait for a writer. With IMMEDIATE, a writer waits
        # at the start of its transaction, where waiting is safe, and not in the middle.
        journal = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
        database["ENGINE"] = engine
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": timeout,
            "init_command": f"{journal} {pragmas}",
        }
        # Threads and child processes cannot share an in-memory test database.
        database["TEST"] = {"NAME": VAR_DIR / f"test-{file}"}
    return {"default": database}
