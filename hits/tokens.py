"""The signed word that ties a task form to one worker's turn, in place of a cookie."""

from dataclasses import asdict, dataclass
from datetime import timedelta

from django.core import signing

from annotate.errors import DomainError

SALT = "hits.task-form"


class TokenRefused(DomainError):
    """The form is forged, or too old."""


@dataclass(frozen=True)
class Turn:
    """Who opened a task page: the four parameters that the marketplace gives."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str  # an origin of the endpoint's allow-list


def sign(turn: Turn) -> str:
    return signing.dumps(asdict(turn), salt=SALT, compress=True)


def read(token: str, *, max_age: timedelta) -> Turn:
    """The turn that the token was signed for; raises TokenRefused."""
    try:
        return Turn(**signing.loads(token, salt=SALT, max_age=max_age))
    except signing.SignatureExpired as error:
        raise TokenRefused("This page is too old. Please open the HIT again.") from error
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise TokenRefused(
            "This form was not made by this site. Please open the HIT again."
        ) from error
