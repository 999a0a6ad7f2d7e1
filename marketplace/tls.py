"""HTTPS under Amazon's two MTurk host names, for programs whose endpoint cannot be changed.

trustme generates a certificate authority, which is kept in a folder; clients trust it through
`AWS_CA_BUNDLE`. Waitress does not support TLS, and a proxy would be one more part to configure. So
a second server in the same process, cheroot, serves the same application over HTTPS. The plain
server keeps running, because workers use the marketplace's own URL.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import trustme
from cheroot.ssl.builtin import BuiltinSSLAdapter
from cheroot.wsgi import Server
from django.conf import settings

from marketplace.redirect import AMAZON_HOSTS

AUTHORITY, AUTHORITY_KEY = "authority.pem", "authority-key.pem"
CERTIFICATE, CERTIFICATE_KEY = "server.pem", "server-key.pem"
# The server's certificate is new at each start. The authority stays the same, because clients have
# it.
CERTIFICATE_LIFE = timedelta(days=820)


def make_certificates(folder: Path, *, at: datetime) -> Path:
    """Return the path of the authority's certificate; create the files that are missing.

    The server's certificate is always new. Raises ValueError if the folder contains an incomplete
    or unreadable authority.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority = _authority(folder)
    leaf = authority.issue_cert(*AMAZON_HOSTS, not_after=at + CERTIFICATE_LIFE)
    _write_private(folder / CERTIFICATE_KEY, leaf.private_key_pem.bytes())
    chain = b"".join(part.bytes() for part in leaf.cert_chain_pems)
    (folder / CERTIFICATE).write_bytes(chain)
    return folder / AUTHORITY


def _authority(folder: Path) -> trustme.CA:
    certificate, key = folder / AUTHORITY, folder / AUTHORITY_KEY
    if not certificate.exists() and not key.exists():
        authority = trustme.CA(
            organization_name="Marketplace", organization_unit_name="Own authority of a lab"
        )
        # Write the key first: a certificate without its key would be an incomplete authority.
        _write_private(key, authority.private_key_pem.bytes())
        certificate.write_bytes(authority.cert_pem.bytes())
        return authority
    try:
        return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{folder} has no valid pair of {AUTHORITY} and {AUTHORITY_KEY}. Restore the missing "
            "file, or empty the folder to create a new authority."
        ) from error


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that other users cannot read at any moment."""
    with suppress(FileNotFoundError):
        path.unlink()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


Application = Callable[..., Any]


def with_known_length(application: Application) -> Application:
    """Wrap a WSGI application so that chunked request bodies have a length, which Django needs.

    Raises OSError, which closes the connection, for a body above the server's limit.
    """

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            body = environ["wsgi.input"].read()
            environ = {**environ, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return application(environ, start_response)

    return app


class TlsServer:
    """Serves the application over HTTPS, in its own threads."""

    def __init__(self, application: Application, *, host: str, port: int, folder: Path) -> None:
        self.server = Server(
            (host, port),
            with_known_length(application),
            numthreads=settings.SERVER_THREADS,
            server_name="marketplace",
        )
        self.server.max_request_body_size = 2 * settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        self.server.ssl_adapter = BuiltinSSLAdapter(
            str(folder / CERTIFICATE), str(folder / CERTIFICATE_KEY)
        )
        self.thread = threading.Thread(target=self.server.serve, name="tls", daemon=True)

    def start(self) -> None:
        """Start listening; raises OSError if the address is in use."""
        self.server.prepare()
        self.thread.start()

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(timeout=30)


def advice(*, authority: Path, host: str, port: int) -> str:
    """Instructions for setting up a client."""
    address = "this machine's address" if host in {"0.0.0.0", "::"} else host
    lines = [
        f"HTTPS for {' and '.join(AMAZON_HOSTS)} on {host}:{port}. A client needs",
        f"  in its hosts file:    {address} {' '.join(AMAZON_HOSTS)}",
        f"  in its environment:   AWS_CA_BUNDLE={authority}",
        "  (on another machine: a copy of this file, never of the keys in the same folder)",
    ]
    if port != 443:
        lines.append(f"  and port 443 forwarded to {port}, because Amazon's addresses name no port")
    return "\n".join(lines)
