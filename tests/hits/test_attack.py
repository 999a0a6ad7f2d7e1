"""Attackers send forged requests while simulated workers do a campaign.

All workers finish, no forged answer counts, and marketplace and database agree. A short run by
default; `ATTACK_REQUESTS=2000` has thirty workers and that number of requests.
"""

import os
import random
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.db.models import Count, Sum
from django.utils import timezone

from annotate.models import Campaign, Response, Worker
from annotate.services.campaigns import incomplete_tasks
from hits.models import (
    Assignment,
    AssignmentStatus,
    Claim,
    Hit,
    Sync,
    SyncProblem,
    TaskPage,
    WorkerAccount,
    WorkerBarring,
)
from hits.mturk.client import marketplace_of
from hits.mturk.hit_texts import parse_answer
from hits.services.claims import recount_places
from hits.services.hit_pages import PAGES_PER_SLOT
from hits.services.payments import accept_held
from qualcontrol.models import HeldPayment
from simulation.checks import Check, check_marketplace
from simulation.workers.browser import Item, field_of
from simulation.workers.crowd import Crowd, Hand, Member, Outcome, Plan
from tests.databases import database_url
from tests.factories import UserFactory, make_campaign
from tests.hits.marketplace_process import ROOT
from tests.hits.strangers import (
    AT_ONCE,
    FORGED,
    STRANGERS,
    Attack,
    Overheard,
    OverheardBrowser,
    Stranger,
)
from tests.servers import PATIENCE, answers, free_port, head, running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

REQUESTS = int(os.environ.get("ATTACK_REQUESTS", "200"))


@dataclass(frozen=True)
class Size:
    workers: int
    images: int
    captions: int
    slots: int  # of a HIT

    @property
    def wanted(self) -> int:
        return self.images * self.captions


SIZE = Size(30, 30, 11, 9) if REQUESTS >= 2_000 else Size(10, 6, 8, 1)
# Captions beyond those wanted, at most, for each worker. Up to one was seen.
SURPLUS = 2
SENTENCE = "Two children with red umbrellas wait beside an old stone bridge, on day {}."


class Writer:
    """Writes a unique caption for each image."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.written = count()

    def fill(self, item: Item, rng: random.Random, *, refused: bool) -> dict[str, str]:
        text = SENTENCE.format(f"{self.number} of month {next(self.written)}")
        return {str(field_of(item, "textarea")["name"]): text}


@dataclass
class Seen:
    """The largest numbers of pages during the attack."""

    pages: int = 0
    surplus: int = 0  # pages of one HIT beyond what it may have


@dataclass
class Course:
    """The sum of the workers' visits."""

    submitted: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    found_nothing: int = 0

    def add(self, outcome: Outcome) -> None:
        self.submitted += outcome.submitted
        self.errors += outcome.errors
        self.found_nothing += outcome.found_nothing


@pytest.fixture
def campaign(requester):
    return make_campaign(
        tasks=SIZE.images,
        references=SIZE.captions - 1,
        budget="1000.00",
        hit={"assignments": SIZE.slots, "minutes": 1},
    )


@pytest.fixture
def balance(campaign) -> Decimal:
    """The requester's balance before the first HIT."""
    return marketplace_of(campaign).balance()


@pytest.fixture
def site(marketplace, campaign, balance, settings, tmp_path) -> Iterator[str]:
    """URL of the requester site, which runs in another process with its reconciler."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings.SITE_URL = url
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "SECRET_KEY": settings.SECRET_KEY,
        "SITE_URL": url,
        "MARKETPLACE_URL": marketplace.url,
        "MTURK_ENDPOINT": "local",
        "MEDIA_ROOT": str(tmp_path / "media"),
        "LOG_LEVEL": "WARNING",
    }
    commands = {
        "site": ["-m", "waitress", f"--listen=127.0.0.1:{port}", "config.wsgi:application"],
        "reconciler": ["manage.py", "sync", "--watch", "1"],
    }
    with ExitStack() as stack:
        for name, arguments in commands.items():
            log = tmp_path / f"{name}.log"
            stack.enter_context(running([sys.executable, *arguments], log, environment, ROOT))
        wait_until(lambda: answers(f"{url}/sign-in/"), "the site starts")
        wait_until(lambda: Hit.objects.filter(available__gt=0).exists(), "HITs open")
        yield url


def wait_until(
    is_so: Callable[[], bool], what: str, explain: Callable[[], str] = lambda: ""
) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, f"{what}: not within {PATIENCE} s: {explain()}"
        time.sleep(0.2)


def last_lines(folder: Path) -> str:
    """The end of the reconciler's log, and what it could not deal with."""
    problems = list(SyncProblem.objects.values_list("subject", "message", "times"))
    return f"{problems}\n{(folder / 'reconciler.log').read_text()[-3_000:]}"


