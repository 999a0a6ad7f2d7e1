"""The marketplace's signing key if none is set: generated once and stored next to its database.

The settings import this module, so it uses only exceptions of Django.
"""

import os
import secrets
import stat
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

ENTROPY_BYTES, LEAST_LENGTH = 50, 50
SET_ONE = (
    "Set MARKETPLACE_SECRET_KEY to a random value of your own: "
    'python -c "import secrets; print(secrets.token_urlsafe(50))"'
)


def path_beside(database: str, *, otherwise: Path) -> Path:
    """Path of a database's key: next to an SQLite file, otherwise in the given folder."""
    is_file = database and ":" not in database
    file = Path(database) if is_file else otherwise / "marketplace"
    return file.with_name(f"{file.name}.secret-key")


def stored_key(path: Path) -> str:
    """The key in the file; the first call generates it.

    Raises ImproperlyConfigured if the file cannot be created or read, can be read by other users,
    or contains no key.
    """
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The signing key cannot be stored in {path}: {error.strerror}. {SET_ONE}"
        ) from error


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_urlsafe(ENTROPY_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        # A hard link appears together with its content and never replaces a file. Processes that
        # start at the same time all use the key of the first one.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor) as file:
        if os.name == "posix" and os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ImproperlyConfigured(
                f"Other users of this machine can read the signing key in {path}. Delete the "
                "file: the next start creates a new key, which ends all sessions and sign-in "
                "links."
            )
        key = file.read().strip()
    if len(key) < LEAST_LENGTH:
        raise ImproperlyConfigured(
            f"{path} has no signing key. Delete the file: the next start creates a new key, "
            "which ends all sessions and sign-in links."
        )
    return key
