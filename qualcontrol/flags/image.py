"""Flags that compare an answer with the other answers of its image."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from annotate.campaign_file import CampaignConfig
from corpora.language.english import rarity, stem, words
from corpora.language.languages import is_english
from corpora.wording import counted
from qualcontrol.flags.flag import Flag

CODES = frozenset({"unlike", "very_unlike", "names_none", "brief", "wordy", "undescribes"})
# Few captions of nocaps and COCO reach these: see docs/flags.md and `benchmarks.flags`.
VERY_UNLIKE = 0.12
SHARED_THINGS = 4
# Times the median length of the others, by the style of the captions.
BRIEF = {"sentence": 0.5, "paragraph": 0.4}
WORDY = {"sentence": 2.0, "paragraph": 2.5}
# The largest share of the shared things that a text names which is said to name none. A paragraph
# about another image names some by chance.
NAMES_NONE = {"sentence": 0.0, "paragraph": 0.15}
# The similarity at which other answers agree. With more answers, less is needed to exclude chance.
LEAST_AGREEMENT = 0.2
# More common words say too little about an image.
THING_RARITY = 2.5
BEGINNING = 5  # letters
# A thing counts if at least this share of the other texts name it, and at least two.
NAMED_BY = 0.2
# With fewer other texts, their median length says little.
FEWEST_FOR_LENGTH = 4
# A worker is flagged who says of images that they cannot be described: this many times as often as
# the others, and at least this often. Not measured, as no answers of careless workers are known.
OFTEN, FEWEST_REASONS = 3.0, 3


class Shares(NamedTuple):
    """How many answers there are, and how many of them say that the image cannot be described."""

    answers: int
    reasons: int


def undescribing_flags(own: Shares, others: Shares) -> list[Flag]:
    """The flag of a worker's answer that does not describe its image. `others` are the other
    workers' answers to the images of `own`; with few of them, their share counts as one half."""
    usual = (others.reasons + 1) / (others.answers + 2)
    ratio = own.reasons / own.answers / usual if own.answers else 0.0
    if own.reasons < FEWEST_REASONS or ratio < OFTEN:
        return []
    why = (
        f"Says of {own.reasons} of {counted(own.answers, 'image')} that they cannot be described; "
        f"of the same images, {others.reasons} of {counted(others.answers, 'other answer')} "
        f"{'says' if others.reasons == 1 else 'say'} so."
    )
    return [Flag("undescribes", ratio, OFTEN, why)]


def agreement_flags(means: Sequence[float], config: CampaignConfig) -> list[list[Flag]]:
    """For each answer to a task, a flag if the others agree and the answer differs from them.

    `means` are the answers' mean similarities to the others, by a symmetric similarity from 0 to 1.
    """
    shares = likeness_shares(means)
    return [_unlike(share, len(means) - 1, config.flags.unlike) for share in shares]


def likeness_shares(means: Sequence[float]) -> list[float | None]:
    """The ratio of each answer's similarity to the others, to their similarity to each other. None
    if there are fewer than two others, or if they do not agree."""
    others, total = len(means) - 1, sum(means)
    if others < 2:
        return [None] * len(means)
    # The sum of all means counts each pair twice. Without the pairs of one answer it is:
    among = [(total - 2 * mean) / (others - 1) for mean in means]
    return [
        mean / of_others if of_others >= LEAST_AGREEMENT / (others - 1) else None
        for mean, of_others in zip(means, among, strict=True)
    ]


def wording_flags(texts: Sequence[str], config: CampaignConfig) -> list[list[Flag]]:
    """For each text of a task, flags if it names different things or has an unusual length.

    Things are found by the frequency of English words, so in English only.
    """
    tokens = [words(text) for text in texts]
    lengths = [len(own) for own in tokens]
    style = config.captions.style
    unusual = [
        _length(length, lengths[:i] + lengths[i + 1 :], style) for i, length in enumerate(lengths)
    ]
    if not is_english(config.language):
        return unusual
    things = [{_thing(word) for word in own if rarity(word) >= THING_RARITY} for own in tokens]
    named = Counter(thing for own in things for thing in own)
    return [
        [*_names_none(own, named, tokens, NAMES_NONE[style]), *of_length]
        for own, of_length in zip(things, unusual, strict=True)
    ]


def _unlike(share: float | None, others: int, least: float) -> list[Flag]:
    if share is None or share >= least:
        return []
    why = f"Only {share:.0%} as similar to the {others} other responses as those are to each other."
    if share < VERY_UNLIKE:
        return [Flag("very_unlike", share, VERY_UNLIKE, why)]
    return [Flag("unlike", share, least, why)]


def _thing(word: str) -> str:
    """A common key for all words of one thing: "snowboarder" and "snowboard" are the same."""
    return stem(word)[:BEGINNING]


def _names_none(
    own: set[str], named: Counter[str], tokens: Sequence[Sequence[str]], most: float
) -> list[Flag]:
    least = max(2, NAMED_BY * (len(tokens) - 1))
    shared = [thing for thing, count in named.items() if count - (thing in own) >= least]
    met = len(own.intersection(shared))
    if len(shared) < SHARED_THINGS or met > most * len(shared):
        return []
    first = sorted(shared, key=lambda thing: (-named[thing], thing))[:3]
    listed = ", ".join(f"“{_as_written(thing, tokens)}”" for thing in first)
    why = (
        f"Names {met or 'none'} of the {len(shared)} things that several others name, such as "
        f"{listed}."
    )
    return [Flag("names_none", len(shared), SHARED_THINGS, why)]


def _as_written(thing: str, tokens: Sequence[Sequence[str]]) -> str:
    """The word that the texts use most often for a thing."""
    written = Counter(word for own in tokens for word in own if _thing(word) == thing)
    return written.most_common(1)[0][0]


def _length(length: int, others: list[int], style: str) -> list[Flag]:
    if len(others) < FEWEST_FOR_LENGTH:
        return []
    usual = median(others)
    ratio = length / usual if usual else 1.0
    why = f"{counted(length, 'word')}; the median of the others is {usual:g}."
    if ratio <= BRIEF[style]:
        return [Flag("brief", ratio, BRIEF[style], why)]
    if ratio >= WORDY[style]:
        return [Flag("wordy", ratio, WORDY[style], why)]
    return []
