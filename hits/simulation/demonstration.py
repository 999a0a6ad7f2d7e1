"""The whole campaign on this machine: from drawn scenes to an exported release."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal
from io import StringIO
from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from tqdm import tqdm

from annotate.config import parse_config, read_config
from annotate.errors import DomainError
from annotate.exports import write_captions
from annotate.models import Campaign, Release
from annotate.releases import missing
from annotate.services.campaigns import create_campaign, progress
from hits.client import marketplace_of
from hits.costs import estimate
from hits.reconciler import reconcile
from hits.services.lifecycle import publish
from hits.simulation.checks import Check, check_exclusions, check_files, check_marketplace
from hits.simulation.crowd import Crowd, Member, Outcome, Plan, members
from hits.simulation.dataset import draw_dataset
from hits.simulation.processes import (
    Installation,
    make_workers,
    marketplace_running,
    random_password,
    site_running,
)
from hits.simulation.reviewer import review
from hits.simulation.sights import sights_by_address
from hits.simulation.writers import Limits
from qualcontrol.services import release_campaign

NAME, DRAFT_NAME, USER = "demo", "unprimed-pilot", "demo"
WORKERS, CARELESS = 26, 4
# The crowd and the reviewer take turns until nothing is missing; it never took half as many.
MOST_ROUNDS = 12
TOML = """\
# The demonstration's campaign: nocaps' procedure on drawn scenes.
name = "{name}"
preset = "nocaps"
selection = "{name}"
seed = {seed}
budget = {budget}

[hit]
reward = 0.10

[review]
share = 0.10
first = 2
approve_after_hours = 0  # simulated workers are paid at once
"""


class CampaignStuck(DomainError):
    """The campaign did not come to its end."""


@dataclass
class Stages:
    """The demonstration's parts with the seconds each took, told as they go."""

    tell: Callable[[str], object]
    rows: list[tuple[str, float, str]] = field(default_factory=list)

    @contextmanager
    def __call__(self, title: str) -> Iterator[list[str]]:
        """Time a stage; what the block appends to the list is told beside it."""
        notes: list[str] = []
        start = time.monotonic()
        yield notes
        seconds = time.monotonic() - start
        self.rows.append((title, seconds, "; ".join(notes)))
        self.tell(f"{seconds:6.1f} s  {title:<28} {self.rows[-1][2]}")

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds, _ in self.rows)


@dataclass(frozen=True)
class Result:
    """What a demonstration leaves behind."""

    files: list[Path]
    checks: list[Check]
    seconds: float
    user: str
    password: str


