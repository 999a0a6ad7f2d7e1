"""Axe's findings on a page of a browser, in both colour schemes."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Page

# The rules of axe to check in each colour scheme; none means all. Only these two look at colours,
# and nothing else of a page differs between the schemes.
RULES: dict[str, list[str]] = {"light": [], "dark": ["color-contrast", "link-in-text-block"]}


# After a change of the scheme, colours may pass through others for a moment.
END_TRANSITIONS = """() => document.getAnimations()
  .filter((one) => one instanceof CSSTransition).forEach((one) => one.finish())"""


def violations_in_both_schemes(page: Page, **options: Any) -> list[str]:
    """The page's faults; it is loaded once. `options` are those of `Axe.run`."""
    lines = []
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        lines += [f"{scheme}: {violation}" for violation in violations(page, rules, **options)]
    return lines


def violations(frame: Frame | Page, rules: list[str], **options: Any) -> list[str]:
    """Breaches of these rules in the frame, or of any rule if none are given."""
    frame.evaluate(END_TRANSITIONS)
    only = {"runOnly": rules} if rules else {}
    # Axe is half a megabyte, so a page that has it gets nothing. Nobody reads the selectors.
    script = "0" if frame.evaluate("'axe' in window") else AXE_SCRIPT
    told = {"resultTypes": ["violations"], "selectors": False, **only}
    results = Axe(script).run(frame, options=told, **options)
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in results.response["violations"]
        for node in violation["nodes"]
    ]
