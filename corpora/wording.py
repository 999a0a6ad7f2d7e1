"""Numbers with their nouns, for sentences on pages and in messages."""


def counted(number: int, one: str, many: str = "") -> str:
    """The number with its noun: `1 HIT`, `1,200 HITs`.

    `many` is the plural, if it is not `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
