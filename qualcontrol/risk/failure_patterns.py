"""The manners in which careless work may show: which flags tell of each. Plain Python with numpy.

A manner is one flag, a family of flags that tell of the same fault, no flag at all (what flags
cannot see), or any flags: these in grades, the rarer the flags, the more they tell.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

NO_TRACE, ANY_FLAGS = "no flag", "any flags"
# Any flags are of grade 1, 2 or 3 where so rare a set is found in one response of so many.
RARITIES = (1, 50, 500)
GRADES = len(RARITIES) + 1
# How many of the bad responses that show by any flags are of each grade.
TELLING = np.array([0.0, 0.25, 0.35, 0.4])
USUAL_ANY = np.array([0.85, 0.1, 0.04, 0.01])
# Of a single flag or family the grades are: none, this one, others that are rare.
SHOWN, OTHERS = 1, 2
TELLING_ONE = np.array([0, 1.0, 0, 0])
USUAL_ONE = np.array([0.93, 0.02, 0.05, 0])
# How many responses of a good worker are bad, by the grade of any flags.
SLIPS_BY_GRADE = np.array([0.003, 0.02, 0.15, 0.4])

FAMILIES: Mapping[str, frozenset[str]] = {
    "unlike the others": frozenset({"unlike", "very_unlike", "names_none"}),
    "words in no order": frozenset({"odd_order", "broken_order", "unfinished"}),
    "copied": frozenset({"copies_own", "repeats", "copies_other", "twin_account"}),
    "cut short": frozenset({"unfinished", "brief", "too_short"}),
    "not written by hand": frozenset({"pasted", "pasted_long", "ornate", "sentences"}),
}
# How frequent each is believed to be among careless workers; single flags and families share the
# rest. Much is left to what flags see badly or not at all.
BELIEVED = {NO_TRACE: 0.3, ANY_FLAGS: 0.3}
# Good workers' slips are of all manners.
OF_SLIPS = {NO_TRACE: 0.5, ANY_FLAGS: 0.35}


class Manners:
    """The manners that a campaign's flags can tell of. `rates` says how many of all responses
    have each code; codes that it does not name tell nothing."""

    def __init__(self, rates: Mapping[str, float]) -> None:
        self.rates = dict(sorted(rates.items()))
        families = {name: codes & rates.keys() for name, codes in FAMILIES.items()}
        self.codes_of: dict[str, frozenset[str]] = {
            **{name: codes for name, codes in families.items() if len(codes) > 1},
            **{code: frozenset({code}) for code in self.rates},
        }
        self.names = [NO_TRACE, ANY_FLAGS, *self.codes_of]
        # Shares of the grades, [manner, grade]: among good responses, before the campaign has
        # shown it, and among bad responses that show their manner.
        self.usual = np.array([USUAL_ANY, USUAL_ANY, *[USUAL_ONE] * len(self.codes_of)])
        self.telling = np.array([USUAL_ANY, TELLING, *[TELLING_ONE] * len(self.codes_of)])
        self._grades: dict[tuple[str, ...], NDArray[np.int64]] = {}

    def grades(self, codes: tuple[str, ...]) -> NDArray[np.int64]:
        """To which grade a response with these flags shows each manner, [manner]."""
        if codes not in self._grades:
            rarity = -sum(np.log(self.rates[code]) for code in codes if code in self.rates)
            any_flags = int(np.searchsorted(np.log(RARITIES), rarity))
            plain = OTHERS if any_flags >= 2 else 0
            told = [plain if known.isdisjoint(codes) else SHOWN for known in self.codes_of.values()]
            self._grades[codes] = np.array([any_flags, any_flags, *told])
        return self._grades[codes]

    def slips(self, by_grade: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely a good worker's response is a slip, [manner, grade], where the manner does
        not say it itself."""
        slips = np.zeros((len(self.names), GRADES))
        slips[0] = by_grade
        slips[2:, 0], slips[2:, OTHERS] = by_grade[0], by_grade[2:].mean()
        return slips

    def shares(self, known: Mapping[str, float]) -> NDArray[np.float64]:
        """How frequent each manner is, [manner], if these are so frequent and all others alike."""
        others = max(1, len(self.names) - len(known))
        rest = (1 - sum(known.values())) / others
        shares = np.array([known.get(name, rest) for name in self.names])
        shares /= shares.sum()
        return shares


def code_rates(numbers: Sequence[tuple[tuple[str, ...], int]]) -> dict[str, float]:
    """How many of all responses have each code, from the number of responses with each set."""
    total = sum(number for _, number in numbers)
    counts: dict[str, int] = {}
    for codes, number in numbers:
        for code in codes:
            counts[code] = counts.get(code, 0) + number
    return {code: (count + 1) / (total + 50) for code, count in counts.items()}
