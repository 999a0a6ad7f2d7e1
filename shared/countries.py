"""Workers' locations: a country of ISO 3166-1, optionally with a subdivision, as in US-PA."""

import re
from typing import NamedTuple

_LETTERS = """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR
    BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ
    EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW
    GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY
    KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV
    MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY
    QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG
    TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM
    ZW
"""
CODES = frozenset(_LETTERS.split())
_PLACE = re.compile("([A-Z]{2})(?:-([A-Z0-9]{2}))?", re.ASCII)


class Place(NamedTuple):
    country: str = ""
    subdivision: str = ""

    def __str__(self) -> str:
        return "-".join(filter(None, self))

    def lies_in(self, other: "Place") -> bool:
        """Whether this place is the other one or a part of it: US-PA is in US."""
        return self.country == other.country and other.subdivision in ("", self.subdivision)

    @property
    def is_possible(self) -> bool:
        """Whether a worker can be there: the country exists, and the letters are capitals."""
        return self.country in CODES and _PLACE.fullmatch(str(self)) is not None


def read_place(text: str) -> Place:
    """Parse `US`, `us-pa` or an empty text; raises ValueError for anything else."""
    text = text.strip().upper()
    if not text:
        return Place()
    match = _PLACE.fullmatch(text)
    if match is None or match[1] not in CODES:
        raise ValueError(f"{text!r} is not a country or a part of one.")
    return Place(match[1], match[2] or "")
