"""The signing key: the one that the environment sets, or one that is made and kept in a file.

Django's settings and our commands use this module, so it reads no settings itself.
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
    """The key in the file. The first call makes it; processes that start at once get the same
    one. Raises ImproperlyConfigured if the file cannot be made, is not a whole key, or can be read
    by other users of the machine."""
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
            f"The signing key cannot be kept in {path}: {error}. {ADVICE}"
        ) from error
    if len(key) < LEAST_CHARACTERS:
        raise ImproperlyConfigured(
            f"{path} holds no whole signing key. Delete the file; the next start makes another "
            "key, and everybody has to sign in again."
        )
    return key


def _make(path: Path) -> None:
    """Write a new key under another name, then give it its name unless a file has it by now: so
    the file is never there in part, and the first of several processes decides."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp makes a file that its owner alone can read.
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
    """Whether a server that listens on this host is reached from this machine only."""
    try:
        found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(address[0])).is_loopback for *_, address in found)


def check_listening(host: str, *, key_is_set: bool) -> None:
    """Raise ImproperlyConfigured where a site without a SECRET_KEY of its own would listen on an
    address that other machines can reach."""
    if not key_is_set and not is_loopback(host):
        raise ImproperlyConfigured(
            f"SECRET_KEY is not set, and other machines can reach {host or 'all addresses'}. "
            f"{ADVICE}"
        )
