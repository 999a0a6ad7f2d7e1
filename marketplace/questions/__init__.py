"""The XML documents of the marketplace: questions, tests, answer keys and answers."""

from .documents import (
    ExternalQuestion,
    FormQuestion,
    HtmlQuestion,
    check_question,
    check_test,
    parse_question,
)

__all__ = [
    "ExternalQuestion",
    "FormQuestion",
    "HtmlQuestion",
    "check_question",
    "check_test",
    "parse_question",
]
