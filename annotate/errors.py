"""The one kind of error that a service raises when a change is not possible."""


class DomainError(Exception):
    """The change is not possible now; the message is fit for the person who asked for it."""
