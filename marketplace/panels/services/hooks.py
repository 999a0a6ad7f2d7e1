"""Subscribe to the panel's hooks, which make the next reading of a study come sooner."""

import hmac

from django.conf import settings
from django.urls import reverse

from marketplace.errors import StudyRefused
from marketplace.panels.panel import Subscription

from .studies import panel

EVENTS = ("submission.status.change", "study.status.change")


def address() -> str:
    """Where hooks come in."""
    return settings.MARKETPLACE_URL + reverse("prolific_hook")


def subscriptions() -> list[Subscription]:
    """The subscriptions to this site; raises PanelRefused and PanelUnclear."""
    return [each for each in panel().subscriptions() if each.address == address()]


def has_the_panels_secret() -> bool:
    """Whether the site checks signatures with the secret that the panel signs with."""
    mine, theirs = settings.PROLIFIC_HOOK_SECRET, panel().hook_secret()
    return bool(mine) and hmac.compare_digest(mine.encode(), theirs.encode())


def subscribe() -> list[Subscription]:
    """Subscribe to each event once; raises StudyRefused, PanelRefused and PanelUnclear.

    It can be repeated. Older subscriptions to this site are removed first: one whose confirmation
    was lost, or which the panel has disabled, looks like any other.
    """
    if not settings.PROLIFIC_WORKSPACE:
        raise StudyRefused("Set PROLIFIC_WORKSPACE, and start the marketplace again.")
    if not has_the_panels_secret():
        raise StudyRefused(
            "PROLIFIC_HOOK_SECRET is not the secret of the workspace, so hooks would be refused. "
            "Make one with marketplace_panel_hooks --new-secret."
        )
    unsubscribe()
    there = panel()
    return [there.subscribe(event, address()) for event in EVENTS]


def unsubscribe() -> int:
    """Remove the subscriptions to this site; return their number."""
    there, found = panel(), subscriptions()
    for each in found:
        there.unsubscribe(each.id)
    return len(found)
