"""Forms that are carried out once, also if the browser posts them twice.

A double click, or a page that is loaded again, posts a form a second time. The form has a key in a
hidden field (`{% load once %}{% form_key %}`), which the site stores before it carries the form
out. The answer to the second post leads where the first one led. A form that is changed after going
back in the browser is another form, although its page has the same key.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from hashlib import file_digest
from time import sleep
from uuid import UUID, uuid4, uuid5

from django import template
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.html import format_html
from django.utils.safestring import SafeString

FIELD = "form_key"
# How long the second post waits for the answer to the first one, in seconds.
PATIENCE, PAUSE = 5.0, 0.1

register = template.Library()


@register.simple_tag
def form_key() -> SafeString:
    """The hidden field with a key for this form."""
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, uuid4())


def key_of(request: HttpRequest) -> UUID | None:
    """The key of a posted form with its entries; None without one. Raises ValueError if it is
    damaged."""
    text = request.POST.get(FIELD) if request.method == "POST" else None
    if text is None:
        return None
    files = [(file.name, _digest(file)) for _, sent in request.FILES.lists() for file in sent]
    return uuid5(UUID(text), repr([request.path, *request.POST.lists(), *files]))


def _digest(file: UploadedFile) -> str:
    # A corrected file can have the size of the one before.
    digest = file_digest(file.open(), "sha256").hexdigest()
    file.seek(0)
    return digest


class SentForm(ABC):
    """A form whose key is stored: how the site keeps and finds the answer."""

    # Whether the form was not sent before.
    is_new: bool

    @abstractmethod
    def keep(self, response: HttpResponseBase) -> None:
        """Store what the first post's answer was."""

    @abstractmethod
    def forget(self) -> None:
        """Delete the key."""

    @abstractmethod
    def is_answered(self) -> bool:
        """Whether the first post's answer is stored by now, or its key deleted."""

    @abstractmethod
    def second_answer(self) -> HttpResponseBase:
        """The answer to the second post."""


def carried_out_once(form: SentForm, view: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """The view's answer to a new form. A form that the view refuses can be sent again."""
    if not form.is_new:
        _wait_for_answer(form)
        return form.second_answer()
    try:
        answer = view()
    except BaseException:
        form.forget()
        raise
    if answer.status_code >= 400:
        form.forget()
    else:
        form.keep(answer)
    return answer


def _wait_for_answer(form: SentForm) -> None:
    for _ in range(round(PATIENCE / PAUSE)):
        if form.is_answered():
            return
        sleep(PAUSE)
