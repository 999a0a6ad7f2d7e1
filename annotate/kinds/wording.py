"""The language of task pages, and texts that several task types have in it."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

from django.utils import translation
from django.utils.translation import gettext

from corpora.language.languages import ENGLISH
from corpora.language.text import Problem

# A number of each category of plurals that a language may have (CLDR's names, as in JavaScript's
# `Intl.PluralRules`).
NUMBERS = {"zero": 0, "one": 1, "two": 2, "few": 3, "many": 11, "other": 100}


@cache
def page_language(tag: str) -> str:
    """The translation for a language by its BCP 47 tag: `de` for `de-AT`, English if there is
    none."""
    try:
        return translation.get_supported_language_variant(tag)
    except LookupError:
        return ENGLISH


def in_language(tag: str) -> translation.override:
    """A context in which texts are those of this language."""
    return translation.override(page_language(tag))


def translated(problems: Iterable[Problem]) -> list[Problem]:
    """The problems with their sentences in the active language."""
    return [replace(problem, sentence=gettext(problem.sentence)) for problem in problems]


def quoted(words: str) -> str:
    """The words in the language's quotation marks."""
    return gettext("“{words}”").format(words=words)


def listed(items: Iterable[str]) -> str:
    """The items with the language's comma between them."""
    return gettext(", ").join(items)


def plural_forms(text_of: Callable[[int], str]) -> dict[str, str]:
    """The forms of a text by category, for scripts; `text_of` gives the form for a number."""
    return {category: text_of(number) for category, number in NUMBERS.items()}
