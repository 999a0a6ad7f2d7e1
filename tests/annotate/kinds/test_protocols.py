"""The texts of published protocols for ratings and comparisons."""

import pytest
from django.conf import settings
from django.utils import translation

from annotate.kinds.caption.rate_first import QUALITY
from annotate.kinds.preference.kind import IMAGE_IN_WORDS
from annotate.kinds.rating.answers import QUESTIONS
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


def test_the_adjectives_of_a_scale_have_one_form_in_arabic():
    fluent = QUESTIONS[-1].labels[:-1]  # the last one is no adjective

    with translation.override("ar"):
        scales = [
            [translation.gettext(label) for label in labels]
            for labels in (QUALITY.labels[:-1], fluent)
        ]

    # That of the quality and of the language that the questions ask about: feminine.
    assert all(label.endswith("ة") for labels in scales for label in labels)
