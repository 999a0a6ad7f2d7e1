"""Make text safe for CSV files that are opened in a spreadsheet."""

# Spreadsheets treat a cell that begins with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def cell(text: str) -> str:
    """The text, quoted if a spreadsheet would treat it as a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
