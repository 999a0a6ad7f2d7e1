"""Run the official Java programs within limits of time and memory.

A program reads and writes temporary files without names, so none are left behind, even if this
process is killed. Where `setpriv` exists (Linux), the program is killed together with this process.
"""

import importlib.util
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from corpora.errors import DomainError

# Java's status after -XX:+ExitOnOutOfMemoryError.
OUT_OF_MEMORY = 3
# Beginnings of lines on the error stream that do not explain a failure.
NOTES = ("WARNING:", "Picked up ", "SLF4J:", "\tat ")


class Java(NamedTuple):
    """The Java program and the limits of its processes; `spice_models` enables SPICE.

    `memory_mb` limits the heap. The official METEOR asks for 2 GB, the official SPICE for 8 GB.
    """

    program: str = "java"
    memory_mb: int = 2048
    seconds: float = 900
    spice_models: Path | None = None
    spice_memory_mb: int = 8192
    spice_seconds: float = 3600


class Streams(NamedTuple):
    """The files that a program reads and writes."""

    source: IO[bytes]
    output: IO[bytes]
    errors: IO[bytes]


class JavaFailed(DomainError):
    """A Java program could not be run to its end; the message gives the reason."""


def package_folder() -> Path:
    """The folder of pycocoevalcap, which contains the Java programs; raises JavaFailed."""
    spec = importlib.util.find_spec("pycocoevalcap")
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise JavaFailed(
            "The package pycocoevalcap is not installed. Install it with `pip install "
            "pycocoevalcap`."
        )
    return Path(folders[0]).absolute()


def find_java(java: Java) -> str:
    """The path of the Java program; raises JavaFailed."""
    path = shutil.which(java.program)
    if path is None:
        raise JavaFailed(f"Java is not installed: there is no program `{java.program}`.")
    return path


def run_java(
    arguments: Sequence[str | Path], *, java: Java, input_text: str = "", folder: Path | None = None
) -> str:
    """The output of a Java program; raises JavaFailed.

    `folder` is the working folder, and Java's folder for temporary files.
    """
    options = [f"-Xmx{java.memory_mb}m", "-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData"]
    options += ["-Dfile.encoding=UTF-8", f"-Djava.io.tmpdir={folder or tempfile.gettempdir()}"]
    command = [*_bound_to_us(), find_java(java), *options, *map(str, arguments)]
    try:
        with (
            tempfile.TemporaryFile() as source,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            source.write(input_text.encode())
            source.seek(0)
            status = _status(command, java, Streams(source, output, errors), folder)
            if status:
                raise JavaFailed(_reason(status, _content(errors), java))
            return _content(output)
    except OSError as error:
        raise JavaFailed(f"Java could not be run: {error.strerror}.") from error


def _status(command: Sequence[str], java: Java, streams: Streams, folder: Path | None) -> int:
    with subprocess.Popen(
        command,
        stdin=streams.source,
        stdout=streams.output,
        stderr=streams.errors,
        cwd=folder,
        start_new_session=True,
    ) as process:
        try:
            return process.wait(java.seconds)
        except subprocess.TimeoutExpired as error:
            raise JavaFailed(f"Java was stopped after its limit of {java.seconds:g} s.") from error
        finally:
            process.kill()


def _bound_to_us() -> list[str]:
    """A prefix that makes the kernel kill the program when this process ends."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []


def _content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _reason(status: int, errors: str, java: Java) -> str:
    if status == OUT_OF_MEMORY or "OutOfMemoryError" in errors:
        return f"Java ran out of its memory of {java.memory_mb} MB."
    if status == -signal.SIGXCPU:
        return "Java reached its limit of processor time."
    if status < 0:
        return f"Java was killed by the signal {signal.Signals(-status).name}."
    lines = [line for line in errors.splitlines() if line.strip() and not line.startswith(NOTES)]
    return f"Java ended with status {status}: {lines[0][:200] if lines else 'no message'}."
