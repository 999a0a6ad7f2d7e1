"""Submitted answers as a QuestionFormAnswers document.

Each field is one answer, in the order of the form. XML cannot represent most control characters, so
these are removed. Everything else, including line breaks, is preserved.
"""

import re
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from lxml import etree

from marketplace.errors import DomainError

from . import xml

NAMESPACE = f"{xml.NAMESPACE}2005-10-01/QuestionFormAnswers.xsd"
# Parameters of the frame, which are not answers.
RESERVED = {"assignmentId", "hitId", "workerId", "turkSubmitTo"}
# psiTurk's last page sends only these.
ANSWERS_ALONE = {"hitId", "workerId"}
SEPARATOR = "|"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
NAMESPACES: Any = {None: NAMESPACE}
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def build(fields: Iterable[tuple[str, list[str]]]) -> str:
    """The document for a form's fields; raises DomainError if there are none or too much text."""
    root = etree.Element(f"{{{NAMESPACE}}}QuestionFormAnswers", nsmap=NAMESPACES)
    sent = list(fields)
    own = [(name, values) for name, values in sent if name not in RESERVED]
    if not own and settings.MTURK_FRAME_FIELDS_ALONE_ARE_ANSWERS:
        own = [(name, values) for name, values in sent if name in ANSWERS_ALONE]
    for name, values in own:
        if settings.MTURK_REPEATED_FIELDS == "join":
            values = [SEPARATOR.join(values)]
        for value in values:
            _add_answer(root, "FreeText", name, value)
    if not len(root):
        raise DomainError("The form contains no answer. Fill in at least one field.")
    return _document(root)


def _document(root: etree._Element) -> str:
    document = f"{DECLARATION}\n{etree.tostring(root, encoding='unicode')}"
    if len(document.encode()) > settings.MTURK_ANSWERS_MAX_BYTES:
        raise DomainError(
            f"The answers are too long: at most {settings.MTURK_ANSWERS_MAX_BYTES} bytes can be "
            "submitted. Please shorten them."
        )
    return document


def build_for_form(answers: Iterable[tuple[str, list[tuple[str, str]]]]) -> str:
    """The document for a QuestionForm's answers: identifiers with (element, text) pairs."""
    root = etree.Element(f"{{{NAMESPACE}}}QuestionFormAnswers", nsmap=NAMESPACES)
    for identifier, values in answers:
        answer = etree.SubElement(root, f"{{{NAMESPACE}}}Answer")
        _add(answer, "QuestionIdentifier", identifier)
        for element, text in values:
            _add(answer, element, text)
    return _document(root)


def read(document: str) -> dict[str, list[str]]:
    """The values of each question in a document; raises QuestionRefused if it is invalid."""
    root = xml.read(document.removeprefix(DECLARATION), what="Answer")
    return {
        xml.text_of(answer, "QuestionIdentifier"): [
            each.text or ""
            for each in xml.children(answer)
            if xml.local_name(each) != "QuestionIdentifier"
        ]
        for answer in xml.children(root, "Answer")
    }


def _add_answer(root: etree._Element, element: str, name: str, value: str) -> None:
    answer = etree.SubElement(root, f"{{{NAMESPACE}}}Answer")
    _add(answer, "QuestionIdentifier", name)
    _add(answer, element, value)


def _add(parent: etree._Element, name: str, text: str) -> None:
    etree.SubElement(parent, f"{{{NAMESPACE}}}{name}").text = _FORBIDDEN.sub("", text)
