"""Reconcile in a child process that is killed at a boundary."""

import os
import signal
from collections.abc import Callable

from django.db import connection, connections

from hits.mturk.client import Marketplace
from hits.reconcile.reconciler import STEPS, reconcile


class Boundaries:
    """Counts a reconciler's calls and writes, and kills its process at the given one."""

    def __init__(self, fatal: int) -> None:
        self.left = fatal

    def reached(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around_calls(self, call: Callable) -> Callable:
        def wrapped(marketplace: Marketplace, operation: str, **arguments: object) -> object:
            self.reached()
            answer = call(marketplace, operation, **arguments)
            self.reached()
            return answer

        return wrapped

    def around_writes(self, execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if sql.startswith(("INSERT", "UPDATE")):
            self.reached()
        return result


def reconcile_in_child(campaign, fatal: int, steps=STEPS) -> bool:
    """Reconcile in a child process that is killed at the boundary `fatal`; False if it survived."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        boundaries = Boundaries(fatal)
        Marketplace._call = boundaries.around_calls(Marketplace._call)  # type: ignore[method-assign]
        status = 1
        try:
            with connection.execute_wrapper(boundaries.around_writes):
                reconcile(campaign, steps=steps)
            status = 0
        finally:
            os._exit(status)
    _, wait_status = os.waitpid(child, 0)
    if os.WIFSIGNALED(wait_status):
        assert os.WTERMSIG(wait_status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(wait_status) == 0
    return False
