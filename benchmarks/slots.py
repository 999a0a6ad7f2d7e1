"""HITs accepted with nothing to do, and the duration of the last tenth of a campaign.

Thirty simulated workers work on two campaigns at once, with three images per HIT, through the pages
of a marketplace in its own process and of this site. Some return their HIT, and some abandon it.
The reconciler runs at regular intervals. A HIT takes a worker some seconds, so an abandoned HIT is
unavailable for about fifteen times as long, as with real workers.
"""

import argparse
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.db.models import Count, F, Q
from waitress.server import create_server

from annotate.models import Campaign, ResponseStatus
from annotate.services.campaigns import incomplete_tasks
from benchmarks.campaigns import make_campaign, settle_down
from benchmarks.harness import Line, Report, main, scratch_database
from benchmarks.sync import talk_to
from hits.reconcile.reconciler import reconcile
from simulation.workers.browser import WorkerBrowser
from simulation.workers.crowd import Crowd, Hand, Member, Outcome, Plan, members
from simulation.workers.pages import CaptionItem, TaskForm
from tests.hits.marketplace_process import MarketplaceProcess, running_marketplace

WORKERS, CAMPAIGNS, IMAGES = 30, 2, 3
SIZES = {"short": (12, 5), "full": (51, 11)}  # images per campaign, captions per image
SECONDS = 4.0  # mean time of a HIT, and time between two syncs
RETURNED, ABANDONED = 0.02, 0.03
# At most one HIT in a hundred may be accepted with nothing to do.
AIM = 0.01
SENTENCE = "Two children with red umbrellas wait beside an old stone bridge, on day {}."
# Seconds until a worker without an offer looks again.
LOOKS_AGAIN_AFTER = 2.0


class PatientBrowser(WorkerBrowser):
    """A worker's browser that takes some time for each HIT."""

    def send(self, task: TaskForm, answers: Any) -> TaskForm | None:
        time.sleep(random.uniform(0.5, 1.5) * SECONDS)
        return super().send(task, answers)

    def _load_images(self, page: str, sources: Iterable[str]) -> None:
        """Loads nothing, because the campaign's images have no files."""


class Writer:
    """Writes a caption for each image."""

    def fill(self, task: TaskForm, rng: random.Random, **_: bool) -> dict[str, str]:
        return {
            item.name: SENTENCE.format(rng.randrange(10**6))
            for item in task.items
            if isinstance(item, CaptionItem)
        }


@dataclass
class Course:
    """The crowd's work in one campaign, with the time of each submission."""

    campaign: Campaign
    begun_at: float = field(default_factory=time.monotonic)
    submitted_at: list[float] = field(default_factory=list)
    found_nothing: int = 0
    abandoned: int = 0
    errors: int = 0

    def note_submission(self) -> None:
        self.submitted_at.append(time.monotonic())

    def add(self, outcome: Outcome) -> None:
        self.found_nothing += outcome.found_nothing
        self.abandoned += outcome.abandoned
        self.errors += outcome.errors.total()

    @property
    def is_complete(self) -> bool:
        return not incomplete_tasks(self.campaign).exists()

    @property
    def last_tenth(self) -> float:
        """The share of the total time that the last tenth of the submissions took."""
        times = sorted(self.submitted_at)
        nine_tenths = times[round(0.9 * len(times)) - 1]
        return (times[-1] - nine_tenths) / (times[-1] - self.begun_at)


