"""Flags: examples with and without each, and general properties."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.flags import InMemory, codes_of_captions
from corpora.language.english import mean_similarities
from qualcontrol.flags import (
    Conduct,
    Flag,
    Neighbour,
    codes,
    image_flags,
    lasting_flags,
)
from qualcontrol.flags.behaviour import behaviour_flags
from qualcontrol.flags.copies import (
    COMPARED,
    KEY_HOLDS,
    frame_similarity,
    keys_of,
    similarity,
)
from qualcontrol.flags.image import likeness_shares
from tests.factories import NOON, config

ANY_TEXT = st.text(st.characters(categories=None))
CONFIG = config()
KITCHEN = "A cook in a white apron slices onions on a wooden board in a kitchen."
HARBOUR = [
    "Three sailing boats lie in a quiet harbour below a lighthouse.",
    "Several boats with white sails float in a harbour near a lighthouse.",
    "A harbour with sailing boats and a lighthouse on the shore.",
    "Small sailing boats are moored in the harbour under a lighthouse.",
    "Sailing boats rest in the harbour of a town with a lighthouse.",
]


def found(text, **given):
    """The flag codes of a text that is the campaign's first."""
    return codes(lasting_flags(Neighbour(1, 1, text), CONFIG, InMemory(), **given))


# The text alone


@pytest.mark.parametrize(
    "text",
    [
        *HARBOUR,
        KITCHEN,
        "The room is small and very bright, with a table to the left of the window.",
        "Under a tree, a man sits on a bench and looks up and down the street.",
        "An 8-year-old girl's kite is caught in the branches of an apple tree.",
        "A woman is about to throw a ball to a dog that waits for it.",
        "black and white photo of an old man with a hat",
    ],
)
def test_good_captions_have_no_flags(text):
    assert found(text) == ()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("A dog runs.", "too_short"),
        ("A dog runs over a field " * 12, "too_long"),
        ("There is a brown dog on a green field in the sun.", "rule_words"),
        ("A brown dog that will catch a red ball on a field.", "rule_words"),
        ("A woman on a chair says “give me that cake” to a man.", "rule_words"),
        ("See www.example.com for the picture of a dog on a field.", "rule_words"),
        ("dog ball grass tree person sky cloud fence", "keyword_list"),
        ("dog and ball and grass and tree and person", "keyword_list"),
        ("Photo, thing, photo, thing", "keyword_list"),
        ("The photo, the thing, the photo, the thing", "keyword_list"),
        ("A borwn dog runs after a red ball on a feild.", "misspelled"),
        ("asdf qwer zxcv hjkl dfgh rtyu vbnm", "gibberish"),
        ("good nice good nice good nice good nice", "gibberish"),
        ("Un perro marrón corre por el campo con una pelota roja.", "foreign"),
        ("Ein brauner Hund läuft mit einem Ball auf der Wiese.", "foreign"),
        ("Бурая собака бежит по зелёному полю за мячом", "foreign"),
        ("一只棕色的狗在绿色的草地上追着一个红色的球", "foreign"),
        ("A brown dog is running after a red ball on the", "unfinished"),
        ("Two people walk along the beach and", "unfinished"),
        ("a an umbrella under sits old man red", "odd_order"),
        ("field the ball a on after runs dog the the red of", "broken_order"),
        ("A serene dog showcases its vibrant coat in a bustling park.", "ornate"),
        ("A dog runs over a field. It is after a red ball.", "sentences"),
    ],
)
def test_each_sign_of_careless_writing_is_found(text, code):
    assert code in found(text)


def test_a_list_of_the_shown_keywords_is_told_as_such():
    (flag,) = (
        flag
        for flag in lasting_flags(
            Neighbour(1, 1, "a Guitar, a Microphone and a Drum with some Guitars and a Drum"),
            CONFIG,
            InMemory(),
            keywords=lambda: ["Guitar", "Microphone", "Drum"],
        )
        if flag.code == "keyword_list"
    )

    assert flag.why == "Only lists the keywords."


def test_rules_that_the_campaign_does_not_have_are_not_flagged():
    lenient = config(captions={"forbid_there_is": False, "least_words": 1})
    text = "There is a dog."

    assert not lasting_flags(Neighbour(1, 1, text), lenient, InMemory())


