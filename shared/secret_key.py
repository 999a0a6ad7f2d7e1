"""The signing key: set in the environment, or generated and kept in a file.

Django's settings import this module. Without a key that is set, a site listens on this machine
alone.
"""

import ipaddress
import os
import secrets
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

LEAST_CHARACTERS = 50


def data_folder(database: Mapping[str, Any], *, otherwise: Path) -> Path:
    """The folder of an SQLite file; for any other database, the folder `otherwise`."""
    name = str(database["NAME"])
    is_file = "sqlite" in database["ENGINE"] and not name.startswith((":", "file:"))
    return Path(name).absolute().parent if is_file else otherwise


def advice(variable: str) -> str:
    """How to set the key, for messages."""
    return (
        f"Set {variable} to a long random text, the same in all processes of the site. This prints "
        'one: python -c "import secrets; print(secrets.token_urlsafe(50))"'
    )


def kept_key(path: Path, *, variable: str) -> str:
    """Return the key in the file; the first call generates it.

    Processes that start at the same time get the same key. Raises ImproperlyConfigured if the file
    cannot be created, is a link, is too short, or can be read by other users of the machine; the
    message says to set the variable instead.
    """
    try:
        if not path.exists():
            _make(path)
        return _read(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"The signing key cannot be stored in {path}: {error}. {advice(variable)}"
        ) from error


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


def _read(path: Path) -> str:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), encoding="ascii") as stream:
        if os.fstat(stream.fileno()).st_mode & 0o077:
            raise ImproperlyConfigured(
                f"Other users can read the signing key in {path}. Run `chmod 600 {path}`; if "
                "somebody may have read it, delete the file instead."
            )
        key = stream.read().strip()
    if len(key) < LEAST_CHARACTERS:
        raise ImproperlyConfigured(
            f"{path} does not contain a complete signing key. Delete the file: the next start "
            "creates a new key, which ends all sessions and sign-in links."
        )
    return key


def is_loopback(host: str) -> bool:
    """Whether a server that listens on this host can be reached only from this machine."""
    try:
        addresses = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(_is_loopback(str(address[0])) for *_, address in addresses)


def _is_loopback(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    # Before Python 3.13, a mapped address is not loopback.
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


def check_listening(host: str) -> None:
    """Raise ImproperlyConfigured if other machines can reach a site without its own key.

    The address matters, not the site's URL, because clients can connect to it directly.
    """
    if not settings.SECRET_KEY_IS_SET and not is_loopback(host):
        raise ImproperlyConfigured(
            f"{settings.SECRET_KEY_VARIABLE} is not set, and other machines can reach "
            f"{host or 'all addresses'}. {advice(settings.SECRET_KEY_VARIABLE)}"
        )


def check_wsgi_server() -> None:
    """Raise ImproperlyConfigured if a server that does not tell its address has no key to use."""
    if not settings.SECRET_KEY_IS_SET:
        raise ImproperlyConfigured(
            f"{settings.SECRET_KEY_VARIABLE} is not set, which a WSGI server needs. "
            f"{advice(settings.SECRET_KEY_VARIABLE)}"
        )
