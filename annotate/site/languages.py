"""The language of the pages that workers see."""

from functools import cache

from django.utils import translation

from annotate.language.languages import ENGLISH


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
