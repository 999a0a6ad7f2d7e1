"""The codes of all flags, for lists to choose from; `docs/flags.md` explains each."""

KNOWN_CODES = (
    "breaks_rules", "brief", "broken_order", "copies_example", "copies_other", "copies_own",
    "fast_typing", "foreign", "gibberish", "hasty", "keyword_list", "left_page", "misspelled",
    "names_none", "odd_order", "ornate", "pasted", "pasted_long", "repeats", "rule_words",
    "same_ratings", "sentences", "too_long", "too_short", "twin_account", "unfinished", "unlike",
    "very_unlike", "wordy",
)  # fmt: skip
