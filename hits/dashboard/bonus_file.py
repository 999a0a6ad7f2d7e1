"""Read a CSV file of bonuses: a line for each, with worker, amount and reason."""

import csv
from decimal import Decimal, InvalidOperation
from io import StringIO

from annotate.errors import DomainError
from hits.services.bonuses import MOST, Wish

MOST_LINES = 2_000
NAMES = ("worker", "amount", "reason")


class BonusFileRefused(DomainError):
    """The file cannot be used; the message says which line is wrong."""


def read_bonuses(text: str) -> list[Wish]:
    """The bonuses in the text. Raises BonusFileRefused."""
    try:
        lines = list(csv.reader(StringIO(text.lstrip("\ufeff")), strict=True))
    except csv.Error as error:
        raise BonusFileRefused(f"This is not a CSV file: {error}.") from error
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if any(line)]
    if not numbered or tuple(cell.strip().lower() for cell in numbered[0][1]) != NAMES:
        raise BonusFileRefused(f"The first line must be: {','.join(NAMES)}")
    if len(numbered) > MOST_LINES + 1:
        raise BonusFileRefused(f"A file has at most {MOST_LINES:,} bonuses. Split it.")
    seen: dict[Wish, int] = {}
    for number, line in numbered[1:]:
        wish = _wish(number, line)
        if wish in seen:
            raise BonusFileRefused(f"Lines {seen[wish]} and {number} are the same.")
        seen[wish] = number
    if not seen:
        raise BonusFileRefused("The file has no bonuses below its first line.")
    return list(seen)


def _wish(number: int, line: list[str]) -> Wish:
    if len(line) != len(NAMES):
        raise BonusFileRefused(f"Line {number} has {len(line)} cells instead of {len(NAMES)}.")
    worker, amount, reason = (cell.strip() for cell in line)
    try:
        dollars = Decimal(amount.removeprefix("$"))
    except InvalidOperation as error:
        raise BonusFileRefused(f"Line {number}: {amount!r:.40} is not an amount.") from error
    if not dollars.is_finite() or not 0 < dollars <= MOST or dollars != round(dollars, 2):
        raise BonusFileRefused(f"Line {number}: a bonus is $0.01 to ${MOST:,}, in whole cents.")
    if not worker or not reason:
        raise BonusFileRefused(f"Line {number} lacks the worker or the reason.")
    if len(reason) > 1024:
        raise BonusFileRefused(f"Line {number}: the reason has more than 1,024 characters.")
    # Browsers send line ends in their own way, and the same file must stay the same.
    return Wish(worker, round(dollars, 2), "\n".join(reason.splitlines()))


def written(wishes: list[Wish]) -> str:
    """The bonuses as the text of such a file, for the form that confirms them."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NAMES)
    writer.writerows((wish.pseudonym, f"{wish.amount:.2f}", wish.reason) for wish in wishes)
    return text.getvalue()
