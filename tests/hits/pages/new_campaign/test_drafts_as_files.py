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