class Demonstration:
    """One demonstration in the installation that this process is set up for."""

    def __init__(
        self, places: Installation, *, images: int, seed: int, tell: Callable[[str], object]
    ) -> None:
        self.places = places
        self.images = images
        self.seed = seed
        self.stages = Stages(tell)

    def run(self) -> Result:
        """Do it all; raises DomainError or ProcessFailed where something does not go on."""
        password = random_password()
        reviewer = self._prepare(password)
        with ExitStack() as stack:
            with self.stages("Start both sites") as notes:
                stack.enter_context(marketplace_running(self.places, {}))
                stack.enter_context(site_running(self.places, {}))
                notes.append(f"{self.places.site_url} and {self.places.marketplace_url}")
            campaign = self._create()
            balance = marketplace_of(campaign).balance()
            self._collect(campaign, reviewer)
            release, files = self._release(campaign)
            with self.stages("Check the result") as notes:
                checks = check_files(self.places.folder, campaign)
                checks += check_exclusions(campaign, release)
                checks += check_marketplace(campaign, balance)
                notes.append(f"{sum(check.holds for check in checks)} of {len(checks)} hold")
            self._add_draft()
        return Result(files, checks, self.stages.seconds, USER, password)

    def _prepare(self, password: str) -> User:
        with self.stages("Prepare the databases"):
            call_command("migrate", verbosity=0, interactive=False)
            return get_user_model().objects.create_superuser(USER, password=password)

    def _create(self) -> Campaign:
        drawn = self.images * 2 + 6
        with self.stages("Draw scenes") as notes:
            folder = self.places.folder / "dataset"
            scenes = draw_dataset(folder, count=drawn, seed=self.seed, split=NAME)
            for dataset in tqdm(scenes, total=drawn, disable=None, leave=False):  # noqa: B007
                pass
            notes.append(f"{drawn} images, {sum(1 for _ in dataset.boxes.open()) - 1} boxes")
        with self.stages("Import them") as notes:
            call_command(
                "import_openimages",
                classes=dataset.classes,
                hierarchy=dataset.hierarchy,
                images=dataset.images,
                boxes=dataset.boxes,
                files=dataset.files,
                split=NAME,
                stdout=StringIO(),
            )
            notes.append("classes, hierarchy, images, boxes and files in Open Images' form")
        with self.stages("Select images") as notes:
            options = {"split": NAME, "count": self.images, "name": NAME, "seed": self.seed}
            call_command("select_images", **options, stdout=StringIO())
            notes.append(f"{self.images} of {drawn}, as nocaps did")
        with self.stages("Create the campaign") as notes:
            campaign = self._campaign()
            cost = estimate(campaign)
            notes.append(f"{cost.responses} captions, estimated at ${cost.total}")
        return campaign

    def _campaign(self) -> Campaign:
        # Half as much again as the captions cost: what is discarded has to be replaced.
        budget = (self.images * 11 * Decimal("0.12") * Decimal("1.5")).quantize(1, ROUND_UP)
        path = self.places.folder / "campaign.toml"
        path.write_text(TOML.format(name=NAME, seed=self.seed, budget=budget), encoding="utf-8")
        return create_campaign(config=read_config(path), endpoint="local", at=timezone.now())

    def _collect(self, campaign: Campaign, reviewer: User) -> None:
        """Let the crowd and the reviewer take turns until the campaign is complete."""
        with self.stages("Publish") as notes:
            publish(campaign=campaign)
            notes.append(f"{reconcile(campaign).hits_created} HITs at the marketplace")
        with self.stages("Make workers") as notes:
            plan = self._plan(campaign)
            crowd = members(names=NAMES, links=self._links(), careless=CARELESS, plan=plan)
            notes.append(f"{WORKERS} simulated workers, {CARELESS} of them careless")
        for number in range(1, MOST_ROUNDS + 1):
            # The first round ends early, so that the careless are found before they did much.
            most = progress(campaign).wanted // 2 if number == 1 else None
            with self.stages(f"Workers write, round {number}") as notes:
                outcome = self._write(crowd, self._plan(campaign, most))
                notes.append(_told(outcome))
            with self.stages(f"Read and review, round {number}") as notes:
                notes.append(self._review(campaign, reviewer))
            if not missing(campaign):
                return
            if not outcome.total:
                break
        raise CampaignStuck("\n".join(["Captions are still missing:", *missing(campaign)]))

    def _write(self, crowd: list[Member], plan: Plan) -> Outcome:
        with tqdm(total=plan.most_assignments, unit=" HITs", disable=None, leave=False) as bar:
            return Crowd(crowd, plan, bar.update).work()

    def _links(self) -> list[str]:
        return make_workers(NAMES, country="US", approved=6000, rate=99, environment={})

    def _plan(self, campaign: Campaign, most: int | None = None) -> Plan:
        rules = campaign.config.captions
        return Plan(
            group=campaign.hit_types.get().hit_type_id,
            seed=self.seed,
            limits=Limits(rules.least_words, rules.most_words),
            sights=sights_by_address(campaign),
            most_assignments=most,
        )

    def _review(self, campaign: Campaign, reviewer: User) -> str:
        ingested = reconcile(campaign)
        done = review(campaign=campaign, reviewer=reviewer, at=timezone.now())
        replaced = reconcile(campaign)
        return (
            f"{ingested.ingested} read, {ingested.approved + replaced.approved} paid, "
            f"{done.judged} spot-checked, {done.bad} bad, {done.excluded} workers excluded, "
            f"{replaced.hits_created} HITs for replacement"
        )

    def _release(self, campaign: Campaign) -> tuple[Release, list[Path]]:
        with self.stages("Release and export") as notes:
            release = release_campaign(
                campaign=campaign, name=NAME, seed=self.seed, at=timezone.now()
            )
            files = write_captions(release, self.places.folder)
            notes.append(", ".join(path.name for path in files))
        return release, files

    def _add_draft(self) -> None:
        """A second campaign on the same images, not yet published, for whoever looks around."""
        config = parse_config(
            {"name": DRAFT_NAME, "preset": "coco-c5", "selection": NAME, "budget": 100}
        )
        create_campaign(config=config, endpoint="local", at=timezone.now())


def _told(outcome: Outcome) -> str:
    """What the crowd did, in a line; errors that it met are not passed over."""
    errors = "".join(f", {n} × {error}" for error, n in outcome.errors.most_common(3))
    return (
        f"{outcome.total} captions by {len(outcome.submitted)} workers, "
        f"{outcome.corrected} corrected, {outcome.returned} HITs returned{errors}"
    )


NAMES = [f"simulated-{number:03}" for number in range(1, WORKERS + 1)]
