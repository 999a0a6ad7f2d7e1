"""Signs that come from the other captions of the image; made anew as captions arrive."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from annotate.campaign_file import CampaignConfig, Flags
from annotate.language.english import rarity, stem, words
from annotate.pages.wording import counted
from qualcontrol.flags.flag import Flag

CODES = frozenset({"unlike", "very_unlike", "names_none", "brief", "wordy"})
# Two others agree if they are so much alike; the more there are, the less it takes to be no chance.
LEAST_AGREEMENT = 0.2
# Words that are commoner say too little to be what an image shows.
THING_RARITY = 2.5
BEGINNING = 5  # letters
# A thing is named by at least this share of the others, and by two.
NAMED_BY = 0.2
# With fewer others their usual length says little.
FEWEST_FOR_LENGTH = 4


def agreement_flags(means: Sequence[float], config: CampaignConfig) -> list[list[Flag]]:
    """For each answer of a task, the sign that it is unlike the others while those agree; `means`
    are the answers' mean similarities to the others (of a symmetric similarity, 0 to 1)."""
    shares = likeness_shares(means)
    return [_unlike(share, len(means) - 1, config.flags) for share in shares]


def likeness_shares(means: Sequence[float]) -> list[float | None]:
    """Each answer's likeness to the others as a share of their likeness to each other; None where
    the others are fewer than two, or do not agree."""
    others, total = len(means) - 1, sum(means)
    if others < 2:
        return [None] * len(means)
    # The sum of all means counts each pair twice; without the pairs of one answer it is:
    among = [(total - 2 * mean) / (others - 1) for mean in means]
    return [
        mean / of_others if of_others >= LEAST_AGREEMENT / (others - 1) else None
        for mean, of_others in zip(means, among, strict=True)
    ]


def wording_flags(texts: Sequence[str], config: CampaignConfig) -> list[list[Flag]]:
    """For each text of a task, the signs that it stands apart in what it names and in length."""
    tokens = [words(text) for text in texts]
    things = [{_thing(word) for word in own if rarity(word) >= THING_RARITY} for own in tokens]
    named = Counter(thing for own in things for thing in own)
    lengths = [len(own) for own in tokens]
    return [
        [
            *_names_none(things[i], named, tokens, config.flags),
            *_length(lengths[i], lengths[:i] + lengths[i + 1 :], config.flags),
        ]
        for i in range(len(texts))
    ]


def _unlike(share: float | None, others: int, limits: Flags) -> list[Flag]:
    if share is None or share >= limits.unlike:
        return []
    why = f"Only {share:.0%} as similar to the {others} other responses as those are to each other."
    if share < limits.very_unlike:
        return [Flag("very_unlike", share, limits.very_unlike, why)]
    return [Flag("unlike", share, limits.unlike, why)]


def _thing(word: str) -> str:
    """What stands for all words of one thing: "snowboarder" is one with "snowboard"."""
    return stem(word)[:BEGINNING]


def _names_none(
    own: set[str], named: Counter[str], tokens: Sequence[Sequence[str]], limits: Flags
) -> list[Flag]:
    least = max(2, NAMED_BY * (len(tokens) - 1))
    shared = [thing for thing, count in named.items() if count - (thing in own) >= least]
    if len(shared) < limits.shared_things or own.intersection(shared):
        return []
    first = sorted(shared, key=lambda thing: (-named[thing], thing))[:3]
    listed = ", ".join(f"“{_as_written(thing, tokens)}”" for thing in first)
    why = f"Names none of the {len(shared)} things that several others name, such as {listed}."
    return [Flag("names_none", len(shared), limits.shared_things, why)]


def _as_written(thing: str, tokens: Sequence[Sequence[str]]) -> str:
    """The word by which the texts name a thing most often."""
    written = Counter(word for own in tokens for word in own if _thing(word) == thing)
    return written.most_common(1)[0][0]


def _length(length: int, others: list[int], limits: Flags) -> list[Flag]:
    if len(others) < FEWEST_FOR_LENGTH:
        return []
    usual = median(others)
    ratio = length / usual if usual else 1.0
    why = f"{counted(length, 'word')}; the median of the others is {usual:g}."
    if ratio <= limits.brief:
        return [Flag("brief", ratio, limits.brief, why)]
    if ratio >= limits.wordy:
        return [Flag("wordy", ratio, limits.wordy, why)]
    return []