def test_a_threshold_of_the_campaigns_decides():
    strict = config(flags={"misspelled": 2})
    text = "A borwn dog runs after a red ball on a field."

    assert not lasting_flags(Neighbour(1, 1, text), strict, InMemory())


# Copies


@pytest.fixture
def earlier():
    """Earlier captions by workers 1 and 2."""
    neighbours = InMemory()
    for key, text in enumerate(HARBOUR):
        lasting_flags(Neighbour(key, 1 + key % 2, text, NOON, "PHONE"), CONFIG, neighbours)
    return neighbours


def test_a_copy_with_a_word_changed_is_found(earlier):
    changed = HARBOUR[0].replace("quiet", "calm")

    assert codes(lasting_flags(Neighbour(9, 3, changed), CONFIG, earlier)) == ("copies_other",)


def test_a_copy_of_the_workers_own_caption_is_told_apart(earlier):
    again = Neighbour(9, 1, HARBOUR[0].upper())

    assert codes(lasting_flags(again, CONFIG, earlier)) == ("copies_own",)


def test_a_copy_of_a_good_example_is_found():
    assert found(KITCHEN.rstrip(".").lower(), examples=[*HARBOUR, KITCHEN]) == ("copies_example",)


def test_a_copy_of_a_bad_example_is_found():
    own = config(instructions={"bad": [{"text": KITCHEN, "why": "not of this image"}]})

    assert codes(lasting_flags(Neighbour(1, 1, KITCHEN), own, InMemory())) == ("copies_example",)


def test_a_frame_that_is_filled_again_and_again_is_found():
    neighbours = InMemory()
    things = ["dog", "guitar", "bicycle", "house", "lamp"]

    flagged = [
        codes(
            lasting_flags(
                Neighbour(key, 1, f"In this nice picture one can see a {thing} in a fine place."),
                CONFIG,
                neighbours,
            )
        )
        for key, thing in enumerate(things)
    ]

    assert ["repeats" in each for each in flagged] == [False, False, False, True, True]


def test_accounts_in_step_are_twins_and_others_are_not(earlier):
    in_step = [Neighbour(10 + n, 3, HARBOUR[n], NOON, "PHONE") for n in (0, 2, 4)]
    later = [
        Neighbour(20 + n, 4, HARBOUR[n], NOON + timedelta(hours=5), "PHONE") for n in (0, 2, 4)
    ]
    elsewhere = [Neighbour(30 + n, 5, HARBOUR[n], NOON, "COMPUTER") for n in (0, 2, 4)]

    flagged = [
        codes(lasting_flags(each, CONFIG, earlier)) for each in [*in_step, *later, *elsewhere]
    ]

    assert ["twin_account" in each for each in flagged] == [False, False, True] + [False] * 6


def test_a_look_up_meets_a_bounded_number_however_many_are_alike():
    neighbours = InMemory()
    for key in range(200):
        lasting_flags(Neighbour(key, key, KITCHEN), CONFIG, neighbours)

    met, open_keys = neighbours.look_up(keys_of(KITCHEN))

    assert len(met) <= min(COMPARED, KEY_HOLDS * len(keys_of(KITCHEN)))
    assert open_keys == []


# The image's other captions


def flags_of_image(texts):
    rows = [(worker, 1, text) for worker, text in enumerate(texts)]
    return codes_of_captions(rows, CONFIG)


def test_a_caption_of_another_image_stands_apart_and_the_others_do_not():
    *others, stranger = flags_of_image([*HARBOUR, KITCHEN])

    assert stranger == ("names_none", "very_unlike")
    assert others == [()] * len(HARBOUR)


def test_a_missing_thing_is_named_as_most_of_the_others_write_it():
    (flag,), *_ = image_flags([0.0] * 6, [KITCHEN, *HARBOUR], CONFIG)

    assert flag.why == (
        "Names none of the 4 things that several others name, such as “boats”, “harbour”, "
        "“lighthouse”."
    )


def test_nobody_stands_apart_where_the_others_do_not_agree_themselves():
    texts = [KITCHEN, HARBOUR[0], "Two giraffes eat leaves from a tall tree in the savanna."]

    assert flags_of_image(texts) == [()] * 3


def test_a_caption_half_as_long_as_the_others_is_brief():
    *_, cut = flags_of_image([*HARBOUR, "Sailing boats lie"])

    assert "brief" in cut


