"""Find captions by their words, by the index that PostgreSQL has of them."""

from django.db.models import BooleanField, F, Func, Value

from annotate.models import Campaign, Caption
from annotate.models.responses import ResponseQuerySet
from annotate.queries.words import if_few

# A longer text is found by its beginning. The index holds this much of it.
INDEXED = 10_000


class HasWords(Func):
    """Whether a text contains all the words; quotation marks keep words together, and a minus sign
    excludes one. In the form of the index `caption_words` (PostgreSQL only)."""

    template = "(to_tsvector('simple', left(%(expressions)s))"
    arg_joiner = f", {INDEXED})) @@ websearch_to_tsquery('simple', "
    output_field = BooleanField()


def with_indexed_words(rows: ResponseQuerySet, campaign: Campaign, words: str) -> ResponseQuerySet:
    """Those of the responses whose caption has the words."""
    theirs = Caption.objects.filter(response__campaign=campaign)
    matching = theirs.filter(HasWords(F("text"), Value(words)))
    few = if_few(matching.values_list("pk", flat=True))
    if few is None:
        return rows.filter(HasWords(F("caption__text"), Value(words)))
    return rows.filter(pk__in=few)
