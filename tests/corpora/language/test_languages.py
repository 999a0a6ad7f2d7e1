"""Languages of campaigns: rules, translations, and the task page in each of them."""

import gettext
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation

from annotate.kinds import KINDS
from annotate.kinds.campaign_files import CampaignFileError, parse_config
from annotate.kinds.wording import page_language
from corpora.language.languages import LANGUAGES, language_of
from corpora.language.text import CaptionRules, Problem, problems
from qualcontrol.flags.writing import writing_flags

LOCALE = Path(settings.LOCALE_PATHS[0])
CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>")
TRANSLATED = sorted(set(LANGUAGES) - {"en"})
GOOD = "Two cyclists ride past a row of parked cars on a wet street."
OLD_MAN = "An old man in a straw hat feeds pigeons beside a stone fountain."
EMPTY = "There is a street."
LISTED = "Bicycle, person, car, tree, street light, wheel, road."


def messages(compiled):
    """The texts of a compiled catalogue by their English ones, without its header."""
    with compiled.open("rb") as file:
        return {key: text for key, text in gettext.GNUTranslations(file)._catalog.items() if key}


def codes(text, tag, **rules):
    rules = CaptionRules(**{"least_words": 3, **rules})
    return [problem.code for problem in problems(text, rules=rules, language=tag)]


def test_every_language_with_rules_has_a_catalogue_and_is_offered():
    offered = {code for code, _ in settings.LANGUAGES}

    assert {page_language(tag) for tag in LANGUAGES} == offered
    assert {path.parts[-3].split("_")[0] for path in CATALOGUES} == set(TRANSLATED)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])
def test_placeholders_and_elements_of_a_translation_are_those_of_the_text(path):
    for key, translated in messages(path.with_suffix(".mo")).items():
        text = key[0] if isinstance(key, tuple) else key  # of several forms of a plural
        assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(translated)), text


@pytest.mark.parametrize("tag", TRANSLATED)
def test_translated_examples_follow_the_rules_of_their_language(tag):
    with translation.override(page_language(tag)):
        good, old_man, empty, listed = map(translation.gettext, (GOOD, OLD_MAN, EMPTY, LISTED))

    assert GOOD not in {good, old_man}
    assert codes(good, tag, least_words=8) == codes(old_man, tag, least_words=8) == []
    assert "there_is" in codes(empty, tag)
    assert codes(listed, tag) == ["keyword_list"]


def test_a_sentence_about_a_broken_rule_is_in_the_language_of_the_page():
    [problem] = problems(
        "Es gibt hier einen Hund.", rules=CaptionRules(least_words=3), language="de"
    )

    with translation.override("de"):
        sentence = translation.gettext(problem.sentence).format_map(problem.values)

    assert sentence.startswith("Bitte nicht mit „Es gibt“")


@pytest.mark.parametrize(
    ("text", "least", "expected"),
    [
        ("两只狗在草地上追逐一个红色的飞盘。", 11, []),
        ("两只狗在草地上追逐一个红色的飞盘。", 12, ["too_short"]),
    ],
)
def test_words_without_spaces_between_them_count(text, least, expected):
    assert codes(text, "zh", least_words=least) == expected


def test_a_language_without_rules_has_the_general_ones():
    assert language_of("pt-BR").openings is None
    assert page_language("pt-BR") == "en"
    assert codes("cão, gato, árvore, carro", "pt-BR") == ["keyword_list"]


def test_only_kinds_that_have_languages_may_name_one(monkeypatch):
    file = {"name": "links", "kind": "correspondence", "caption_set": "set", "budget": 5}
    assert parse_config({**file, "language": "de"}).language == "de"
    monkeypatch.setattr(type(KINDS["correspondence"]), "has_languages", False)

    with pytest.raises(CampaignFileError, match="language: campaigns of kind 'correspondence'"):
        parse_config({**file, "language": "de"})


@pytest.mark.parametrize("tag", ["German", "de_DE", "", "x", "de-de"])
def test_a_language_is_a_tag(tag):
    file = {"name": "pilot", "selection": "pilot", "budget": 5}

    with pytest.raises(CampaignFileError, match="language: write the tag of a language"):
        parse_config({**file, "language": tag})


def test_a_region_may_be_a_number():
    file = {"name": "pilot", "selection": "pilot", "budget": 5}

    config = parse_config({**file, "language": "es-419"})

    assert config.hit.title == parse_config({**file, "language": "es"}).hit.title


def test_flags_that_know_only_english_are_off_in_other_languages():
    text = "Der Hund läuft über die nasse Straße vor dem Haus"
    english, german = (
        parse_config({"name": "pilot", "selection": "pilot", "budget": 5, "language": tag})
        for tag in ("en", "de")
    )

    assert {flag.code for flag in writing_flags(text, english)} >= {"foreign", "misspelled"}
    assert writing_flags(text, german) == []
    assert [flag.code for flag in writing_flags("Es gibt einen Hund auf der Straße.", german)] == [
        "too_short",
        "rule_words",
    ]


def test_a_sentence_without_values_may_quote_braces():
    assert Problem("missing", "No answer for {image}.").message == "No answer for {image}."
