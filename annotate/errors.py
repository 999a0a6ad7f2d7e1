"""The base class of errors that services raise, and how an error is shown."""


class DomainError(Exception):
    """The change is not possible now; the message is fit for the person who asked for it."""


def one_line(error: BaseException) -> str:
    """The first line of an error's message, for a log or a page. What follows may be a row's
    values, as with PostgreSQL's DETAIL."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