def test_a_caption_twice_as_long_as_the_others_is_wordy():
    long = " ".join([HARBOUR[0].rstrip("."), "and", HARBOUR[1].lower()])

    *_, wordy = flags_of_image([*HARBOUR, long])

    assert "wordy" in wordy


@given(st.lists(st.floats(0, 1), max_size=12))
def test_shares_of_likeness_are_never_negative(means):
    assert all(share is None or share >= 0 for share in likeness_shares(means))


def test_equal_answers_are_as_like_as_the_others():
    assert likeness_shares([0.5] * 4) == pytest.approx([1.0] * 4)


# How the answer came about


def wrote(*, seconds=None, seconds_writing=None, times_left=None, **characters):
    """The conduct of one who wrote so many characters in each way."""
    return Conduct(seconds, characters, seconds_writing, times_left)


@pytest.mark.parametrize(
    ("conduct", "expected"),
    [
        (Conduct(), ()),
        (wrote(seconds=60, seconds_writing=30, times_left=1, typed=69), ()),
        (Conduct(seconds=3), ("hasty",)),
        (wrote(typed=64, pasted=5), ()),
        (wrote(pasted=30, dropped=30), ("pasted",)),
        (wrote(typed=69, seconds_writing=2), ("fast_typing",)),
        (wrote(pasted=69, seconds_writing=1), ("pasted",)),
        (wrote(dictated=69, seconds_writing=3), ()),
        (wrote(completed=50, typed=19, seconds_writing=3), ()),
        (wrote(completed=50, typed=19, seconds_writing=1), ("fast_typing",)),
        (wrote(composed=40, replaced=29, seconds_writing=9), ()),
        (wrote(unaccounted=69, seconds_writing=0), ("not_typed",)),
        (wrote(unaccounted=30, typed=39), ()),
        (wrote(inserted=60, typed=9), ("bulk_insertion",)),
        (wrote(inserted=30, typed=39), ()),
        (wrote(given=60, unknown=9), ()),
        (wrote(), ()),
        (Conduct(times_left=7), ("left_page",)),
    ],
)
def test_conduct_is_flagged_where_it_is_known(conduct, expected):
    assert found(KITCHEN, conduct=conduct) == expected


@pytest.mark.parametrize(
    ("conduct", "images", "expected"),
    [
        (Conduct(seconds=20), 1, ("hasty",)),
        (Conduct(seconds=40), 1, ()),
        (Conduct(seconds=20), 2, ()),
        (wrote(seconds=20, seconds_writing=300, typed=800), 1, ()),
    ],
)
def test_a_long_text_takes_longer(conduct, images, expected):
    campaign = config(hit={"images": images})
    flags = behaviour_flags("word " * 160, conduct, campaign)

    assert tuple(flag.code for flag in flags) == expected


def test_a_long_pasted_text_has_its_own_flag():
    text = " ".join([KITCHEN.rstrip("."), "beside a large pot", "under a row of copper pans"])

    assert found(text, conduct=wrote(pasted=len(text))) == ("pasted_long",)


def test_an_answer_without_text_has_the_flags_of_its_conduct_alone():
    assert found("", conduct=wrote(seconds=2, pasted=3, times_left=9)) == ("hasty", "left_page")


# Laws


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=4))
def test_any_text_can_be_looked_at_and_always_gives_the_same(text, others):
    rows = [(number, 1, each) for number, each in enumerate([*others, text])]

    assert codes_of_captions(rows, CONFIG) == codes_of_captions(rows, CONFIG)


@given(ANY_TEXT, ANY_TEXT)
def test_likeness_of_texts_is_mutual_and_a_share(text, other):
    for measure in (similarity, frame_similarity):
        assert 0 <= measure(text, other) == measure(other, text) <= 1
        assert measure(text, text) == 1


@given(st.integers(0, len(HARBOUR) - 1), st.permutations(HARBOUR))
def test_a_near_copy_is_found_whichever_comes_first(place, order):
    text = order[place]
    changed = text.replace("lighthouse", "tall lighthouse")

    for first, second in [(text, changed), (changed, text)]:
        _, later = codes_of_captions([(1, 1, first), (2, 2, second)], CONFIG)
        assert later == ("copies_other",)


