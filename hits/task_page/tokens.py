"""The signed token that identifies a task form's page. It replaces a cookie."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from django.core import signing

from annotate.errors import DomainError

SALT = "hits.task-form"


class TokenRefused(DomainError):
    """The token is forged or has expired."""


@dataclass(frozen=True)
class FrameParameters:
    """The four parameters that the marketplace passes to a task page."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str  # an origin of the endpoint's allow-list


@dataclass(frozen=True)
class TaskForm:
    """A form that was shown: its frame's parameters, its time, and the numbers of its tasks.

    Answers find their tasks by these numbers, even if the page's row was deleted.
    """

    frame: FrameParameters
    opened_at: datetime
    numbers: tuple[int, ...]


def sign(form: TaskForm) -> str:
    data = [asdict(form.frame), form.opened_at.timestamp(), form.numbers]
    return signing.dumps(data, salt=SALT, compress=True)


def read(token: str, *, max_age: timedelta) -> TaskForm:
    """The form that the token was signed for; raises TokenRefused."""
    try:
        frame, opened_at, numbers = signing.loads(token, salt=SALT, max_age=max_age)
        return TaskForm(
            FrameParameters(**frame), datetime.fromtimestamp(opened_at, UTC), tuple(numbers)
        )
    except signing.SignatureExpired as error:
        raise TokenRefused("This page is too old. Please open the HIT again.") from error
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise TokenRefused(
            "This form was not made by this site. Please open the HIT again."
        ) from error
