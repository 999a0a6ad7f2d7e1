"""Imported by Python itself at startup, because this folder is on PYTHONPATH.

Installs the redirection, then runs the `sitecustomize` that this one hides. It runs in other
programs under any Python version: only the standard library, no syntax newer than Python 3.6.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

# Not pathlib: it is slow to import, and every start of Python runs this.
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120


def _set_up() -> None:
    # The variable may have been removed for a child process that is to reach Amazon.
    endpoint = os.environ.get("MARKETPLACE_REDIRECT_URL")
    if endpoint:
        # Import only if needed: every start of Python runs this.
        import marketplace_redirect  # type: ignore[import-not-found]  # noqa: PLC0415

        marketplace_redirect.install(endpoint)


def _hand_over() -> None:
    # Remove this folder, so that it does not hide the program's own modules.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]  # noqa: PTH100
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_set_up()
_hand_over()
