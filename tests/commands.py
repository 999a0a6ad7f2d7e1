"""Run management commands, and read what they print."""

from io import StringIO

from django.core.management import call_command


def output_of(*arguments: object, **options: object) -> str:
    """The command's output; the first argument is its name."""
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, **options)
    return out.getvalue()
