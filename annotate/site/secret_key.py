"""The signing key: set in the environment, or generated and kept in a file.

Django's settings import this module, so it reads no settings itself.
"""

import ipaddress
import os
import secrets
import socket
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

FILE_NAME = "requester-secret-key"
LEAST_CHARACTERS = 50
ADVICE = (
    "Set SECRET_KEY to a long random text, the same in all processes of the site. This prints "
    'one: python -c "import secrets; print(secrets.token_urlsafe(50))"'
)


def kept_key(path: Path) -> str:
    """Return the key in the file; the first call generates it.

    Processes that start at the same time get the same key. Raises ImproperlyConfigured if the file
    cannot be created, is too short, or can be read by other users of the machine.
    """
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            raise ImproperlyConfigured(
                f"Other users can read the signing key in {path}. Run `chmod 600 {path}`; if "
                "somebody may have read it, delete the file instead."
            )
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"The signing key cannot be stored in {path}: {error}. {ADVICE}"
        ) from error
    if len(key) < LEAST_CHARACTERS:
        raise ImproperlyConfigured(
            f"{path} does not contain a complete signing key. Delete the file; the next start "
            "creates a new key, and all users have to sign in again."
        )
    return key


def _make(path: Path) -> None:
    """Create the file with a new key, unless another process has created it.

    The key is written under a temporary name first, so the file is always complete.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp creates a file that only its owner can read.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(f"{secrets.token_urlsafe(LEAST_CHARACTERS)}\n")
            stream.flush()
            os.fsync(handle)
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()


def is_loopback(host: str) -> bool:
    """Whether a server that listens on this host can be reached only from this machine."""
    try:
        found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(address[0])).is_loopback for *_, address in found)


def check_listening(host: str, *, key_is_set: bool) -> None:
    """Raise ImproperlyConfigured if other machines can reach a site without its own SECRET_KEY."""
    if not key_is_set and not is_loopback(host):
        raise ImproperlyConfigured(
            f"SECRET_KEY is not set, and other machines can reach {host or 'all addresses'}. "
            f"{ADVICE}"
        )
