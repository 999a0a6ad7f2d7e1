"""Where each page is: its name in a breadcrumb, and the page above it.

A page that has no line in PAGES shows no breadcrumbs, and a test fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse

CAMPAIGN, WORKER = "hits:campaign", "qualcontrol:worker"
# Route: name of the page, which may contain arguments of the route, and the route above it. What
# stands above without being a route is a name only.
PAGES: dict[str, tuple[str, str]] = {
    "hits:campaigns": ("Campaigns", ""),
    "hits:new_campaign": ("New campaign", "hits:campaigns"),
    "hits:new_from_file": ("From a file", "hits:new_campaign"),
    "hits:new_step": ("Steps", "hits:new_campaign"),
    CAMPAIGN: ("{slug}", "hits:campaigns"),
    "hits:change": ("Change", CAMPAIGN),
    "hits:publish": ("Publish", CAMPAIGN),
    "hits:confirm_pause": ("Pause", CAMPAIGN),
    "hits:confirm_finish": ("Finish", CAMPAIGN),
    "hits:course": ("Responses so far", CAMPAIGN),
    "hits:images": ("Images", CAMPAIGN),
    "hits:image": ("{number}", "hits:images"),
    "hits:responses": ("Responses", CAMPAIGN),
    "qualcontrol:response": ("{pk}", "hits:responses"),
    "hits:reject": ("Reject response {pk}", "hits:responses"),
    "qualcontrol:queue": ("Review", CAMPAIGN),
    "qualcontrol:judge": ("Review", CAMPAIGN),
    "qualcontrol:quality": ("Quality", CAMPAIGN),
    "qualcontrol:gold": ("Gold items", CAMPAIGN),
    "qualcontrol:workers": ("Workers", CAMPAIGN),
    "hits:selected_workers": ("Selected workers", "qualcontrol:workers"),
    WORKER: ("{pseudonym}", "qualcontrol:workers"),
    "qualcontrol:act": ("{act}", WORKER),
    "hits:exclude": ("Exclude", WORKER),
    "hits:payments": ("Pay", CAMPAIGN),
    "hits:bonuses": ("Bonuses", "hits:payments"),
    "hits:held_payments": ("Held payments", CAMPAIGN),
    "hits:pay_held": ("Pay", "hits:held_payments"),
    "hits:reject_held": ("Reject", "hits:held_payments"),
    "qualcontrol:decisions": ("Decision log", CAMPAIGN),
    "qualcontrol:releases": ("Releases", CAMPAIGN),
    "webhooks:webhooks": ("Webhooks", CAMPAIGN),
    "webhooks:webhook": ("Webhook", "webhooks:webhooks"),
    "images:images": ("Images", ""),
    "images:image": ("Image {pk}", "images:images"),
    "images:import": ("Import", "images:images"),
    "images:selections": ("Selections", "images:images"),
    "images:selection": ("{name}", "images:selections"),
    "images:new_selection": ("New selection", "images:selections"),
    "images:pools": ("Pools", "images:selections"),
    "annotate:releases": ("Releases", ""),
    "annotate:release": ("{name}", "annotate:releases"),
    "annotate:report": ("Report", "annotate:release"),
    "jobs:jobs": ("Jobs", ""),
    "jobs:job": ("Job", "jobs:jobs"),
    "jobs:failures": ("Failures", "jobs:jobs"),
    "leaderboard:challenges": ("Challenges", ""),
    "leaderboard:new": ("New challenge", "leaderboard:challenges"),
    "leaderboard:challenge": ("{name}", "leaderboard:challenges"),
    "leaderboard:board": ("Board", "leaderboard:challenge"),
    "leaderboard:manage": ("Manage", "leaderboard:challenge"),
    "leaderboard:withdraw": ("Withdraw submission {pk}", "leaderboard:manage"),
    "account:team": ("Team", "Account"),
    "account:notices": ("Notices", "Account"),
    "account:tokens": ("API tokens", "Account"),
    "account:password": ("Password", "Account"),
    "account:second_factor": ("Authenticator app", "Account"),
}


@dataclass(frozen=True)
class Crumb:
    """A part of the trail; `address` is empty if it is not a page."""

    name: str
    address: str = ""


def trail(route: str, arguments: Mapping[str, Any]) -> list[Crumb]:
    """The pages from the top to the route's own page; empty if the route is not in PAGES."""
    crumbs: list[Crumb] = []
    while route in PAGES:
        name, above = PAGES[route]
        crumbs.insert(0, Crumb(_named(name, arguments), _address(route, arguments)))
        route = above
    if route and crumbs:
        crumbs.insert(0, Crumb(route))
    return crumbs


def _named(name: str, arguments: Mapping[str, Any]) -> str:
    return name.format_map(dict(arguments))


def _address(route: str, arguments: Mapping[str, Any]) -> str:
    """The route's address with as many of the arguments as it takes, from the first on."""
    names = list(arguments)
    for length in range(len(names), -1, -1):
        try:
            return reverse(route, kwargs={name: arguments[name] for name in names[:length]})
        except NoReverseMatch:
            continue
    return ""
