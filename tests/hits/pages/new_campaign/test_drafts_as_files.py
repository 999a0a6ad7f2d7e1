"""Campaign files written as TOML are read back as they were."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from hits.pages.new_campaign.drafts import toml_text

texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=100)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
items = st.booleans() | numbers | texts
values = items | st.lists(items, max_size=5)
rows = st.dictionaries(texts, values, max_size=3)
files = st.dictionaries(
    texts,
    values | st.dictionaries(texts, values | st.lists(rows, min_size=1, max_size=3), max_size=4),
    max_size=5,
)


@given(files)
def test_the_text_of_values_is_read_as_these_values(file):
    assert tomllib.loads(toml_text(file)) == file


def test_none_is_left_out():
    assert toml_text({"preset": None, "name": "a"}) == 'name = "a"\n'


def test_the_text_does_not_depend_on_the_order_in_which_a_database_keeps_keys():
    sources = [{"name": "model", "caption_set": "blip", "per_image": 2}]
    bad = [{"text": "A dog", "why": "too short"}]
    file = {
        "name": "birds",
        "kind": "rating",
        "selection": "pilot",
        "hit": {"title": "Rate", "reward": "0.20"},
        "instructions": {"intro": "Look.", "bad": bad},
        "rating": {"sources": sources, "images": 4},
    }

    def turned(value):
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [*map(turned, value)] if isinstance(value, list) else value

    text = toml_text(file)

    assert toml_text(turned(file)) == text
    keys = ("name", "kind", "selection", "[hit]", "title", "reward", "[rating]", "caption_set")
    assert [*map(text.index, keys)] == sorted(map(text.index, keys))
