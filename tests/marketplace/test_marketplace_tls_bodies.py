"""Chunked request bodies at the TLS server and the plain one."""

from datetime import UTC, datetime

import urllib3

from marketplace import tls
from marketplace.redirect import AMAZON_HOSTS
from tests.servers import free_port

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
