"""The base class of errors that services raise, and a function that shortens their messages."""


class DomainError(Exception):
    """The requested change is not possible now; the message can be shown to the user."""


def one_line(error: BaseException) -> str:
    """The first line of an error's message, for a log or a page.

    Further lines may contain the values of a row, such as PostgreSQL's DETAIL.
    """
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
