"""Flags from how an answer was written. Without measurements there are no flags."""

from dataclasses import dataclass

from annotate.campaign_file import CampaignConfig, Flags
from corpora.language.english import words
from qualcontrol.flags.flag import Flag

# A pasted text with at least this number of words was probably not typed elsewhere by the worker.
LONG = 18
# Characters a second: 180 words a minute, which hardly anybody types.
FASTEST = 15
# Not measured, as no counts of good workers are known.
TIMES_LEFT = 5
# Fewer edits than this share of the characters: the text came in larger pieces, as dictation and a
# phone's suggestions do, and has no speed of typing.
TYPED_SINGLY = 0.5


@dataclass(frozen=True)
class Conduct:
    """Measurements of how an answer was written; None if unknown."""

    seconds: float | None = None  # from opening the page to submitting
    keystrokes: int | None = None
    pastes: int | None = None
    pasted_characters: int | None = None
    seconds_writing: float | None = None
    times_left: int | None = None
    device: str = ""


def behaviour_flags(text: str, conduct: Conduct, config: CampaignConfig) -> list[Flag]:
    """The flags of the conduct. `text` is empty for an answer without text."""
    limits = config.flags
    found = [
        _pasted(text, conduct, limits),
        _typing(text, conduct),
        _no_input(text, conduct),
        _hasty(conduct, limits),
        _left(conduct),
    ]
    return [flag for flag in found if flag is not None]


def _pasted(text: str, conduct: Conduct, limits: Flags) -> Flag | None:
    share = _pasted_share(text, conduct)
    if share is None or share < limits.pasted:
        return None
    why, count = f"{share:.0%} of the text was pasted", len(words(text))
    if count >= LONG:
        return Flag("pasted_long", count, LONG, f"{why}, and it is long: {count} words.")
    return Flag("pasted", share, limits.pasted, f"{why}.")


def _pasted_share(text: str, conduct: Conduct) -> float | None:
    """The share of the text that was pasted; 1 if only the fact of pasting is known."""
    if not text or not conduct.pastes:
        return None
    if conduct.pasted_characters is None:
        return 1.0
    return min(1.0, conduct.pasted_characters / len(text))


def _typing(text: str, conduct: Conduct) -> Flag | None:
    if not text or not conduct.seconds_writing or conduct.keystrokes is None:
        return None
    typed = len(text) - (conduct.pasted_characters or 0)
    if conduct.keystrokes < typed * TYPED_SINGLY:
        return None
    speed = min(typed, conduct.keystrokes) / conduct.seconds_writing
    if speed <= FASTEST:
        return None
    why = f"Typed {speed:.0f} characters per second, faster than people type."
    return Flag("fast_typing", speed, FASTEST, why)


def _no_input(text: str, conduct: Conduct) -> Flag | None:
    if not text or conduct.keystrokes != 0 or conduct.pastes != 0:
        return None
    why = "The text was neither typed, dictated nor pasted: a program put it into the field."
    return Flag("no_input", 0, 1, why)


def _hasty(conduct: Conduct, limits: Flags) -> Flag | None:
    if conduct.seconds is None or conduct.seconds >= limits.seconds:
        return None
    why = f"Submitted {conduct.seconds:.0f} s after the page was opened."
    return Flag("hasty", conduct.seconds, limits.seconds, why)


def _left(conduct: Conduct) -> Flag | None:
    if conduct.times_left is None or conduct.times_left < TIMES_LEFT:
        return None
    why = f"The worker left the page {conduct.times_left} times."
    return Flag("left_page", conduct.times_left, TIMES_LEFT, why)
