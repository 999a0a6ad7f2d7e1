"""Python imports this by itself when it starts with this folder on its PYTHONPATH.

It sets up the redirection, then hands over to the `sitecustomize` that would have run without it.
It runs in other people's programs, under whatever Python they have: the standard library only, and
no syntax newer than Python 3.6's.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

# Every start of a Python runs this, and pathlib takes time to load.
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120


def _set_up() -> None:
    # The variable may be taken away for a grandchild that is to reach Amazon.
    endpoint = os.environ.get("MARKETPLACE_REDIRECT_URL")
    if endpoint:
        # Loaded only where it is wanted: every start of a Python runs this.
        import marketplace_redirect  # type: ignore[import-not-found]  # noqa: PLC0415

        marketplace_redirect.install(endpoint)


def _hand_over() -> None:
    # Without this folder nothing of ours is in the way of the program's own modules.
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]  # noqa: PTH100
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_set_up()
_hand_over()
