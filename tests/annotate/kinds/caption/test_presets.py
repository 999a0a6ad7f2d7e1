"""The presets of published collections: their limits, pay and texts, in each language."""

from decimal import Decimal

import pytest
from django.utils.translation import gettext

from annotate.campaign_file import fair_hit, seconds_for
from annotate.kinds.campaign_files import TEXTS, filled, parse_config, parse_plan
from annotate.kinds.caption.presets import IN_WORDS, PRESETS
from annotate.kinds.wording import in_language
from annotate.services.drafts import value_at
from corpora.language.languages import LANGUAGES
from corpora.language.text import CaptionRules

LEAST = {"name": "pilot", "selection": "val", "budget": "10.00"}


def of(preset, **values):
    return parse_config({**LEAST, "preset": preset, **values})


def test_each_preset_has_a_name_for_people():
    assert PRESETS.keys() == IN_WORDS.keys()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_draft_shows_what_a_file_with_the_preset_sets(preset):
    config = of(preset).model_dump(mode="json")
    shown = filled({**LEAST, "preset": preset})

    for section in ("captions", "instructions", "hit", "review", "priming", "flags"):
        for key, value in config[section].items():
            default = value_at(shown, f"{section}.{key}")
            assert (list(default) if isinstance(default, tuple) else default) == value, key


def test_the_older_presets_set_no_rules():
    plain = parse_config(LEAST).model_dump(exclude={"preset", "references", "priming"})

    for preset in ("nocaps", "coco-c5", "coco-c40"):
        assert of(preset).model_dump(exclude={"preset", "references", "priming"}) == plain


def test_a_file_changes_one_rule_of_a_preset_and_keeps_the_others():
    config = of("docci", captions={"target_words": 60}, instructions={"intro": "Look."})

    assert (config.captions.target_words, config.captions.least_words) == (60, 40)
    assert config.captions.style == "paragraph"
    assert config.instructions.intro == "Look."
    assert config.instructions.rules == of("docci").instructions.rules


@pytest.mark.parametrize("preset", ["vizwiz", "docci", "dci", "alt-text"])
def test_the_texts_of_a_preset_are_in_the_language_of_the_campaign(preset):
    english = of(preset).model_dump()
    for language in LANGUAGES.keys() - {"en"}:
        texts = of(preset, language=language).model_dump()
        for path in TEXTS:
            before, now = value_at(english, path), value_at(texts, path)
            assert not before or now != before, (language, path)
            with in_language(language):
                assert now == in_words(before), (language, path)


def in_words(text):
    """The text, or those of a list or a table, in the active language."""
    if isinstance(text, dict):
        return {key: in_words(value) for key, value in text.items()}
    return tuple(map(in_words, text)) if isinstance(text, tuple) else text and gettext(text)


def test_the_examples_of_vizwiz_do_not_forbid_names():
    bad = of("vizwiz", language="de").instructions.bad

    assert [each.why for each in bad] == ["sagt fast nichts", "eine Liste, kein Satz"]


def test_each_language_of_a_file_has_its_own_texts_or_those_of_the_preset():
    plan = parse_plan(
        {
            **LEAST,
            "preset": "alt-text",
            "languages": ["en", "ar", "de"],
            "translations": {"de": {"instructions": {"rules": ["Kurz bleiben."]}}},
        }
    )
    english, arabic, german = plan.configs

    assert german.instructions.rules == ("Kurz bleiben.",)
    assert "Bildschirmleser" in german.instructions.intro
    assert len(arabic.instructions.rules) == len(english.instructions.rules)
    assert arabic.hit.title != english.hit.title


def test_time_and_reward_follow_the_length():
    lengths = {"sentence": CaptionRules(), "dci": of("dci").captions, "docci": of("docci").captions}

    assert {name: round(seconds_for(rules)) for name, rules in lengths.items()} == {
        "sentence": 40, "dci": 2402, "docci": 437,
    }  # fmt: skip
    assert fair_hit(CaptionRules()) == {"reward": "0.10", "minutes": 20}
    assert (of("dci").hit.reward, of("dci").hit.minutes) == (Decimal("6.00"), 120)
