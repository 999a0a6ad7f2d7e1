"""A flag: an automatic warning with the measurement behind it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from annotate.campaign_file import CampaignConfig

# The code of answers that reached the site through the marketplace only, and that the task page
# would have refused.
BREAKS_RULES = "breaks_rules"
# The codes of the flags that any task type may have, with what pages call them; `docs/flags.md`
# explains each.
FLAG_LABELS = {
    "breaks_rules": "breaks the rules",
    "brief": "much shorter than the others",
    "broken_order": "words in no order",
    "bulk_insertion": "inserted at once",
    "copies_example": "copies an example",
    "copies_other": "copies another worker",
    "copies_own": "copies their own answer",
    "fast_typing": "typed very fast",
    "foreign": "in another language",
    "gibberish": "unknown or repeated words",
    "hasty": "submitted very fast",
    "keyword_list": "only a list of words",
    "left_page": "left the page often",
    "misspelled": "misspelled",
    "names_none": "names nothing that others name",
    "not_typed": "put in by a program",
    "odd_order": "odd order of words",
    "ornate": "ornate words",
    "pasted": "pasted",
    "pasted_long": "long text pasted",
    "repeats": "repeats one pattern",
    "rule_words": "words against the rules",
    "sentences": "several sentences",
    "too_long": "too long",
    "too_short": "too short",
    "twin_account": "copies one account often",
    "undescribes": "often says it cannot be described",
    "unfinished": "unfinished",
    "unlike": "unlike the others",
    "very_unlike": "very unlike the others",
    "wordy": "much longer than the others",
}


def label_of(code: str) -> str:
    """What pages call the flag with this code; for a task type's own one, the code in words."""
    return FLAG_LABELS.get(code) or code.replace("_", " ")


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


# In paragraphs, one slip is allowed for each of this many words: about one sentence of four lines.
WORDS_FOR_A_SLIP = 60


def allowance(words: int, config: CampaignConfig) -> int:
    """The factor for the number of slips that sets a flag: 1 for a sentence, more for a long text,
    in which good writers have more slips, too."""
    if config.captions.style == "sentence":
        return 1
    return max(1, round(words / WORDS_FOR_A_SLIP))


def codes(flags: Iterable[Flag]) -> tuple[str, ...]:
    """The flags' codes in alphabetical order, each once."""
    return tuple(sorted({flag.code for flag in flags}))