def make_crowd(marketplace, overheard: Overheard) -> list[Member]:
    rows = marketplace.command(
        "marketplace_worker",
        *(f"attacked-{number}" for number in range(SIZE.workers)),
        *("--country", "US", "--approved", "6000", "--rate", "99"),
    )
    crowd = []
    for number, row in enumerate(rows):
        browser = OverheardBrowser(row["sign_in_url"])
        browser.overheard, browser.submitted = overheard, set()
        hand = Hand("honest", Writer(number))
        crowd.append(Member(row["worker_id"], browser, hand, weight=1.0))
    return crowd


def make_strangers(marketplace, page: str, overheard: Overheard) -> list[Stranger]:
    outsiders = marketplace.fresh_workers(STRANGERS)
    return [
        Stranger(page, outsider, overheard, random.Random(number))
        for number, outsider in enumerate(outsiders)
    ]


def let_work(campaign: Campaign, crowd: list[Member], attack: Attack) -> Course:
    """Let the crowd work until every image has its captions; each submission allows more
    attacks."""
    course, left = Course(), threading.Lock()
    done = 0

    def note_submission() -> None:
        nonlocal done
        with left:
            done += 1
        attack.allow(0.1 + 0.9 * done / SIZE.wanted)

    plan = Plan(
        group=campaign.hit_types.get().hit_type_id,
        seed=1,
        threads=SIZE.workers,
        return_share=0.05,
    )
    try:
        while incomplete_tasks(campaign).exists():
            course.add(Crowd(crowd, plan, note_submission).work())
            time.sleep(1)
    finally:
        connections.close_all()
    return course


def watch(seen: Seen) -> None:
    """Record the numbers of pages, in total and by HIT."""
    pages = Hit.objects.annotate(opened=Count("pages")).values_list("opened", "slots")
    counts = [(opened, opened - PAGES_PER_SLOT * slots) for opened, slots in pages]
    seen.pages = max(seen.pages, sum(opened for opened, _ in counts))
    seen.surplus = max(seen.surplus, *(surplus for _, surplus in counts))


def test_everybody_finishes_under_attack_and_nothing_forged_counts(
    marketplace, campaign, balance, site, tmp_path
):
    assert_head_has_no_body(f"{site}/task/{campaign.slug}/", f"{marketplace.url}/sign-in")
    overheard, seen = Overheard(), Seen()
    crowd = make_crowd(marketplace, overheard)
    strangers = make_strangers(marketplace, f"{site}/task/{campaign.slug}/", overheard)
    attack = Attack(strangers, REQUESTS)
    attack.allow(0.1)

    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool, attack.going_on():
        work = pool.submit(let_work, campaign, crowd, attack)
        while not work.done():
            watch(seen)
            time.sleep(0.3)
        course = work.result()
    taken = time.monotonic() - began
    approved = Assignment.objects.filter(status=AssignmentStatus.APPROVED)
    describe(attack, course, seen, taken)
    reviewer = UserFactory()
    wait_until(
        lambda: accept_repeated(reviewer) and approved.count() >= course.submitted.total(),
        "all is paid",
        lambda: f"{approved.count()} of {course.submitted.total()}, {last_lines(tmp_path)}",
    )

    assert attack.sent >= REQUESTS
    assert_the_servers_held(attack, tmp_path)
    assert_all_workers_finished(campaign, crowd, course)
    assert_only_the_workers_answers_count(campaign, crowd)
    assert_tables_are_bounded(seen, course)
    assert_both_ends_agree(campaign, balance)


def accept_repeated(reviewer: User) -> bool:
    """Accept, as a person does, what waits because its worker had answered the task before.

    A flood of forged pages may close one that has an answer. Its worker can get the task again,
    and the sync may read the later answer first. Nothing else may wait for a person.
    """
    for held in HeldPayment.objects.open():
        assert held.why == "The worker has submitted an answer to this task before."
        accept_held(held=held, reason="written twice", actor=reviewer, at=timezone.now())
    return True


