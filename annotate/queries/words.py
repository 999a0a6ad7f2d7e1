"""Find responses by the words of a text, in any database."""

from typing import Any

from django.db.models import QuerySet

from annotate.models.responses import ResponseQuerySet
from corpora.language.tokens import is_unspaced

FEW = 5_000


def with_words(rows: ResponseQuerySet, field: str, words: str) -> ResponseQuerySet:
    """Those of the responses whose text, by this lookup, has all the words."""
    for word in words.replace('"', " ").split():
        # The first condition is fast, the second one finds whole words, where spaces divide them.
        rows = rows.filter(**{f"{field}__icontains": word})
        if not is_unspaced(word):
            rows = rows.filter(**{f"{field}__iregex": rf"(^|\W){_escaped(word)}($|\W)"})
    return rows


def _escaped(word: str) -> str:
    """The word as a regular expression that all databases read in the same way."""
    return "".join(
        character if character.isalnum() else f"\\{character}" if character.isascii() else character
        for character in word
    )


def if_few(keys: QuerySet[Any, int]) -> list[int] | None:
    """The keys if there are at most FEW. PostgreSQL does not know how rare a word is: given the
    keys, it reads just these responses, and otherwise it looks through them in their order."""
    first_keys = list(keys[: FEW + 1])
    return first_keys if len(first_keys) <= FEW else None
