"""A server with the protocols of Amazon's services."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def running_moto() -> Iterator[str]:
    """URL of a server with the protocols of SQS, SNS and S3, in a thread."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # Not imported with the tests, most of which do without it.
    server = import_module("moto.server").ThreadedMotoServer(
        ip_address="127.0.0.1", port=0, verbose=False
    )
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