def assert_head_has_no_body(*urls: str) -> None:
    """Otherwise the next response on the connection would begin with the body."""
    for url in urls:
        sent = head(url)
        assert sent.count(b"HTTP/1.1 ") == 2
        assert sent.endswith(b"\r\n\r\n")
        assert b"<" not in sent


def describe(attack: Attack, course: Course, seen: Seen, taken: float) -> None:
    for sort, statuses in sorted(attack.answers.items()):
        print(f"{sort}: {dict(sorted(statuses.items()))}")
    print(
        f"{attack.sent} forged requests, {course.submitted.total()} submissions by "
        f"{len(course.submitted)} workers in {taken:.0f} s; {course.found_nothing} HITs with "
        f"nothing to do; {seen.pages} pages at most"
    )


def assert_the_servers_held(attack: Attack, logs: Path) -> None:
    broken = {
        sort: statuses
        for sort, statuses in attack.answers.items()
        if any(status >= 500 for status in statuses)
    }
    assert broken == {}
    assert all(statuses for statuses in attack.answers.values()), attack.answers
    for log in logs.glob("*.log"):
        assert "Traceback" not in log.read_text(), log.read_text()[-5_000:]


def assert_all_workers_finished(campaign: Campaign, crowd: list[Member], course: Course) -> None:
    assert course.errors == {}
    assert {member.name for member in crowd} == set(course.submitted)
    # Near the end a worker may accept a HIT whose last task somebody else submits first.
    assert course.found_nothing <= SIZE.workers
    assert not incomplete_tasks(campaign).exists()
    # Made-up pages claim tasks too, so that two workers may write the last caption of an image.
    assert course.submitted.total() <= SIZE.wanted + SURPLUS * SIZE.workers
    assert recount_places(campaign) == 0
    assert not SyncProblem.objects.exists()
    assert set(Sync.objects.values_list("error", flat=True)) == {""}


def assert_only_the_workers_answers_count(campaign: Campaign, crowd: list[Member]) -> None:
    """Each worker's captions are those that the worker submitted, and there are no others.

    A second caption of an image is paid and not kept. Answers are forged with a worker's id, so a
    worker is not turned away if only images are left that this id has answered since the last sync.
    """
    written = defaultdict(set)
    rows = Response.objects.of(campaign).values_list(
        "worker__account__marketplace_id", "caption__text"
    )
    for worker, text in rows:
        written[worker].add(text)
    assert FORGED not in {text for texts in written.values() for text in texts}
    for member in crowd:
        second = second_captions(member.name)
        assert len(second) <= SURPLUS
        assert member.browser.submitted == written.pop(member.name) | second
    assert not written
    barred = WorkerBarring.objects.filter(is_wanted=True).values_list("account__worker", flat=True)
    assert not [pk for pk in barred if campaign.tasks.open_to(Worker.objects.get(pk=pk)).exists()]


def second_captions(worker: str) -> set[str]:
    """The worker's paid captions of images that the worker has another caption of."""
    theirs = Assignment.objects.filter(
        account__marketplace_id=worker, status=AssignmentStatus.APPROVED
    )
    images = set(
        Response.objects.filter(submission__assignment__in=theirs).values_list(
            "task__number", flat=True
        )
    )
    found = set()
    for answer in theirs.exclude(unplaced_answer="").values_list("unplaced_answer", flat=True):
        for name, text in parse_answer(answer).items():
            assert int(name.removeprefix("caption-")) in images
            found.add(text)
    return found


def assert_both_ends_agree(campaign: Campaign, balance: Decimal) -> None:
    """Marketplace and database agree after the reconciler has closed the last HITs."""
    failed: list[Check] = []

    def agree() -> bool:
        failed[:] = [each for each in check_marketplace([campaign], balance) if not each.holds]
        return not failed

    try:
        wait_until(agree, "both ends agree")
    finally:
        assert failed == []


def assert_tables_are_bounded(seen: Seen, course: Course) -> None:
    assert Worker.objects.count() == WorkerAccount.objects.count() == SIZE.workers
    assert Assignment.objects.count() == course.submitted.total()
    # Requests that are going on may have opened a page before they end those in excess.
    assert seen.surplus <= SIZE.workers + STRANGERS * AT_ONCE
    slots = Hit.objects.aggregate(n=Sum("slots"))["n"]
    assert TaskPage.objects.count() <= PAGES_PER_SLOT * slots
    assert Claim.objects.count() <= TaskPage.objects.count()
