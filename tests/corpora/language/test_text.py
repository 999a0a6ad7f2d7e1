import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from corpora.language.text import CaptionRules, is_bare_list, is_keyword_list, normalise, problems

GOOD = "A brown dog jumps over a low wooden fence in a garden."


# Visible, though of category Cf: the signs of Arabic, Syriac and Kaithi before digits or letters.
SIGNS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
# Many texts of what joins and composes, few of anything else.
JOINING = st.text("a=\u0600\u0338\u0301\u200c\u200d\u200b 👩🏽🏴\U000e0067\U000e007f")


@given(st.text() | JOINING)
def test_normalise_changes_nothing_the_second_time(text):
    once = normalise(text)

    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    invisible = {c for c in once if unicodedata.category(c) in {"Cc", "Cf", "Cs"}}
    assert invisible <= {"\u200c", "\u200d", *SIGNS, *map(chr, range(0xE0030, 0xE0080))}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("  a  dog\t and\u00a0a cat ", "a dog and a cat"),
        ("cafe\u0301", "café"),
        ("zero\u200bwidth \u200b and \ufeffmarks\u202e", "zerowidth and marks"),
        ("The DOG, teh dgo", "The DOG, teh dgo"),
        ("<script>alert('x')</script> & “quotes” 🐕", "<script>alert('x')</script> & “quotes” 🐕"),
        ("كلب يركض", "كلب يركض"),
        ("null\x00byte", "nullbyte"),
        # Joiners that belong to the spelling, and others.
        ("می‌خواهم ක්‍රම", "می‌خواهم ක්‍රම"),
        ("അവന്\u200d വന്നു, അവള്\u200d. ന്\u200c", "അവന്\u200d വന്നു, അവള്\u200d. ന്"),
        ("👨‍👩‍👧‍👦, 🧑🏽‍🚀 and ❤️‍🔥", "👨‍👩‍👧‍👦, 🧑🏽‍🚀 and ❤️‍🔥"),
        ("\u200dfirst \u200c and last\u200d. 1\u200d2", "first and last. 12"),
        ("a\u200d\u200cb", "ab"),
        # A joiner that is typed twice, or beside another invisible character.
        ("می\u200c\u200cخواهم, می\u200c\u200f\u200cروم", "می\u200cخواهم, می\u200cروم"),
        ("می\u200b\u200cخواهم 👩\u200d\u200d🚀", "می\u200cخواهم 👩\u200d🚀"),
        # Letters and marks that show nothing, alone and in a text.
        ("\u3164 \u115f\ufe0f \u2800", ""),
        ("a\u3164❤\ufe0f", "a\u3164❤\ufe0f"),
        # The flag of Wales, tags without a flag, and a flag whose tags do not end.
        ("🏴󠁧󠁢󠁷󠁬󠁳󠁿 flies", "🏴󠁧󠁢󠁷󠁬󠁳󠁿 flies"),
        (f"{SIGNS}١٢٣ ܫ\u200b", f"{SIGNS}١٢٣ ܫ"),
        ("dog\U000e0067\U000e0062\U000e007f 🏴\U000e0067\U000e0062.", "dog 🏴."),
    ],
)
def test_normalise_puts_characters_in_order_and_keeps_the_writers_own(raw, expected):
    assert normalise(raw) == expected


def test_a_good_caption_has_no_problem():
    assert problems(GOOD, rules=CaptionRules(), keywords=["Dog", "Fence"]) == []


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("", "empty"),
        ("\u200b \n", "empty"),
        ("A dog runs.", "too_short"),
        ("dog " * 61, "too_long"),
        ("There is a brown dog jumping over a wooden fence.", "there_is"),
        ("  there’s a brown dog jumping over a wooden fence.", "there_is"),
        ("There are two brown dogs jumping over a fence.", "there_is"),
        ("A brown dog jumps over a fence,\nas a cat looks on.", "line_break"),
        ("A brown dog jumps over a fence at https://dogs.example today", "url"),
        ("A brown dog jumps over a fence from www.dogs.example today", "url"),
        ("dog, fence, tree, car and a house with a person", "keyword_list"),
    ],
)
def test_a_caption_that_breaks_a_rule_is_told_so(raw, code):
    keywords = ["Car", "Dog", "Fence", "House", "Person", "Tree"]

    found = problems(raw, rules=CaptionRules(), keywords=keywords)

    assert code in [problem.code for problem in found]
    assert all(problem.message.startswith("Please") for problem in found)


def test_rules_can_be_switched_off():
    rules = CaptionRules(
        least_words=1, forbid_there_is=False, forbid_line_breaks=False, forbid_urls=False
    )

    assert problems("There is\na dog at www.dogs.example", rules=rules) == []