@given(st.sampled_from(HARBOUR), st.permutations(range(5)))
def test_a_caption_of_another_image_and_worker_changes_no_flags(text, order):
    captions = [(worker, 1, HARBOUR[worker]) for worker in order]
    alone = codes_of_captions(captions, CONFIG)

    *with_another, _ = codes_of_captions([*captions, (9, 2, KITCHEN)], CONFIG)

    assert with_another == alone


@given(ANY_TEXT, st.integers(0, 10_000), st.sampled_from([0, 2, 60]))
def test_a_flag_says_the_same_after_it_was_stored(text, characters, seconds):
    conduct = wrote(seconds=seconds, pasted=characters)
    flags = lasting_flags(Neighbour(1, 1, text), CONFIG, InMemory(), conduct=conduct)

    for flag in flags:
        stored = flag.as_json()
        assert Flag.from_json(stored).as_json() == stored
        assert flag.why.endswith((".", "”"))


@given(st.lists(st.sampled_from([*HARBOUR, KITCHEN]), max_size=6))
def test_there_are_flags_for_each_answer(texts):
    assert len(image_flags([0.5] * len(texts), texts, CONFIG)) == len(texts)


# Paragraphs

LONG = config(preset="docci")
MARKET = (
    "A wide view shows an open market on a paved square in the morning. In front, a woman with "
    "short grey hair and a dark blue apron stands behind a wooden stall and weighs red apples on a "
    "brass scale. Three crates of pears, plums and yellow apples lie before her, each with a small "
    "sign; the one on the left reads “two for one”. To her right, a boy in a striped jumper holds "
    "a paper bag open with both hands and looks up at her. Behind them, a row of five more stalls "
    "with white canopies leads to the steps of a brick church, whose clock might be slow, since "
    "the shadows of the trees are short. The light comes from the right and leaves the left half "
    "of the square in a cool shade, apart from one bright puddle near the bottom edge."
)


def found_in_paragraph(text, store=None, worker=1):
    return codes(lasting_flags(Neighbour(worker, worker, text), LONG, store or InMemory()))


def test_a_good_paragraph_may_quote_guess_once_and_have_a_rare_word():
    text = MARKET.replace("pears", "quinzes")

    assert found_in_paragraph(text) == ()
    assert {"rule_words", "misspelled", "too_long"} <= {*found(text)}


def test_a_paragraph_with_many_slips_has_their_flags():
    text = MARKET.replace("plums", "plumz").replace("jumper", "jumpre").replace("brass", "brazz")
    odd = MARKET.replace("behind a", "behind the of a").replace("on the left", "on the of left")

    assert found_in_paragraph(text) == ("misspelled",)
    assert found_in_paragraph(odd) == ("odd_order",)
    assert "broken_order" in found_in_paragraph(" ".join(sorted(MARKET.split(), key=len)))


def test_a_copied_paragraph_is_found_with_a_few_changed_words():
    store = InMemory()
    changed = MARKET.replace("woman", "lady").replace("red", "green").replace("short", "long")
    changed = changed.replace("church", "school").replace("bright", "small").replace("paper", "net")

    assert found_in_paragraph(MARKET, store) == ()
    assert "copies_other" in found_in_paragraph(changed, store, worker=2)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("犬が走る。" * 80, "犬が走る。" * 59 + "犬が走 …"), ("a dog " * 70, "a dog " * 49 + "a …")],
)
def test_a_flag_quotes_the_beginning_of_a_long_text(text, quoted):
    store = InMemory()
    lasting_flags(Neighbour(1, 1, text), LONG, store)

    flags = lasting_flags(Neighbour(2, 1, text), LONG, store)

    [why] = [flag.why for flag in flags if flag.code == "copies_own"]
    assert why == f"Repeats an earlier caption by the same worker: “{quoted}”"


def test_a_paragraph_of_another_image_names_few_of_the_things():
    others = [MARKET, MARKET.replace("wooden", "green"), MARKET.replace("brass", "steel")]
    strange = " ".join([KITCHEN, *HARBOUR, "An apron hangs beside a row of crates."])

    flags = wording_flags_of([*others, strange])

    assert flags[:3] == [(), (), ()]
    assert "names_none" in flags[3]


def wording_flags_of(texts):
    means = mean_similarities(texts)
    return [codes(flags) for flags in image_flags(means, texts, LONG)]
