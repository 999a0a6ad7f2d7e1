"""Parse the three kinds of question from requesters' XML, and fill in layouts."""

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from lxml import etree

from marketplace.errors import QuestionRefused
from marketplace.questions import xml
from marketplace.questions.forms import Block, Field, parse_form
from shared.environment import is_url

EXTERNAL = f"{{{xml.NAMESPACE}2006-07-14/ExternalQuestion.xsd}}ExternalQuestion"
HTML = f"{{{xml.NAMESPACE}2011-11-11/HTMLQuestion.xsd}}HTMLQuestion"
FORMS = {
    f"{{{xml.NAMESPACE}{version}/QuestionForm.xsd}}QuestionForm"
    for version in ("2005-10-01", "2017-11-06")
}


@dataclass(frozen=True)
class ExternalQuestion:
    """A page on the requester's site that is shown in a frame."""

    url: str
    frame_height: int

    def url_with(self, parameters: dict[str, str]) -> str:
        """The page's URL with these parameters added."""
        base, hash_mark, fragment = self.url.partition("#")
        joint = "&" if "?" in base else "?"
        return f"{base}{joint}{urlencode(parameters)}{hash_mark}{fragment}"


@dataclass(frozen=True)
class HtmlQuestion:
    """A page whose HTML is part of the HIT."""

    html: str
    frame_height: int


@dataclass(frozen=True)
class FormQuestion:
    """A form that the marketplace renders."""

    parts: tuple[Block | Field, ...]
    frame_height: int = 0


Question = ExternalQuestion | HtmlQuestion | FormQuestion


def check_question(text: str) -> Question:
    """The parsed question of a new HIT or test; raises QuestionRefused with the reason if it is
    invalid, or if the settings do not allow its size or its address. They may change later."""
    size = len(text.encode())
    if size > settings.MTURK_QUESTION_MAX_BYTES:
        raise QuestionRefused(
            f"Question has {size} bytes; at most {settings.MTURK_QUESTION_MAX_BYTES} are allowed."
        )
    question = parse_question(text)
    if isinstance(question, ExternalQuestion):
        _check_url(question.url)
    if isinstance(question, FormQuestion):
        _check_identifiers(question)
        _check_choices(question)
        _check_limits(text)
    return question


@lru_cache(maxsize=256)
def parse_question(text: str) -> Question:
    """The parsed question; raises QuestionRefused with the reason if it is invalid."""
    root = xml.read(text, what="Question")
    if root.tag == EXTERNAL:
        xml.validate(root, "external_question.xsd", what="Question")
        return ExternalQuestion(url=_text(root, 0), frame_height=int(_text(root, 1)))
    if root.tag == HTML:
        xml.validate(root, "html_question.xsd", what="Question")
        return HtmlQuestion(html=_text(root, 0), frame_height=int(_text(root, 1)))
    if root.tag in FORMS:
        form = xml.in_namespace(root, xml.FORM_NAMESPACE)
        xml.validate(form, "question_form.xsd", what="Question")
        return FormQuestion(parts=tuple(parse_form(root)))
    raise QuestionRefused(
        f"There was an error parsing the XML Question: {root.tag} is no question that is known "
        "here. It must be an ExternalQuestion, HTMLQuestion or QuestionForm in its namespace.",
        code="XMLParseError",
    )


def _text(root: etree._Element, position: int) -> str:
    return (root[position].text or "").strip()


def _check_url(url: str) -> None:
    local = {host.strip("[]") for host in settings.MTURK_HTTP_HOSTS}
    is_allowed = is_url(url, "https") or (is_url(url, "http") and urlsplit(url).hostname in local)
    if not is_allowed or not url.isprintable():
        raise QuestionRefused(
            f'The ExternalURL "{url}" must be an https address, or http on this machine.'
        )


def _check_identifiers(form: FormQuestion) -> None:
    """Raise QuestionRefused if answers could not be told apart."""
    for part in form.parts:
        if isinstance(part, Field):
            # The form's own field has the other name.
            if part.identifier in ("", "assignmentId"):
                raise QuestionRefused("A QuestionIdentifier must not be blank or assignmentId.")
            options = [option.identifier for option in part.options]
            if len(set(options)) != len(options):
                raise QuestionRefused(
                    f"Every SelectionIdentifier of the question {part.identifier} must be "
                    "different."
                )


def _check_choices(form: FormQuestion) -> None:
    """Raise QuestionRefused if a question asks for more choices than anybody can make."""
    for part in form.parts:
        if isinstance(part, Field) and part.kind != "text":
            most = min(part.most, len(part.options) + (part.other is not None))
            if part.least > most:
                raise QuestionRefused(
                    f"MinSelectionCount of the question {part.identifier} is {part.least}, but at "
                    f"most {most} can be chosen."
                )


def _check_limits(text: str) -> None:
    """Raise QuestionRefused if a lower limit is above the upper one."""
    root = xml.read(text, what="Question")
    for element in root.iter("{*}Length", "{*}IsNumeric"):
        suffix = "Length" if xml.local_name(element) == "Length" else "Value"
        least, most = element.get(f"min{suffix}"), element.get(f"max{suffix}")
        if least is not None and most is not None and int(least) > int(most):
            raise QuestionRefused(
                f"A min{suffix} is {least}, but the max{suffix} beside it is {most}."
            )


def check_test(text: str) -> None:
    """Raise QuestionRefused unless the document is a form, as a qualification test must be."""
    if not isinstance(check_question(text), FormQuestion):
        raise QuestionRefused("A qualification test must be a QuestionForm.")


_GAP = re.compile(r"\$\{([A-Za-z0-9_.-]+)\}")


def gaps(template: str) -> set[str]:
    """Names of the parameters of a layout."""
    return set(_GAP.findall(template))


def fill(template: str, values: dict[str, str]) -> str:
    """The question with all placeholders replaced; raises QuestionRefused if a value is missing.

    Values are HTML, as at Mechanical Turk: the question may be invalid with them.
    """
    missing = sorted(gaps(template) - set(values))
    if missing:
        raise QuestionRefused(f"The HITLayout needs values for: {', '.join(missing)}.")
    return _GAP.sub(lambda gap: values[gap[1]], template)