def test_a_line_break_at_the_end_is_no_problem():
    assert problems(GOOD + "\r\n", rules=CaptionRules()) == []


@pytest.mark.parametrize(
    "text",
    [
        "a dog, a cat and some trees",
        "Cat Dog Tree",
        "In this picture: cat, dog, and tree, which are very nice to look at",
    ],
)
def test_keyword_lists_are_seen(text):
    assert is_keyword_list(text, ["Cat", "Dog", "Tree"])


@pytest.mark.parametrize(
    "text",
    [
        "A dog chases a cat up a tree",
        "The tree shades a sleeping dog while a cat watches",
        "",
    ],
)
def test_sentences_that_use_the_keywords_are_no_lists(text):
    assert not is_keyword_list(text, ["Cat", "Dog", "Tree"])


def test_a_paragraph_may_name_all_keywords_in_a_row():
    rest = " ".join(f"detail{number}" for number in range(60))
    text = f"The cat, dog and tree are the largest things in the garden. {rest}."

    assert not is_keyword_list(text, ["Cat", "Dog", "Tree"])
    assert is_keyword_list("A cat, dog, tree and nothing else here.", ["Cat", "Dog", "Tree"])


LISTS = [
    "Photo, thing, photo, thing, photo, thing, photo, thing",
    "photo thing photo thing photo thing photo thing",
    "Bicycle, person, car, tree, street light, wheel, road, sky.",
    "a dog; a cat; a horse; the old barn; some grass",
]


@pytest.mark.parametrize("text", LISTS)
def test_a_list_is_refused_without_keywords(text):
    assert is_bare_list(text)
    (problem,) = problems(text, rules=CaptionRules())
    assert problem.code == "keyword_list"
    assert problems(text, rules=CaptionRules(forbid_keyword_lists=False)) == []


@pytest.mark.parametrize(
    "text",
    [
        "A kitchen with a sink, an oven, a fridge, and cabinets.",
        "A red and white plane and a blue and white plane",
        "A man, a woman, and two boys walk along a wet street, holding hands.",
        "A cat on a bed next to a cat on a chair",
        "",
    ],
)
def test_a_sentence_that_lists_things_is_not_refused(text):
    assert not is_bare_list(text)


@pytest.mark.parametrize(
    "name", ["nocaps/nocaps_val_2250_captions.json", "coco/coco_karpathy_val_gt.json"]
)
def test_hardly_any_real_caption_is_taken_for_a_list(shared_data, name):
    captions = json.loads((shared_data / name).read_text())["annotations"]

    refused = [each["caption"] for each in captions if is_bare_list(normalise(each["caption"]))]

    assert len(refused) <= 0.0005 * len(captions)


@given(st.text(max_size=300), st.lists(st.text(max_size=12), max_size=6))
def test_no_text_or_keyword_breaks_the_rules_themselves(text, keywords):
    for problem in problems(text, rules=CaptionRules(), keywords=keywords):
        assert problem.message


@pytest.mark.parametrize(
    ("text", "count"), [("A dog – and 2 cats, … sleep.", 6), ("A white/brown side-by-side pair", 5)]
)
def test_the_rules_count_the_words_that_links_go_by(text, count):
    rules = CaptionRules(least_words=count + 1)

    (problem,) = problems(text, rules=rules)

    assert f"this has {count}." in problem.message
    assert problems(text, rules=CaptionRules(least_words=count)) == []


def test_a_keyword_with_marks_in_it_is_seen():
    assert is_keyword_list("A ball object", ["Ball (Object)"])


def test_a_text_of_100_kb_is_refused_in_a_sentence():
    found = problems("word " * 20_000, rules=CaptionRules(), keywords=["Dog"])

    assert [problem.code for problem in found] == ["too_long"]


PARAGRAPH = CaptionRules.model_validate({"style": "paragraph", "target_words": 120})


def text(words):
    return " ".join(f"word{number % 50}" for number in range(words)) + "."


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (text(29), ["too_short"]),
        (text(30).replace(" word9", ".\n\nWord9"), []),
        (text(400), []),
        (text(401), ["too_long"]),
        ("x" * 10_001, ["too_long"]),
    ],
)
def test_a_paragraph_has_its_own_limits_and_may_have_several_lines(given, codes):
    assert [problem.code for problem in problems(given, rules=PARAGRAPH)] == codes


def test_a_key_of_the_file_wins_over_the_style():
    rules = CaptionRules.model_validate({"style": "paragraph", "most_words": 1_500})

    assert (rules.least_words, rules.most_words) == (30, 1_500)


@pytest.mark.parametrize("target", [29, 401])
def test_a_target_lies_between_the_limits(target):
    with pytest.raises(ValidationError, match="target_words is not between"):
        CaptionRules.model_validate({"style": "paragraph", "target_words": target})
