"""Errors of a campaign file in a person's words, for pages."""

import re

# What the validator says, and what pages say; the first that fits.
WORDS = [
    (r"input should be less than or equal to (\S+?)", r"must be at most \1"),
    (r"input should be greater than or equal to (\S+?)", r"must be at least \1"),
    (r"input should be less than (\S+?)", r"must be less than \1"),
    (r"input should be greater than (\S+?)", r"must be more than \1"),
    (r"input should be a valid integer.*?", "must be a whole number"),
    (r"input should be a valid (?:number|decimal).*?", "must be a number"),
    (r"decimal input should be an integer.*?", "must be a number"),
    (r"input should be a finite number.*?", "must be a number"),
    (r"input should be a valid string.*?", "must be a text in quotation marks"),
    (r"input should be a valid boolean.*?", "must be true or false"),
    (r"input should be a valid (?:tuple|list|array).*?", "must be a list in square brackets"),
    (r"input should be a valid dictionary.*?", "must be a section with keys of its own"),
    (r"input should be (.+?)", r"must be \1"),
    (r"field required", "is missing"),
    (r"string should have at least 1 character", "must not be empty"),
    (r"string should have at (least|most) (\d+) characters?", r"must have at \1 \2 characters"),
    (r"string should match pattern .*?\[A-Z\].*?", "must be two capital letters, such as US"),
    (
        r"string should match pattern .*?\[a-z0-9\].*?",
        "must have lower-case letters, digits and single hyphens between them only",
    ),
    (r"string should match pattern .*?", "has a character that is not allowed there"),
    (r"decimal input should have no more than 2 decimal places", "must be in whole cents"),
    (r"decimal input should have no more than .*?", "has too many digits"),
]
PATTERNS = [(re.compile(rf"{said}(?P<given>, not .*)?", re.DOTALL), words) for said, words in WORDS]


def in_words(line: str) -> str:
    """`hit.images: must be at most 20, not 25` for an error of `annotate.kinds.reading`."""
    key, colon, message = line.partition(": ")
    for pattern, words in PATTERNS:
        found = pattern.fullmatch(message)
        if found is not None:
            return f"{key}{colon}{found.expand(words)}{found['given'] or ''}"
    return line
