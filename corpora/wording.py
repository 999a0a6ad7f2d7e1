"""Numbers with their nouns, for sentences on pages and in messages."""


def counted(number: int, one: str, many: str = "") -> str:
    """The number with its noun: `1 HIT`, `1,200 HITs`.

    `many` is the plural, if it is not `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def percent(share: float) -> str:
    """`12%`; 0% and 100% only if exact."""
    whole = round(share * 100)
    if 0 < share < 1:
        whole = min(99, max(1, whole))
    return f"{whole}%"


def exact_percent(share: float) -> str:
    """`2.5%`: a share that somebody has set, as they set it."""
    return f"{share * 100:g}%"


def probability(value: float) -> str:
    """A percentage like `12%`. It is never rounded to 0% or 100%."""
    return "over 99%" if value > 0.99 else "under 1%" if value < 0.01 else percent(value)
