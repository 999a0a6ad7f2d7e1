"""Score captions and report on them without the site: `python -m corpora COMMAND --help`."""

import errno
import os
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from types import ModuleType

from corpora.commands import (
    WrongOptions,
    constraints,
    content_selection,
    correlate,
    evaluate,
    note,
    report,
    splits,
)
from corpora.errors import DomainError

COMMANDS: dict[str, ModuleType] = {
    "evaluate": evaluate,
    "correlate": correlate,
    "report": report,
    "content_selection": content_selection,
    "splits": splits,
    "constraints": constraints,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 1 after an error, 2 for wrong options."""
    parser = ArgumentParser("python -m corpora", description="Score captions and report on them.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name, help=command.HELP.replace("%", "%%"), description=command.HELP
        )
        command.add_arguments(own)
        own.set_defaults(run=command.run)
    options = vars(parser.parse_args(arguments))
    try:
        for line in options.pop("run")(**options):
            print(line)
        sys.stdout.flush()
    except DomainError as error:
        note(f"Error: {error}")
        return 2 if isinstance(error, WrongOptions) else 1
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        note(f"Error: {error.strerror}.")
        # Python would flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    # A reader such as `head` may stop before the output ends.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
