"""Fills the gaps of a HIT layout."""

import re
from html import escape

from marketplace.errors import QuestionRefused

_GAP = re.compile(r"\$\{([A-Za-z0-9_.-]+)\}")


def gaps(template: str) -> set[str]:
    """The names of the parameters that a layout needs."""
    return set(_GAP.findall(template))


def fill(template: str, values: dict[str, str]) -> str:
    """The question with each `${name}` replaced; raises QuestionRefused for a missing name.

    Values are text: what would be markup in the page is escaped.
    """
    missing = sorted(gaps(template) - set(values))
    if missing:
        raise QuestionRefused(f"The HITLayout needs values for: {', '.join(missing)}.")

    # The template's page is inside CDATA, where the end mark alone could break out.
    return _GAP.sub(lambda gap: escape(values[gap[1]]).replace("]]>", "]]&gt;"), template)
