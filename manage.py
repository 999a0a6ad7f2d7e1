#!/usr/bin/env python
"""Run a management command of one of the two sites.

The sites do not import each other, and a process runs one of them. The command's name says which.
"""

import errno
import logging
import os
import sys
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, ManagementUtility, find_commands
from django.core.management.base import OutputWrapper

from shared.environment import BothSites, read, settings_in_words
from shared.logs import LogLines

# Commands that servers run, besides those with the option `--watch`.
SERVICES = {"migrate", "marketplace"}
OTHER_SITE = "marketplace"


def settings_for(arguments: list[str]) -> str:
    """The settings module for the command, or for the one that help is asked about.

    The names of the other site's commands begin with its own.
    """
    words = [word for word in arguments if not word.startswith("-")]
    if words[:1] == ["help"]:
        words = words[1:]
    is_other = bool(words) and words[0].startswith(OTHER_SITE)
    return f"{OTHER_SITE}.settings" if is_other else "config.settings"


def one_line_if_interrupted(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("Interrupted.", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def end_without_output(error: OSError) -> None:
    """End a process whose output cannot be written; raises any other error again."""
    if error.errno not in {errno.EPIPE, errno.ENOSPC}:
        raise error
    # Python would flush the rest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Who read the output of a closed pipe, such as `head`, has had enough.
    if error.errno == errno.ENOSPC:
        print(f"Error: {error.strerror}.", file=sys.stderr)
    sys.exit(1)


def main() -> None:
    sys.excepthook = one_line_if_interrupted  # Logs in JSON have another one.
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings_for(sys.argv[1:]))

    class Utility(ManagementUtility):
        """Lists the commands of both sites, and turns the output of some into logs."""

        def fetch_command(self, subcommand: str) -> BaseCommand:
            command = super().fetch_command(subcommand)
            is_service = subcommand in SERVICES or any(
                word.startswith("--watch") for word in self.argv
            )
            if is_service and read(BothSites).log_format == "json":
                command.stdout = OutputWrapper(LogLines(logging.INFO))
                command.stderr = OutputWrapper(LogLines(logging.ERROR))
            return command

        def main_help_text(self, commands_only: bool = False) -> str:
            text = super().main_help_text(commands_only)
            folders = (Path(__file__).resolve().parent / OTHER_SITE).rglob("management")
            names = sorted(name for folder in folders for name in find_commands(str(folder)))
            missing = [
                name for name in names if name.startswith(OTHER_SITE) and name not in text.split()
            ]
            if commands_only:
                return "\n".join(sorted([*text.split(), *missing]))
            if missing:
                text += "\n".join(
                    ["", "", f"[{OTHER_SITE}]", *(f"    {command}" for command in missing)]
                )
            return text

    with settings_in_words():
        try:
            Utility(sys.argv).execute()
            sys.stdout.flush()
        except OSError as error:
            end_without_output(error)


if __name__ == "__main__":
    main()
