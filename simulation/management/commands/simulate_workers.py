import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from annotate.models import Campaign
from corpora.reading.files import open_text
from hits.local import make_workers
from hits.mturk.endpoints import KNOWN
from shared.number_fields import whole
from simulation.kinds import hands_for
from simulation.workers.browser import WorkerBrowser
from simulation.workers.crowd import Crew, Crowd, Member, Outcome, Plan, members

MANY = whole(1, 1_000_000)


def share(text: str) -> float:
    """Parse a number from 0 up to, but not including, 1.

    With 1, workers would return every HIT and never finish, or get every word wrong.
    """
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(
            f"{text} is not a number from 0 up to, but not including, 1"
        )
    return value


class Command(DomainCommand):
    help = (
        "Let simulated workers do a campaign's HITs until none are left. They sign in at the "
        "marketplace, accept HITs, fill in the task page's form and submit it over HTTP, as a "
        "browser does. They write, edit or compare captions, or link words to boxes. The command "
        "refuses to run at Amazon's marketplaces."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument(
            "--workers", type=MANY, default=24, help="number of workers (default: 24)"
        )
        parser.add_argument(
            "--careless",
            type=whole(0, 1_000_000),
            default=3,
            help="number of careless workers among them (default: 3)",
        )
        parser.add_argument(
            "--errors",
            type=share,
            default=0.2,
            help="share of words that the other workers link incorrectly (default: 0.2)",
        )
        parser.add_argument(
            "--seed",
            type=int,
            default=1,
            help="seed for the workers and what they write (default: 1)",
        )
        parser.add_argument(
            "--assignments",
            type=MANY,
            help="stop after this many assignments (default: when none are left)",
        )
        parser.add_argument(
            "--threads",
            type=MANY,
            default=4,
            help="workers that work at the same time (default: 4)",
        )
        parser.add_argument(
            "--returns",
            type=share,
            default=0.02,
            help="share of HITs that workers return (default: 0.02)",
        )
        parser.add_argument(
            "--abandons",
            type=share,
            default=0.0,
            help="share of HITs that workers abandon (default: 0)",
        )
        parser.add_argument(
            "--sign-in-urls",
            type=Path,
            metavar="FILE",
            help="file with one sign-in link of the marketplace per line, one per worker; required "
            "unless the marketplace is local, where the command creates workers",
        )

    def handle(self, *, campaign: str, **options: Any) -> None:
        found = campaign_named(campaign)
        plan = plan_of(found, options)
        links = self._links(found, options)
        crew = Crew(len(links), options["careless"], options["errors"], plan.seed)
        crowd = members(
            names=[f"simulated-{number:03}" for number in range(1, len(links) + 1)],
            browsers=[WorkerBrowser(link) for link in links],
            hands=hands_for(found, crew),
            seed=plan.seed,
        )
        with tqdm(total=options["assignments"], unit=" HITs", disable=None) as bar:
            outcome = Crowd(crowd, plan, bar.update).work()
        self._show(crowd, outcome)
        if outcome.errors:
            lines = [f"{count} × {message}" for message, count in outcome.errors.most_common(5)]
            raise CommandError("Some pages failed: " + "; ".join(lines))

    def _links(self, campaign: Campaign, options: dict[str, Any]) -> list[str]:
        if path := options["sign_in_urls"]:
            with open_text(path) as text:
                lines = text.read().split()
            if not lines:
                raise CommandError(f"{path} contains no links.")
            return lines[: options["workers"]]
        if campaign.endpoint != "local":
            raise CommandError(
                f"Workers can be created at the local marketplace only, and {campaign} is at "
                f"{campaign.endpoint}. Give sign-in links with --sign-in-urls."
            )
        return make_crowd(campaign, options["workers"])

    def _show(self, crowd: list[Member], outcome: Outcome) -> None:
        kinds: Counter[str] = Counter()
        for member in crowd:
            kinds[member.hand.kind] += outcome.submitted[member.name]
        heads = Counter(member.hand.kind for member in crowd)
        for kind, count in sorted(heads.items()):
            self.stdout.write(f"{kind:<16} {count:>4} workers {kinds[kind]:>7} submitted")
        busiest = max(outcome.submitted.values(), default=0)
        self.stdout.write(
            f"{outcome.total} HITs submitted (most by one worker: {busiest}), "
            f"{outcome.corrected} responses corrected, {outcome.returned} HITs returned, "
            f"{outcome.abandoned} abandoned, {outcome.found_nothing} accepted without a task."
        )


def plan_of(campaign: Campaign, options: dict[str, Any]) -> Plan:
    """The plan for the crowd; raises CommandError if none may or can work."""
    if campaign.endpoint in KNOWN:
        raise CommandError(
            f"{campaign} is at the {campaign.endpoint} marketplace, where only people may work."
        )
    hit_type = campaign.hit_types.last()
    if hit_type is None:
        raise CommandError(f"{campaign} has no HITs yet. Run `manage.py publish {campaign}`.")
    return Plan(
        group=hit_type.hit_type_id,
        seed=options["seed"],
        most_assignments=options["assignments"],
        threads=options["threads"],
        return_share=options["returns"],
        abandon_share=options["abandons"],
    )


def make_crowd(campaign: Campaign, count: int) -> list[str]:
    """Create workers at the local marketplace who meet the requirements; return sign-in links."""
    wanted = campaign.config.workers
    return make_workers(
        [f"simulated-{number:03}" for number in range(1, count + 1)],
        country=wanted.countries[0] if wanted.countries else "US",
        approved=wanted.approved_hits + 1000,
        rate=min(100, wanted.approval_rate + 4),
        environment={},
    )