def measure(options: argparse.Namespace) -> Report:
    images, captions = SIZES["full" if options.full else "short"]
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
        running_marketplace(Path(folder)) as process,
        scratch_database(),
        site_running(),
    ):
        talk_to(process, "slots")
        courses = [Course(campaign) for campaign in _campaigns(images, captions)]
        _work(process, courses)
        return _report(courses, least=-(-images * captions // IMAGES))


@contextmanager
def site_running() -> Iterator[None]:
    """Run this process's site on a free port."""
    application = get_wsgi_application()
    server = create_server(application, host="127.0.0.1", port=0, threads=8)
    settings.SITE_URL = f"http://127.0.0.1:{server.effective_port}"
    settings.ALLOWED_HOSTS = ["*"]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.close()
        thread.join(5)


def _campaigns(images: int, captions: int) -> list[Campaign]:
    """Running campaigns with several images per HIT, whose HITs are paid at once."""
    made = []
    for number in range(CAMPAIGNS):
        campaign = make_campaign(name=f"slots-{number}", images=images, wanted=captions)
        hit = {"images": IMAGES, "minutes": 1, "title": f"Captions {number}"}
        review = {"share": 0, "first": 0, "approve_after_hours": 0}
        for section, values in {"hit": hit, "review": review}.items():
            campaign.config_json[section] |= values
        campaign.save()
        reconcile(campaign)
        made.append(campaign)
    settle_down()
    return made


def _work(process: MarketplaceProcess, courses: list[Course]) -> None:
    """Run the crowds and the reconciler until every campaign is complete."""
    names = [f"slots-{number}" for number in range(WORKERS)]
    links = [worker.sign_in_url for worker in process.workers(*names)]
    is_over = threading.Event()
    with ThreadPoolExecutor(1 + len(courses)) as pool:
        running = [pool.submit(_closing, _work_at, course, names, links) for course in courses]
        clock = pool.submit(_closing, _sync, courses, is_over)
        try:
            for crowd in running:
                crowd.result()
        finally:
            is_over.set()
        clock.result()


def _closing(action: Callable[..., None], *arguments: Any) -> None:
    """Run the action in this thread, and close its database connections."""
    try:
        action(*arguments)
    finally:
        connections.close_all()


def _work_at(course: Course, names: list[str], links: list[str]) -> None:
    crowd = _crowd(names, links)
    plan = Plan(
        group=course.campaign.hit_types.get().hit_type_id,
        seed=1,
        threads=WORKERS // CAMPAIGNS,
        return_share=RETURNED,
        abandon_share=ABANDONED,
    )
    while not course.is_complete:
        course.add(Crowd(crowd, plan, course.note_submission).work())
        time.sleep(LOOKS_AGAIN_AFTER)


def _crowd(names: list[str], links: list[str]) -> list[Member]:
    """All workers, each with a browser for this campaign. A worker may have two windows open."""
    browsers = [PatientBrowser(link) for link in links]
    hands = [Hand("honest", Writer()) for _ in names]
    return members(names=names, browsers=browsers, hands=hands, seed=1)


def _sync(courses: list[Course], is_over: threading.Event) -> None:
    while not is_over.wait(SECONDS):
        for course in courses:
            reconcile(course.campaign)


def _report(courses: list[Course], *, least: int) -> Report:
    submissions = sum(len(course.submitted_at) for course in courses)
    in_vain = sum(course.found_nothing for course in courses)
    needless = submissions - least * len(courses)
    last_tenth = max(course.last_tenth for course in courses)
    report = Report()
    report.lines = [
        Line(
            "HITs accepted with nothing to do",
            f"{in_vain} of {submissions} submissions",
            ratio=round(in_vain / submissions, 4),
            aim=AIM,
        ),
        Line("submissions beyond the fewest possible", str(needless)),
        Line("captions beyond those wanted", str(sum(map(_surplus, courses)))),
        Line("share of the time of the last tenth", f"{last_tenth:.0%}"),
    ]
    report.figures |= {
        "submissions": submissions,
        "in_vain": in_vain,
        "needless_submissions": needless,
        "surplus_captions": sum(map(_surplus, courses)),
        "last_tenth": round(last_tenth, 3),
        "abandoned": sum(course.abandoned for course in courses),
        "errors": sum(course.errors for course in courses),
    }
    return report


def _surplus(course: Course) -> int:
    """The number of captions beyond those that the images need."""
    counting = Count("responses", filter=Q(responses__status=ResponseStatus.SUBMITTED))
    tasks = course.campaign.tasks.annotate(has=counting).filter(has__gt=F("wanted"))
    return sum(has - wanted for has, wanted in tasks.values_list("has", "wanted"))


if __name__ == "__main__":
    main(measure, name="slots", description=__doc__)
