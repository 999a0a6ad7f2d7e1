"""A flag: an automatic warning with the measurement behind it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotate.campaign_file import CampaignConfig

# The code of answers that reached the site through the marketplace only, and that the task page
# would have refused.
BREAKS_RULES = "breaks_rules"
# The codes of the flags that any task type may have; `docs/flags.md` explains each.
FLAG_CODES = (
    "breaks_rules", "brief", "broken_order", "bulk_insertion", "copies_example", "copies_other",
    "copies_own", "fast_typing", "foreign", "gibberish", "hasty", "keyword_list", "left_page",
    "misspelled", "names_none", "not_typed", "odd_order", "ornate", "pasted", "pasted_long",
    "repeats", "rule_words", "sentences", "too_long", "too_short", "twin_account", "undescribes",
    "unfinished", "unlike", "very_unlike", "wordy",
)  # fmt: skip


@dataclass(frozen=True)
class Flag:
    """A warning that a response may be careless. It is never a verdict."""

    code: str
    value: float
    threshold: float
    why: str  # a sentence for reviewers

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "value": round(self.value, 3),
            "threshold": self.threshold,
            "why": self.why,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        return cls(**values)


# In paragraphs, a slip counts as one for each of so many words: about one sentence of four lines.
WORDS_FOR_A_SLIP = 60


def allowance(words: int, config: CampaignConfig) -> int:
    """By what to multiply the number of slips that sets a flag: 1 for a sentence, more for a long
    text, in which good writers have more of them, too."""
    if config.captions.style == "sentence":
        return 1
    return max(1, round(words / WORDS_FOR_A_SLIP))


def codes(flags: Iterable[Flag]) -> tuple[str, ...]:
    """The flags' codes in alphabetical order, each once."""
    return tuple(sorted({flag.code for flag in flags}))
