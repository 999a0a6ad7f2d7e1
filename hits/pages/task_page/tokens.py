"""The signed token that identifies a task form's page. It replaces a cookie."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from django.core import signing
from django.utils.translation import gettext

from corpora.errors import DomainError
from hits.services.task_pages import FrameParameters, TaskForm

SALT = "hits.task-form"


class TokenRefused(DomainError):
    """The token is forged or has expired."""


def sign(form: TaskForm) -> str:
    data = [asdict(form.frame), form.opened_at.timestamp(), form.numbers, form.primed]
    return signing.dumps(data, salt=SALT, compress=True)


def read(token: str, *, max_age: timedelta) -> TaskForm:
    """The form that the token was signed for; raises TokenRefused."""
    try:
        frame, opened_at, *numbers = signing.loads(token, salt=SALT, max_age=max_age)
        return TaskForm(
            FrameParameters(**frame), datetime.fromtimestamp(opened_at, UTC), *map(tuple, numbers)
        )
    except signing.SignatureExpired as error:
        raise TokenRefused(gettext("This page is too old. Please open the task again.")) from error
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise TokenRefused(
            gettext("This form was not made by this site. Please open the task again.")
        ) from error
