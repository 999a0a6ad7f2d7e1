"""The scoring process: `python -m leaderboard.scoring SECONDS MEGABYTES`.

Reads a job as JSON from standard input and prints `{"scores": …}` or `{"problem": …}`. Figures of
single images do not leave this process, and nothing that it prints quotes a caption.
"""

import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from corpora.errors import DomainError
from corpora.evaluation.java import Java
from corpora.evaluation.metrics import NoFigure
from corpora.evaluation.scoring import Group, Plan, score

MEGABYTE = 1_000_000


def main() -> None:
    seconds, megabytes = map(int, sys.argv[1:])
    _limit(seconds, megabytes)
    with _own_output() as out:
        json.dump(_answer(json.load(sys.stdin), seconds, megabytes), out)


def _limit(seconds: int, megabytes: int) -> None:
    """Limit this process and each program that it starts; end all of them after the time."""
    memory = megabytes * MEGABYTE
    # Memory that is written, not addresses: Java reserves far more addresses than it uses.
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    # Later than the first limit, at which the kernel sends SIGXCPU, and not SIGKILL as at this one.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # If the process that started this one has died, nobody else ends it.
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
    signal.alarm(seconds + 1)


def _own_output() -> IO[str]:
    """Standard output is for the answer alone; other output is dropped."""
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return os.fdopen(kept, "w")


def _answer(job: Mapping[str, Any], seconds: int, megabytes: int) -> dict[str, Any]:
    try:
        return {"scores": scored(job, seconds=seconds, megabytes=megabytes)}
    except MemoryError:
        return {"problem": f"Scoring needed more than {megabytes:,} MB of memory."}
    except DomainError as error:
        return {"problem": f"Scoring failed. {_beginning(str(error))}"}
    except Exception as error:
        return {"problem": f"Scoring failed with {type(error).__name__} {_place(error)}."}


def _beginning(reason: str) -> str:
    """The reason up to its first colon. The rest may quote what a program printed."""
    return reason.partition(":")[0].removesuffix(".") + "."


def _place(error: Exception) -> str:
    """Where an error was raised. Its message is left out, because it may quote a caption."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"in {last.name} ({Path(last.filename).name}, line {last.lineno})"


def scored(job: Mapping[str, Any], *, seconds: int, megabytes: int) -> dict[str, Any]:
    """The means over all images and over subsets, rounded.

    The job has `references`, `results` and `subsets` by the number of the image, `metrics` and
    `tokeniser`.
    """
    scores = score(
        _by_number(job["references"]),
        _by_number(job["results"]),
        Plan(
            metrics=job["metrics"],
            tokeniser=job["tokeniser"],
            subsets=_by_number(job["subsets"]),
            java=_java(seconds, megabytes),
        ),
    )
    if not scores.overall:
        raise NoFigure(next(iter(scores.failures.values()), "No metric was chosen."))
    return {
        "images": len(scores.whole.images),
        "overall": _rounded(scores.whole),
        "subsets": {name: _rounded(group) for name, group in scores.subsets.items()},
        "subset_images": {name: len(group.images) for name, group in scores.subsets.items()},
        "failed": {name: _beginning(reason) for name, reason in scores.failures.items()},
    }


def _java(seconds: int, megabytes: int) -> Java:
    """Limits as of this process; half of its memory is for the heap."""
    models = os.environ.get("SPICE_MODELS")
    heap = megabytes // 2
    return Java(
        seconds=seconds,
        memory_mb=heap,
        spice_models=Path(models) if models else None,
        spice_memory_mb=heap,
        spice_seconds=seconds,
    )


def _by_number(values: Mapping[str, Any]) -> dict[int, Any]:
    """The values by image number, which JSON turns into texts."""
    return {int(number): value for number, value in values.items()}


def _rounded(group: Group) -> dict[str, float]:
    digits = decimals(len(group.images))
    return {name: round(float(figure), digits) for name, figure in group.figures.items()}


MOST_DECIMALS = 4


def decimals(images: int) -> int:
    """One for ten images, two for a hundred, at most four.

    A score between 0 and 1 of one image then moves the mean of all by at most one step. With more
    decimals, two submissions that differ in one caption would tell that image's score.
    """
    return min(len(str(images)) - 1, MOST_DECIMALS)


if __name__ == "__main__":
    main()
