"""Fill the placeholders of a HIT layout."""

import re
from html import escape

from marketplace.errors import QuestionRefused

_GAP = re.compile(r"\$\{([A-Za-z0-9_.-]+)\}")


def gaps(template: str) -> set[str]:
    """Names of the parameters of a layout."""
    return set(_GAP.findall(template))


def fill(template: str, values: dict[str, str]) -> str:
    """The question with all placeholders replaced; raises QuestionRefused if a value is missing.

    Values are text: markup in them is escaped.
    """
    missing = sorted(gaps(template) - set(values))
    if missing:
        raise QuestionRefused(f"The HITLayout needs values for: {', '.join(missing)}.")

    # The page is inside a CDATA section, which only its end mark could close.
    return _GAP.sub(lambda gap: escape(values[gap[1]]).replace("]]>", "]]&gt;"), template)
