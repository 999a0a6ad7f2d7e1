"""The rows of a QuestionForm for its template, and what its page may load."""

from collections.abc import Iterator
from typing import Any

from django.http import QueryDict

from marketplace.questions import FormQuestion
from marketplace.questions.forms import Field, Filled

# Images and recordings of forms are on requesters' servers. Old forms use http URLs, which browsers
# upgrade or block on an https page.
FORM_MEDIA = {"img_src": "'self' https: http:", "media_src": "https: http:"}


def form_rows(
    form: FormQuestion, given: QueryDict | None, filled: Filled | None
) -> Iterator[dict[str, Any]]:
    """Each part of the form with the entered values and its error message."""
    for number, part in enumerate(form.parts, start=1):
        if not isinstance(part, Field):
            yield {"block": part}
            continue
        entered = given.getlist(part.identifier) if given is not None else [part.default]
        yield {
            "field": part,
            "id": f"question-{number}",
            "value": entered[-1] if entered else "",
            "chosen": set(entered) if given is not None else set(),
            "other": _entered_other(part, given),
            "problem": filled.problems.get(part.identifier, "") if filled else "",
        }


def _entered_other(part: Field, given: QueryDict | None) -> str:
    if part.other is None:
        return ""
    return part.other.default if given is None else given.get(part.other.identifier, "")
