"""The demo: from generated scenes to releases of captions and of word–box links."""

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_UP, Decimal
from io import StringIO
from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from tqdm import tqdm

from annotate.kinds import KINDS
from annotate.kinds.campaign_files import parse_config, read_plan
from annotate.models import Campaign, Release, Response
from annotate.queries.progress import progress
from annotate.services.campaigns import create_campaign
from corpora.errors import DomainError
from hits.local import Installation, make_workers, sites_running
from hits.mturk.client import Marketplace
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import estimate
from hits.reconcile.reconciler import reconcile
from hits.services.lifecycle import publish
from qualcontrol.models import SpotCheck, Verdict
from qualcontrol.queries.quality_report import quality_report
from qualcontrol.review.judging import judge
from qualcontrol.review.review_queue import next_checks
from qualcontrol.services.releasing import missing_answers, release_campaign
from qualcontrol.services.worker_risks import learn
from simulation.checks import Check, check_captions, check_links, check_marketplace
from simulation.kinds import hands_for, judge_of
from simulation.scenes.dataset import Dataset, draw_dataset
from simulation.workers.browser import WorkerBrowser
from simulation.workers.crowd import Crew, Crowd, Member, Outcome, Plan, members


@dataclass
class Clock:
    """Measures steps and reports each when it ends."""

    tell: Callable[[str], object]
    seconds: float = 0.0

    @contextmanager
    def __call__(self, title: str) -> Iterator[list[str]]:
        """Time the block. Notes appended to the list are shown after its title."""
        notes: list[str] = []
        start = time.monotonic()
        yield notes
        took = time.monotonic() - start
        self.seconds += took
        self.tell(f"{took:6.1f} s  {title:<28} {'; '.join(notes)}")


def draw_and_select(dataset: Dataset, clock: Clock, *, name: str, images: int, seed: int) -> None:
    """Generate about twice as many scenes as needed, and select this number of images."""
    drawn = images * 2 + 6
    with clock("Draw scenes") as notes:
        scenes = draw_dataset(dataset, count=drawn, seed=seed, split=name)
        boxes = sum(tqdm(scenes, total=drawn, disable=None, leave=False))
        notes.append(f"{drawn} images, {boxes} boxes")
    with clock("Import them") as notes:
        call_command(
            "import_openimages",
            classes=dataset.classes,
            hierarchy=dataset.hierarchy,
            images=dataset.images,
            boxes=dataset.boxes,
            files=dataset.files,
            split=name,
            stdout=StringIO(),
        )
        notes.append("classes, hierarchy, images, boxes and files in Open Images' form")
    with clock("Select images") as notes:
        options = {"split": name, "count": images, "name": name, "seed": seed}
        call_command("select_images", **options, stdout=StringIO())
        notes.append(f"{images} of {drawn}, as nocaps did")


CAPTIONS_TOML = """\
# The demonstration's first campaign: nocaps' procedure on drawn scenes.
name = "demo"
preset = "nocaps"
selection = "demo"
seed = {seed}
budget = {budget}

[hit]
reward = 0.10

[review]
share = 0.10
first = 2
approve_after_hours = 0  # simulated workers are paid at once
"""
LINKS_TOML = """\
# The demonstration's second campaign: which word of these captions refers to which box.
name = "demo-words"
preset = "imageclef"
release = "demo"
responses = 15  # three do not outvote their errors, which are in every fifth word
seed = {seed}
budget = {budget}

[correspondence]
images = {images}
captions_per_image = {captions}

[hit]
reward = 0.15
images = 3

[review]
share = 0.10
first = 1
approve_after_hours = 0
"""


@dataclass(frozen=True)
class Part:
    """One campaign of the demo, with its workers and its export.

    `cost` is the price in dollars of the answers to one image or caption. `careless` is the number
    of careless workers; the others get a share `errors` of words wrong.
    """

    name: str
    toml: str
    answers: str
    verb: str
    people: str
    cost: Decimal
    careless: int = 0
    errors: float = 0.0

    def create(self, folder: Path, *, seed: int, images: int, captions: int = 1) -> Campaign:
        """Create the campaign from a campaign file, which stays in the folder."""
        # 1.5 times the cost of the answers, because discarded ones have to be replaced.
        budget = (images * captions * self.cost * Decimal("1.5")).quantize(1, ROUND_UP)
        path = folder / f"{self.name}.toml"
        text = self.toml.format(seed=seed, budget=budget, images=images, captions=captions)
        path.write_text(text, encoding="utf-8")
        return create_campaign(
            config=read_plan(path).configs[0], endpoint="local", at=timezone.now()
        )


CAPTIONS = Part(
    name="demo",
    toml=CAPTIONS_TOML,
    answers="captions",
    verb="write",
    people="four of the workers are careless",
    cost=11 * Decimal("0.12"),
    careless=4,
)
LINKS = Part(
    name="demo-words",
    toml=LINKS_TOML,
    answers="answers",
    verb="link",
    people="all workers get one word in five wrong",
    cost=5 * Decimal("0.18"),
    errors=0.2,
)


# Number of good answers in a row after which the reviewer assumes that the queue's first items are
# not bad.
PATIENCE = 12


@dataclass(frozen=True)
class Round:
    """Numbers of one round of review."""

    judged: int
    bad: int
    excluded: int


