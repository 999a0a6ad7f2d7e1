"""Flags from how an answer was written. Without measurements there are no flags."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotate.campaign_file import CampaignConfig, Flags
from annotate.characters import BY_HAND
from corpora.language.english import words
from qualcontrol.flags.flag import Flag

# A pasted text with at least this number of words was probably not typed elsewhere by the worker.
LONG = 18
# Characters a second: 180 words a minute, which hardly anybody types; and 300, which hardly anybody
# dictates or completes.
FASTEST, FASTEST_SPOKEN = 15, 25
# Of the text; a smaller share may be a phrase that a keyboard has completed.
MOST_INSERTED = 0.5
# Not measured, as no counts of good workers are known.
TIMES_LEFT = 5


@dataclass(frozen=True)
class Conduct:
    """Measurements of how an answer was written; None if unknown."""

    seconds: float | None = None  # from opening the page to submitting
    characters: Mapping[str, int] | None = None  # of the text, by way (`annotate.characters`)
    seconds_writing: float | None = None
    times_left: int | None = None
    device: str = ""


def behaviour_flags(text: str, conduct: Conduct, config: CampaignConfig) -> list[Flag]:
    """The flags of the conduct. `text` is empty for an answer without text."""
    limits = config.flags
    flags = [
        _pasted(text, conduct, limits),
        _inserted(text, conduct, "not_typed", "unaccounted", "No input event accounts for"),
        _inserted(text, conduct, "bulk_insertion", "inserted", "One insertion accounts for"),
        _typing(text, conduct),
        _hasty(text, conduct, config),
        _left(conduct),
    ]
    return [flag for flag in flags if flag is not None]


def _share(text: str, conduct: Conduct, *ways: str) -> float:
    """The share of the text that came in one of these ways; 0 if unknown."""
    if not text or not conduct.characters:
        return 0.0
    return min(1.0, sum(conduct.characters.get(way, 0) for way in ways) / len(text))


def _pasted(text: str, conduct: Conduct, limits: Flags) -> Flag | None:
    share = _share(text, conduct, "pasted", "dropped")
    if not share or share < limits.pasted:
        return None
    why, count = f"{share:.0%} of the text was pasted", len(words(text))
    if count >= LONG:
        return Flag("pasted_long", count, LONG, f"{why}, and it is long: {count} words.")
    return Flag("pasted", share, limits.pasted, f"{why}.")


def _inserted(text: str, conduct: Conduct, code: str, way: str, why: str) -> Flag | None:
    share = _share(text, conduct, way)
    if share <= MOST_INSERTED:
        return None
    return Flag(code, share, MOST_INSERTED, f"{why} {share:.0%} of the text.")


def _typing(text: str, conduct: Conduct) -> Flag | None:
    written = _share(text, conduct, *BY_HAND) * len(text)
    if not conduct.seconds_writing or not written:
        return None
    is_typed = _share(text, conduct, "typed") > 0.5
    speed, fastest = written / conduct.seconds_writing, FASTEST if is_typed else FASTEST_SPOKEN
    if speed <= fastest:
        return None
    why = f"Written at {speed:.0f} characters per second, faster than people write."
    return Flag("fast_typing", speed, fastest, why)


def _hasty(text: str, conduct: Conduct, config: CampaignConfig) -> Flag | None:
    seconds, least = conduct.seconds, config.flags.seconds
    if seconds is None:
        return None
    # The seconds of a page with several images are a mean. A text that is longer than the time
    # allows was begun on an earlier page, if the script has counted so.
    if least and config.hit.images == 1 and seconds >= (conduct.seconds_writing or 0):
        least = max(least, len(text) / FASTEST_SPOKEN)
    if seconds >= least:
        return None
    why = f"Submitted {seconds:.0f} s after the page was opened."
    return Flag("hasty", seconds, least, why)


def _left(conduct: Conduct) -> Flag | None:
    if conduct.times_left is None or conduct.times_left < TIMES_LEFT:
        return None
    why = f"The worker left the page {conduct.times_left} times."
    return Flag("left_page", conduct.times_left, TIMES_LEFT, why)
