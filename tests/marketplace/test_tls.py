"""The TLS server under Amazon's host names, used like Amazon's."""

import os
import ssl
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import urllib3

from marketplace import tls
from marketplace.redirect import AMAZON_HOSTS
from tests.hits.marketplace_process import ROOT, running_marketplace
from tests.servers import PATIENCE, free_port

NOW = datetime(2026, 3, 2, tzinfo=UTC)

# What a hosts entry and a forwarded port do for a real client.
RESOLVER = """
import os, socket
original = socket.getaddrinfo
def getaddrinfo(host, port, *args, **kwargs):
    if str(host).endswith(".amazonaws.com"):
        assert host in {names!r}, host
        host, port = "127.0.0.1", {port}
    return original(host, port, *args, **kwargs)
socket.getaddrinfo = getaddrinfo
"""
PROGRAM = """
import boto3
for mode in ("-sandbox", ""):
    client = boto3.client(
        "mturk", endpoint_url=f"https://mturk-requester{mode}.us-east-1.amazonaws.com"
    )
    print(client.get_account_balance()["AvailableBalance"])
"""


@pytest.fixture
def tls_marketplace(tmp_path):
    port = free_port()
    options = ["--tls", "--tls-port", str(port), "--certificates", str(tmp_path / "certificates")]
    with running_marketplace(tmp_path, options=options) as process:
        (tmp_path / "sitecustomize.py").write_text(RESOLVER.format(names=AMAZON_HOSTS, port=port))
        yield process


def run_program(tmp_path: Path, keys: dict[str, str], **environment: str):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "AWS_ACCESS_KEY_ID": keys["access_key"],
            "AWS_SECRET_ACCESS_KEY": keys["secret_key"],
            "AWS_DEFAULT_REGION": "us-east-1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.slow
def test_an_unchanged_program_calls_amazons_names_and_is_answered(tls_marketplace, tmp_path):
    keys = tls_marketplace.requester("lab", "12.34")

    done = run_program(tmp_path, keys, AWS_CA_BUNDLE=str(tmp_path / "certificates" / tls.AUTHORITY))
    stranger = run_program(tmp_path, keys, AWS_MAX_ATTEMPTS="1")

    assert done.stdout.split() == ["12.34", "12.34"], done.stderr
    assert stranger.returncode != 0
    assert "CERTIFICATE_VERIFY_FAILED" in stranger.stderr


def test_the_authority_stays_and_the_servers_certificate_is_new(tmp_path):
    authority = tls.make_certificates(tmp_path, at=NOW)
    first = authority.read_bytes()
    certificate = (tmp_path / tls.CERTIFICATE).read_bytes()

    again = tls.make_certificates(tmp_path, at=NOW)

    assert again.read_bytes() == first
    assert (tmp_path / tls.CERTIFICATE).read_bytes() != certificate
    context = ssl.create_default_context(cafile=str(again))
    context.load_cert_chain(tmp_path / tls.CERTIFICATE, tmp_path / tls.CERTIFICATE_KEY)


@pytest.mark.parametrize("name", [tls.AUTHORITY_KEY, tls.CERTIFICATE_KEY])
def test_keys_are_for_their_owner_alone(tmp_path, name):
    tls.make_certificates(tmp_path, at=NOW)

    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@pytest.mark.parametrize("missing", [tls.AUTHORITY, tls.AUTHORITY_KEY])
def test_half_an_authority_is_not_replaced(tmp_path, missing):
    tls.make_certificates(tmp_path, at=NOW)
    (tmp_path / missing).unlink()

    with pytest.raises(ValueError, match="Restore the missing file"):
        tls.make_certificates(tmp_path, at=NOW)

    assert not (tmp_path / missing).exists()


PIECES = [b"five ", b"small ", b"pieces"]


def echo(environ, start_response):
    """A WSGI application that reads no more than the stated length, like Django."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


def test_a_body_in_pieces_arrives_whole(tmp_path):
    authority = tls.make_certificates(tmp_path, at=datetime.now(UTC))
    server = tls.TlsServer(echo, host="127.0.0.1", port=free_port(), folder=tmp_path)
    server.start()
    try:
        pool = urllib3.HTTPSConnectionPool(
            *server.server.bind_addr,
            ca_certs=str(authority),
            server_hostname=AMAZON_HOSTS[0],
            assert_hostname=AMAZON_HOSTS[0],
        )
        answers = [pool.request("POST", "/", body=iter(PIECES), chunked=True) for _ in range(2)]
    finally:
        server.stop()

    assert [answer.data for answer in answers] == [b"five small pieces"] * 2
