"""The demo: from generated scenes to releases of captions and of word–box links."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.kinds.reading import parse_config
from annotate.models import Release
from annotate.services.campaigns import create_campaign
from hits.local.processes import Installation, make_workers, random_password, sites_running
from hits.mturk.client import Marketplace
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import estimate
from qualcontrol.services.releasing import release_campaign
from simulation.checks import Check, check_captions, check_links, check_marketplace
from simulation.kinds import hands_for
from simulation.kinds.base import Crew
from simulation.scenes.dataset import Dataset
from simulation.stages import (
    CAPTIONS,
    LINKS,
    Clock,
    Collection,
    Part,
    draw_and_select,
    quality_summary,
)
from simulation.workers.browser import WorkerBrowser
from simulation.workers.crowd import members

NAME, DRAFT_NAME, USER = "demo", "unprimed-pilot", "demo"
WORKERS = 26
LINKED_IMAGES, LEAST_LINKED_CAPTIONS = 12, 8
NAMES = [f"simulated-{number:03}" for number in range(1, WORKERS + 1)]


@dataclass(frozen=True)
class Result:
    """The files, checks, running time in seconds, and account of a finished demo."""

    files: list[Path]
    checks: list[Check]
    seconds: float
    user: str
    password: str


class Demonstration:
    """A demo in the installation that the current settings belong to."""

    def __init__(
        self, places: Installation, *, images: int, seed: int, tell: Callable[[str], object]
    ) -> None:
        self.places = places
        self.dataset = Dataset(places.folder / "dataset")
        self.images = images
        self.seed = seed
        self.clock = Clock(tell)
        self.files: list[Path] = []

    def run(self) -> Result:
        """Run both campaigns; raises DomainError or ProcessFailed if a step fails."""
        password = random_password()
        with self.clock("Prepare the databases"):
            call_command("migrate", verbosity=0, interactive=False)
            reviewer = get_user_model().objects.create_superuser(USER, password=password)
        with ExitStack() as stack:
            with self.clock("Start both sites") as notes:
                stack.enter_context(sites_running(self.places, {}))
                notes.append(f"{self.places.site_url} and {self.places.marketplace_url}")
            draw_and_select(self.dataset, self.clock, name=NAME, images=self.images, seed=self.seed)
            checks = self._campaigns(reviewer)
            self._add_draft()
        return Result(self.files, checks, self.clock.seconds, USER, password)

    def _campaigns(self, reviewer: User) -> list[Check]:
        with self.clock("Make workers") as notes:
            urls = make_workers(NAMES, country="US", approved=6000, rate=99, environment={})
            browsers = [WorkerBrowser(url) for url in urls]
            notes.append(f"{WORKERS} simulated workers")
        balance = Marketplace(endpoint_of("local")).balance()
        captions = self._campaign(CAPTIONS, browsers, reviewer, images=self.images)
        images = min(self.images, LINKED_IMAGES)
        # With only a few captions, the share of correct links would not be meaningful.
        per_image = max(2, LEAST_LINKED_CAPTIONS // images)
        links = self._campaign(LINKS, browsers, reviewer, images=images, captions=per_image)
        with self.clock("Check the result") as notes:
            folder = self.places.folder
            checks = check_captions(folder, captions)
            checks += check_links(folder, links, self.dataset)
            checks += check_marketplace([captions.campaign, links.campaign], balance)
            notes.append(f"{sum(check.holds for check in checks)} of {len(checks)} hold")
        return checks

    def _campaign(
        self, part: Part, browsers: list[WorkerBrowser], reviewer: User, **size: int
    ) -> Release:
        """Run one campaign from its file to its exported release."""
        with self.clock("Create a campaign") as notes:
            campaign = part.create(self.places.folder, seed=self.seed, **size)
            cost = estimate(campaign)
            notes.append(f"{part.name}: {cost.responses} {part.answers} for ${cost.total}")
            notes.append(part.people)
        hands = hands_for(campaign, Crew(WORKERS, part.careless, part.errors, self.seed))
        crowd = members(names=NAMES, browsers=browsers, hands=hands, seed=self.seed)
        collection = Collection(campaign, crowd, reviewer, self.seed, self.clock, part.verb)
        collection.publish()
        collection.collect()
        with self.clock("Quality control") as notes:
            notes.append(quality_summary(campaign))
        with self.clock("Release and export") as notes:
            release = release_campaign(
                campaign=campaign, name=part.name, seed=self.seed, at=timezone.now()
            )
            files = KINDS[release.campaign.kind].write(release, self.places.folder)
            self.files += files
            notes.append(", ".join(path.name for path in files))
        return release

    def _add_draft(self) -> None:
        """Add a draft campaign on the same images, as an example for the dashboard."""
        config = parse_config(
            {"name": DRAFT_NAME, "preset": "coco-c5", "selection": NAME, "budget": 100}
        )
        create_campaign(config=config, endpoint="local", at=timezone.now())
