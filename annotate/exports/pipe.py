"""A file to write to, from which the bytes are taken while more are written."""

from typing import Any


class Pipe:
    """Bytes that one part of a program writes and another one takes."""

    closed = False

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._written = 0

    def write(self, data: Any) -> int:
        self._waiting.append(bytes(data))
        self._written += len(self._waiting[-1])
        return len(self._waiting[-1])

    def take(self) -> bytes:
        """The bytes that were written since the last call."""
        taken, self._waiting = b"".join(self._waiting), []
        return taken

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """What was written can still be taken."""
