"""Actions before and after a call of the marketplace."""

from collections.abc import Callable

from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError


def raise_gone(_marketplace, assignment):
    code = "AWS.MechanicalTurk.AssignmentDoesNotExist"
    raise MarketplaceError(f"Assignment {assignment} does not exist.", code, is_refusal=True)


def before_call(monkeypatch, operation: str, act: Callable[[int], None]) -> None:
    """Run a function before each call of the operation, with the call's number from 1."""
    original, calls = Marketplace._call, []

    def call(self: Marketplace, name: str, **arguments: object) -> dict:
        if name == operation:
            calls.append(name)
            act(len(calls))
        return original(self, name, **arguments)

    monkeypatch.setattr(Marketplace, "_call", call)
