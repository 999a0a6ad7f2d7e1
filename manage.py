#!/usr/bin/env python
"""Run a management command of one of the two sites."""

import os
import sys


def settings_for(command: str) -> str:
    """The settings module a command belongs to: `marketplace…` commands run the other site."""
    return "marketplace.settings" if command.startswith("marketplace") else "annotate.settings"


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings_for(command))

    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
