"""The command that shows, makes and removes the subscriptions to a panel's hooks."""

from typing import Any

from django.core.management.base import CommandParser

from marketplace.management.base import DomainCommand
from marketplace.panels.client import prolific
from marketplace.panels.services import rounds


class Command(DomainCommand):
    help = (
        "Show the subscriptions to Prolific's hooks that lead to this site, make them, or remove "
        "them. Needs PROLIFIC_API_TOKEN and PROLIFIC_WORKSPACE."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--subscribe",
            action="store_true",
            help="subscribe this site to the hooks that it uses, in place of earlier subscriptions",
        )
        choice.add_argument(
            "--unsubscribe", action="store_true", help="remove the subscriptions of this site"
        )
        choice.add_argument(
            "--new-secret",
            action="store_true",
            help="make a secret in place of the workspace's, also for other sites, and print it",
        )

    def handle(self, *, subscribe: bool, unsubscribe: bool, new_secret: bool, **_: Any) -> None:
        if new_secret:
            self.stdout.write(f"export PROLIFIC_HOOK_SECRET={prolific().make_hook_secret()}")
            return
        if subscribe:
            rounds.subscribe()
        elif unsubscribe:
            rounds.unsubscribe()
        subscriptions = rounds.subscriptions()
        for subscription in subscriptions:
            state = "" if subscription.is_enabled else " (disabled)"
            self.stdout.write(f"{subscription.event} -> {subscription.address}{state}")
        if not subscriptions:
            self.stdout.write(f"No hooks lead to {rounds.address()}.")
        is_right = rounds.has_the_panels_secret()
        self.stdout.write(
            "PROLIFIC_HOOK_SECRET is the workspace's."
            if is_right
            else "PROLIFIC_HOOK_SECRET is missing or not the workspace's: hooks are refused."
        )
