from typing import Any

from django.core.management.base import CommandParser

from accounts.management.base import DomainCommand
from annotate.campaign_file import SECONDS_PER_SENTENCE, seconds_for
from annotate.kinds import KINDS
from annotate.management.base import campaign_named
from hits.queries.costs import estimate, panel_estimate
from shared.number_fields import duration


class Command(DomainCommand):
    help = "Show the estimated cost of a campaign."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument(
            "--seconds",
            type=duration,
            help="seconds that a worker needs for one response (default: "
            f"{SECONDS_PER_SENTENCE} for a sentence, more for longer captions)",
        )

    def handle(self, *, campaign: str, seconds: float | None, **_: Any) -> None:
        found = campaign_named(campaign)
        if seconds is None:
            seconds = seconds_for(found.config.captions)
        cost = estimate(found, seconds)
        rows = [
            (f"{KINDS[found.kind].subject_name}s", f"{cost.tasks:,}"),
            ("responses", f"{cost.responses:,}"),
            ("assignments", f"{cost.assignments:,}"),
            ("HITs", f"{cost.hits:,}"),
            ("reward", f"${cost.reward} each"),
            ("rewards", f"${cost.rewards:,.2f}"),
            ("fees", f"${cost.fees:,.2f} (${cost.fee} each)"),
            ("total", f"${cost.total:,.2f}"),
            ("budget", f"${found.budget:,.2f}"),
            ("hours of work", f"{cost.hours_of_work:,.1f}"),
            ("pay per hour", f"${cost.dollars_per_hour} at {seconds:g} s per response"),
        ]
        panel = panel_estimate(cost)
        if found.config.workers.who != "own":
            rows += [
                (
                    "total by Prolific",
                    f"${panel.total:,.2f} (fees ${panel.fees:,.2f}, VAT ${panel.tax:,.2f})",
                ),
                ("Prolific's minimum", f"${panel.least_per_hour} per hour"),
            ]
        for name, value in rows:
            self.stdout.write(f"{name:<20} {value}")
        if found.config.workers.who == "panel" and not panel.is_paid_enough:
            self.stdout.write(
                self.style.WARNING("The pay per hour is below the minimum of Prolific.")
            )
        if cost.total > found.budget:
            self.stdout.write(
                self.style.WARNING(
                    "The budget does not cover the whole campaign. Replacing discarded responses "
                    "costs extra."
                )
            )
