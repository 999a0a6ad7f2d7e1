"""Failure patterns: the ways in which careless work can show in a response's flags.

A failure pattern is one flag, a family of related flags, any flags, or no flag at all (faults that
no flag detects). A response shows each pattern to a grade from 0 to 3:

- of a single flag or a family: 0 no notable flag, SHOWN one of the pattern's own flags, OTHERS
  other flags that are rare together;
- of any flags, and of no flag: 0 for common sets of flags, then 1, 2 and 3 the rarer the set is.

Plain Python with NumPy; arrays have the axes [pattern, grade].
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

NO_FLAG, ANY_FLAGS = "no flag", "any flags"
# A set of flags has grade 1, 2 or 3 of "any flags" if fewer than one in this number of responses
# have it. The rates of its flags are multiplied, as if flags were independent.
RARITIES = (1, 50, 500)
GRADES = len(RARITIES) + 1
SHOWN, OTHERS = 1, 2
# Shares of the grades among good responses, before the campaign has any data.
ANY_IF_GOOD = np.array([0.85, 0.1, 0.04, 0.01])
ONE_IF_GOOD = np.array([0.93, 0.02, 0.05, 0])
# Shares of the grades among bad responses that show their pattern.
ANY_IF_SHOWN = np.array([0.0, 0.25, 0.35, 0.4])
ONE_IF_SHOWN = np.array([0, 1.0, 0, 0])
# The probability that a good worker's response is bad (a slip), by its grade of "any flags".
SLIPS_BY_GRADE = np.array([0.003, 0.02, 0.15, 0.4])

FAMILIES: Mapping[str, frozenset[str]] = {
    "unlike the others": frozenset({"unlike", "very_unlike", "names_none"}),
    "words in no order": frozenset({"odd_order", "broken_order", "unfinished"}),
    "copied": frozenset({"copies_own", "repeats", "copies_other", "twin_account"}),
    "cut short": frozenset({"unfinished", "brief", "too_short"}),
    "not written by hand": frozenset({"no_input", "pasted", "pasted_long", "ornate", "sentences"}),
}
# Prior shares of two patterns among careless workers; single flags and families divide the rest
# equally. Faults that flags detect badly or not at all get a large share.
CARELESS_PRIOR = {NO_FLAG: 0.3, ANY_FLAGS: 0.3}
# The same for the slips of good workers.
SLIP_PRIOR = {NO_FLAG: 0.5, ANY_FLAGS: 0.35}


class FailurePatterns:
    """The patterns that a campaign's flags can show.

    `rates` maps each flag's code to its share among all responses; other codes are ignored.
    `names` lists the patterns in the order of all arrays. `if_good` and `if_shown` are the shares
    of the grades among good responses (prior) and among bad ones that show their pattern.
    """

    def __init__(self, rates: Mapping[str, float]) -> None:
        self.rates = dict(sorted(rates.items()))
        families = {name: codes & rates.keys() for name, codes in FAMILIES.items()}
        self.codes_of: dict[str, frozenset[str]] = {
            **{name: codes for name, codes in families.items() if len(codes) > 1},
            **{code: frozenset({code}) for code in self.rates},
        }
        self.names = [NO_FLAG, ANY_FLAGS, *self.codes_of]
        self.if_good = np.array([ANY_IF_GOOD, ANY_IF_GOOD, *[ONE_IF_GOOD] * len(self.codes_of)])
        self.if_shown = np.array([ANY_IF_GOOD, ANY_IF_SHOWN, *[ONE_IF_SHOWN] * len(self.codes_of)])
        self._grades: dict[tuple[str, ...], NDArray[np.int64]] = {}

    def grades(self, codes: tuple[str, ...]) -> NDArray[np.int64]:
        """The grade to which a response with these flags shows each pattern, [pattern]."""
        if codes not in self._grades:
            rarity = -sum(np.log(self.rates[code]) for code in codes if code in self.rates)
            any_flags = int(np.searchsorted(np.log(RARITIES), rarity))
            otherwise = OTHERS if any_flags >= 2 else 0
            own = [
                otherwise if known.isdisjoint(codes) else SHOWN for known in self.codes_of.values()
            ]
            self._grades[codes] = np.array([any_flags, any_flags, *own])
        return self._grades[codes]

    def slips(self, by_grade: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability that a good worker's response is bad, [pattern, grade].

        `by_grade` is that probability by the grade of "any flags". It is 0 where the grade is
        evidence of the pattern, because the hypothesis itself then says how many are bad.
        """
        slips = np.zeros((len(self.names), GRADES))
        slips[0] = by_grade
        slips[2:, 0], slips[2:, OTHERS] = by_grade[0], by_grade[2:].mean()
        return slips

    def shares(self, known: Mapping[str, float]) -> NDArray[np.float64]:
        """The share of each pattern, [pattern], with sum 1: `known` gives the share of some
        patterns, and the others divide the rest equally."""
        others = max(1, len(self.names) - len(known))
        rest = (1 - sum(known.values())) / others
        shares = np.array([known.get(name, rest) for name in self.names])
        shares /= shares.sum()
        return shares


def code_rates(numbers: Sequence[tuple[tuple[str, ...], int]]) -> dict[str, float]:
    """The share of all responses that have each code, smoothed so that none is 0. `numbers` pairs
    each set of codes with its number of responses."""
    total = sum(number for _, number in numbers)
    counts: dict[str, int] = {}
    for codes, number in numbers:
        for code in codes:
            counts[code] = counts.get(code, 0) + number
    return {code: (count + 1) / (total + 50) for code, count in counts.items()}
