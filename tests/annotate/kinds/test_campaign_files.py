from contextlib import suppress
from decimal import Decimal

import pytest

from annotate.kinds import KINDS
from annotate.kinds.campaign_files import (
    PRESETS,
    CampaignFileError,
    filled,
    parse_config,
    read_plan,
)
from corpora.reading.files import MalformedFile

LEAST = {"name": "pilot", "selection": "val", "budget": "10.00"}


def test_a_preset_fills_in_what_the_file_leaves_out():
    config = parse_config({**LEAST, "preset": "coco-c40", "hit": {"reward": "0.05"}})

    assert (config.references, config.baselines, config.wanted) == (40, 1, 41)
    assert config.priming.share == 0
    assert config.hit.reward == Decimal("0.05")


def test_the_file_has_the_last_word_over_its_preset():
    config = parse_config({**LEAST, "preset": "nocaps", "references": 3})

    assert config.wanted == 4
    assert config.priming.share == 1


def test_workers_are_those_of_nocaps_by_default():
    workers = parse_config(LEAST).workers

    assert workers.countries == ("US",)
    assert (workers.approved_hits, workers.approval_rate) == (5000, 95)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "colour: there is no such key"),
        ({"hit": {"price": 1}}, "hit.price: there is no such key"),
        ({"hit": {"assignments": 10}}, "hit.assignments: input should be less than or equal to 9"),
        ({"hit": {"reward": "0.105"}}, "hit.reward: "),
        ({"hit": {"reward": -1}}, "hit.reward: "),
        ({"references": 0}, "references: "),
        ({"references": "many"}, "references: "),
        ({"priming": {"share": 1.5}}, "priming.share: "),
        ({"workers": {"countries": ["usa"]}}, "workers.countries.0: "),
        (
            {"workers": {"countries": ["UK"]}},
            "workers.countries.0: must be a country code of ISO 3166",
        ),
        ({"name": "Big Pilot"}, "name: "),
        ({"preset": "flickr"}, "preset: "),
        ({"captions": {"least_words": 9, "most_words": 8}}, "captions: least_words is greater"),
        ({"hit": {"auto_approval_days": 0}}, "review.approve_after_hours is longer"),
        ({"hit": 5}, "hit: "),
        ({"seed": 2**63}, "seed: "),
        ({"review": {"trial": 2**63}}, "review.trial: input should be less than or equal to"),
        ({"flags": {"seconds": -1}}, "flags.seconds: "),
        ({"flags": {"seconds": float("inf")}}, "flags.seconds: input should be a finite number"),
        ({"references": [[[[["deep"] * 99]]]]}, "'deep', ...]]]]]"),
        ({"a\nb": 1}, r"a\nb: there is no such key"),
    ],
)
def test_an_unknown_key_or_impossible_value_is_named(change, message):
    with pytest.raises(CampaignFileError) as caught:
        parse_config({**LEAST, **change})

    assert message in str(caught.value)


def test_every_missing_key_is_named():
    with pytest.raises(CampaignFileError) as caught:
        parse_config({})

    assert [line.split(":")[0] for line in str(caught.value).splitlines()] == [
        "name",
        "budget",
    ]


@pytest.mark.parametrize("named", [{}, {"selection": "val", "release": "first"}])
def test_a_campaign_works_on_exactly_one_thing(named):
    with pytest.raises(CampaignFileError, match="one of selection, release and caption_set"):
        parse_config({"name": "pilot", "budget": "10.00", **named})


def test_the_imageclef_preset_asks_three_workers_about_each_caption():
    config = parse_config(
        {"name": "links", "preset": "imageclef", "release": "first", "budget": "10.00"}
    )

    assert (config.kind, config.wanted) == ("correspondence", 3)
    assert "box" in config.hit.title


SOURCES = {"sources": [{"name": name, "release": "v1"} for name in ("a", "b")]}
SUBJECTS = {"rating": {"rating": SOURCES}, "preference": {"preference": SOURCES}}


@pytest.mark.parametrize(
    "start", [*({"kind": kind} for kind in KINDS), *({"preset": name} for name in PRESETS)], ids=str
)
def test_the_defaults_that_the_steps_show_are_those_of_the_campaign(start):
    kind = start.get("kind") or PRESETS[start["preset"]].get("kind", "caption")
    subject = {"selection": None, "release": "v1"} if kind == "correspondence" else {}
    for style in ({}, {"captions": {"style": "sentence"}}, {"captions": {"style": "paragraph"}}):
        for language in ({}, {"language": "fr"}):
            file = {**LEAST, **subject, **SUBJECTS.get(kind, {}), **start, **style, **language}
            with suppress(CampaignFileError):  # Some presets have more words than a sentence has.
                assert parse_config(filled(file)) == parse_config(file)


def test_rounds_have_the_flags_of_paragraphs():
    flags = parse_config({**LEAST, "kind": "refine"}).flags

    assert (flags.copy_similarity, flags.unlike) == (0.75, 0.3)


def test_the_file_goes_before_the_preset_and_the_preset_before_the_kind():
    config = parse_config(
        {
            "name": "links",
            "kind": "correspondence",
            "release": "first",
            "budget": "10.00",
            "responses": 5,
            "hit": {"title": "Link words"},
        }
    )

    assert (config.wanted, config.hit.title) == (5, "Link words")
    assert "linking" in config.hit.keywords


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"name = pilot", r":1: not TOML: Invalid value"),
        (b'name = "a"\r\n\r\nb = "\x92"', r":3: byte 0x92 at offset 19 is not UTF-8 text .*’"),
        (b'name = "a"\nx = "\0"', r":2: a NUL character"),
        (rb'name = "\u0000"', r": a text in it has a NUL character"),
        (rb'name = "\ud800"', r":1: not TOML"),
        (b"seed = " + b"9" * 5_000, r": a number or a date is out of range"),
        (b"name = " + b"[" * 200_000, r": the TOML is nested too deeply"),
    ],
)
def test_a_file_that_is_not_toml_is_named_with_the_line(tmp_path, content, reason):
    path = tmp_path / "campaign.toml"
    path.write_bytes(content)

    with pytest.raises(MalformedFile, match=r"campaign\.toml" + reason):
        read_plan(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_the_file_may_be_in_any_unicode_encoding(tmp_path, encoding):
    path = tmp_path / "campaign.toml"
    text = 'name = "pilot"\r\nselection = "Köln"\r\nbudget = "10.00"\r\n'
    path.write_bytes(text.encode(encoding))

    assert read_plan(path).configs[0].selection == "Köln"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MalformedFile, match="No such file"):
        read_plan(tmp_path / "campaign.toml")


def test_a_config_survives_the_database(tmp_path):
    config = parse_config({**LEAST, "preset": "nocaps"})

    assert type(config).model_validate(config.model_dump(mode="json")) == config


def test_money_is_in_whole_cents():
    config = parse_config({**LEAST, "budget": 10, "hit": {"reward": 0.1}})

    assert (str(config.budget), str(config.hit.reward)) == ("10.00", "0.10")
