"""Text for CSV files that people open in a spreadsheet."""

# A spreadsheet takes a cell that begins like this for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def cell(text: str) -> str:
    """The text, so that a spreadsheet takes it for nothing else."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
