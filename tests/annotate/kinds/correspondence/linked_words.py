"""What workers may say of words: the boxes of each, or why it has none."""

from hypothesis import strategies as st

BOXES = st.lists(st.integers(1, 5), min_size=1, max_size=3, unique=True).map(sorted)
REFERENTS = st.one_of(BOXES, st.sampled_from(["scene", "not-boxed", "not-visual"]))
WORDS = st.dictionaries(st.integers(0, 6).map(str), REFERENTS, max_size=5)
