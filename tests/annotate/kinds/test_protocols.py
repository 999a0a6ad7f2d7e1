"""The texts of published protocols for ratings and comparisons."""

import pytest
from django.conf import settings
from django.utils import translation

from annotate.kinds.preference.kind import IMAGE_IN_WORDS
from annotate.kinds.rating.kind import THUMB

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_and_labels_have_a_translation(language):
    texts = [*IMAGE_IN_WORDS.values()]
    for question in THUMB:
        texts += [question["text"], question["help"], *question["labels"]]

    with translation.override(language):
        untranslated = {text for text in texts if translation.gettext(text) == text}

    # “no” is a Spanish word, too.
    assert untranslated <= ({"no"} if language == "es" else set())
