"""The signed token that ties a task form to one page, in place of a cookie."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from django.core import signing

from annotate.errors import DomainError

SALT = "hits.task-form"


class TokenRefused(DomainError):
    """The form is forged, or too old."""


@dataclass(frozen=True)
class FrameParameters:
    """Who opened a task page: the four parameters that the marketplace gives."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str  # an origin of the endpoint's allow-list


@dataclass(frozen=True)
class TaskForm:
    """A form that was shown: to whom, since when, and the numbers of its tasks. It outlives the
    row of its page, so that an answer finds its tasks in any case."""

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
