"""Settings of gunicorn for both sites: `gunicorn --config python:shared.gunicorn MODULE`.

Other settings can be given on gunicorn's command line, or in its variable GUNICORN_CMD_ARGS.
"""

import os
import shutil
import tempfile

from shared.environment import settings_in_words
from shared.logs import logging_settings

# WEB_CONCURRENCY is gunicorn's own variable.
workers = int(os.environ.get("WEB_CONCURRENCY") or os.cpu_count() or 1)
worker_class = "gthread"
threads = 8
# A process that hangs this long is replaced; a stopping one gets as long to finish its requests.
timeout = 120
graceful_timeout = 60
# How long an unused connection stays open. Proxies keep theirs for minutes, and a request on one
# that was closed at the same moment fails; it stays open longer than the default of two seconds.
keepalive = 75
# Each process is replaced after about this many requests, so that none grows for ever. The
# processes are not replaced at the same time.
max_requests = 20_000
max_requests_jitter = 2_000
# Some pages have long query strings.
limit_request_line = 8190
# Whether a request came by https is decided by the site's setting for proxies alone.
secure_scheme_headers: dict[str, str] = {}
# No access log: its lines would contain worker ids and the tokens of links. With LOG_REQUESTS the
# sites write one that does not.
accesslog = None
# gunicorn quotes whole addresses in its messages about errors.
with settings_in_words():
    logconfig_dict = logging_settings(
        loggers={"gunicorn.error": {"handlers": [], "propagate": True, "level": "INFO"}}
    )
# Several servers can run as one user.
control_socket_disable = True

# The processes keep their metrics in a common folder, so that each of them can show the sums.
# prometheus_client reads this variable when it is imported, so this module must not import it.
METRICS = os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="metrics-")


def on_exit(_server: object) -> None:
    shutil.rmtree(METRICS, ignore_errors=True)
