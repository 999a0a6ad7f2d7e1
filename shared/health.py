"""Whether a process is alive, and whether its site can do its work."""

import logging
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

log = logging.getLogger(__name__)
# A check raises any exception if its part of the site does not work.
Check = Callable[[], object]
_is_migrated = Event()


@require_safe
@login_not_required
@never_cache
def healthz(_request: HttpRequest) -> JsonResponse:
    """Answer without asking any service: the process works."""
    return JsonResponse({"status": "ok"})


def readiness(checks: Mapping[str, Check]) -> Callable[[HttpRequest], JsonResponse]:
    """A view that makes the checks: status 200 if all succeed, 503 otherwise.

    It names the checks that failed. The reasons are only logged, because the view is public.
    """

    @require_safe
    @login_not_required
    @never_cache
    def readyz(_request: HttpRequest) -> JsonResponse:
        results = {name: _result(name, check) for name, check in checks.items()}
        is_ready = all(result == "ok" for result in results.values())
        return JsonResponse(
            {"status": "ready" if is_ready else "not ready", "checks": results},
            status=200 if is_ready else 503,
        )

    return readyz


def _result(name: str, check: Check) -> str:
    try:
        check()
    except Exception as error:
        log.warning("The check of readiness %r failed: %s", name, error)
        return "failed"
    return "ok"


def check_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def check_migrations() -> None:
    """Raise RuntimeError if this version of the code has migrations that are not applied.

    They are looked up until all are applied: a process keeps its code until it ends.
    """
    if _is_migrated.is_set():
        return
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise RuntimeError(f"{len(missing)} migrations are not applied, the first is {missing[0]}")
    _is_migrated.set()


def check_folder(folder: Path) -> None:
    """Write a file that is deleted at once; raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"ready")
        file.flush()
