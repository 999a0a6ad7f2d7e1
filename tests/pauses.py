"""Actions in place of the pauses of a command that runs forever."""

from collections.abc import Callable

import pytest

from shared import repeater


class Stopped(BaseException):
    """Ends the command."""


class Pauses(list[float]):
    """Lengths of pauses. Each runs one of `actions`, and the one after these ends the command."""

    actions: list[Callable[[], object]] = []

    def wait(self, seconds: float) -> bool:
        self.append(seconds)
        if len(self) > len(self.actions):
            raise Stopped
        self.actions[len(self) - 1]()
        return False

    def is_set(self) -> bool:
        return False


def nothing() -> None:
    pass


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Pauses:
    taken = Pauses()
    monkeypatch.setattr(repeater, "Event", lambda: taken)
    return taken