def review(*, campaign: Campaign, reviewer: User, at: datetime) -> Round:
    """Judge queue items until many in a row are good, then the remaining required checks.

    The campaign's policy decides which workers are excluded.
    """
    learn(campaign=campaign)
    excluded_before = campaign.exclusions.in_force().count()
    judged = list(_judge_all(campaign, reviewer, at))
    excluded = campaign.exclusions.in_force().count() - excluded_before
    return Round(len(judged), judged.count(Verdict.BAD), excluded)


def _judge_all(campaign: Campaign, reviewer: User, at: datetime) -> Iterator[Verdict]:
    fault_of = judge_of(campaign)

    def judge_truly(response: Response) -> Verdict:
        reason = fault_of(response)
        verdict = Verdict.BAD if reason else Verdict.GOOD
        judge(response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=at)
        return verdict

    good_in_a_row = 0
    while good_in_a_row < PATIENCE and (
        items := next_checks(campaign=campaign, reviewer=reviewer, count=1, at=at)
    ):
        verdict = judge_truly(items[0].response)
        good_in_a_row = good_in_a_row + 1 if verdict == Verdict.GOOD else 0
        yield verdict
    while check := SpotCheck.objects.of(campaign).open().order_by("pk").first():
        yield judge_truly(check.response)


# Limit against an endless loop; runs have needed less than half as many.
MOST_ROUNDS = 12


class CampaignStuck(DomainError):
    """The campaign could not be completed."""


@dataclass(frozen=True)
class Collection:
    """A campaign with its simulated workers and reviewer; `verb` describes what the workers do."""

    campaign: Campaign
    crowd: Sequence[Member]
    reviewer: User
    seed: int
    clock: Clock
    verb: str

    def publish(self) -> None:
        with self.clock("Publish") as notes:
            publish(campaign=self.campaign, actor=None, at=timezone.now())
            notes.append(f"{reconcile(self.campaign).hits_created} HITs at the marketplace")

    def collect(self) -> None:
        """Let workers and reviewer take turns until all answers are there; raises CampaignStuck."""
        for number in range(1, MOST_ROUNDS + 1):
            with self.clock(f"Workers {self.verb}, round {number}") as notes:
                outcome = self._work(self._most(number))
                notes.append(work_summary(outcome))
            with self.clock(f"Read and review, round {number}") as notes:
                opened = self._review(notes)
            if not missing_answers(self.campaign):
                return
            # Without submissions, go on only if the sync created HITs for places that had been
            # claimed without a response.
            if not outcome.total and not opened:
                break
        lines = ["Answers are still missing:", *missing_answers(self.campaign)]
        raise CampaignStuck("\n".join(lines))

    def _most(self, number: int) -> int | None:
        """Limit of the first round, so that careless workers are found early."""
        wanted, images = progress(self.campaign).wanted, self.campaign.config.hit.images
        return max(1, wanted // images // 2) if number == 1 else None

    def _work(self, most: int | None) -> Outcome:
        group = self.campaign.hit_types.get().hit_type_id
        plan = Plan(group=group, seed=self.seed, most_assignments=most)
        with tqdm(total=most, unit=" HITs", disable=None, leave=False) as bar:
            return Crowd(self.crowd, plan, bar.update).work()

    def _review(self, notes: list[str]) -> int:
        """Ingest and judge submissions; return the number of new HITs."""
        ingested = reconcile(self.campaign)
        result = review(campaign=self.campaign, reviewer=self.reviewer, at=timezone.now())
        replaced = reconcile(self.campaign)
        opened = ingested.hits_created + replaced.hits_created
        notes.append(
            f"{ingested.ingested} read, {ingested.approved + replaced.approved} paid, "
            f"{result.judged} checked, {result.bad} bad, {result.excluded} excluded, "
            f"{opened} HITs opened"
        )
        return opened


def work_summary(outcome: Outcome) -> str:
    """One line about what the workers did, including errors."""
    errors = "".join(f", {n} × {error}" for error, n in outcome.errors.most_common(3))
    return (
        f"{outcome.total} HITs by {len(outcome.submitted)} workers, "
        f"{outcome.corrected} answers corrected, {outcome.returned} HITs returned{errors}"
    )


def quality_summary(campaign: Campaign) -> str:
    """One line about the results of quality control."""
    report = quality_report(campaign)
    excluded = campaign.exclusions.in_force().count()
    estimate = report.estimate
    return (
        f"{report.good + report.bad} checks found {report.bad} bad, {excluded} excluded; of "
        f"{report.kept} answers kept {estimate.share:.1%} are bad ({estimate.low:.1%} to "
        f"{estimate.high:.1%})"
    )


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
        """Run both campaigns; raises DomainError if a step fails."""
        password = secrets.token_urlsafe(12)
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
            # Both releases are in one folder, which has the documents of the first.
            kind, is_first = KINDS[release.campaign.kind], not self.files
            files = kind.write(release, self.places.folder, with_documents=is_first)
            self.files += files
            notes.append(", ".join(path.name for path in files))
        return release

    def _add_draft(self) -> None:
        """Add a draft campaign on the same images, as an example for the dashboard."""
        config = parse_config(
            {"name": DRAFT_NAME, "preset": "coco-c5", "selection": NAME, "budget": 100}
        )
        create_campaign(config=config, endpoint="local", at=timezone.now())
