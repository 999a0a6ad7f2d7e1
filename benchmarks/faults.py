"""Small campaigns while everything fails: do they finish, and do the invariants hold?

Each run is a campaign of a few dozen captions in an installation of real processes. A schedule
drawn from the run's seed kills the sites, the reconciler, Celery's workers and beat, the
marketplace, PostgreSQL and Redis; cuts connections to the marketplace and the database; lets the
marketplace throttle, and fail before and after a call's effect; repeats and reorders events; fills
the disk; turns the marketplace's clock; runs a second reconciler and a second reviewer; excludes
and reinstates workers; and forges task pages. The budget is tight all the time.

Then all parts run again, the campaign must finish with a release, and every invariant is checked by
SQL. If one does not hold, the seed is printed, and the exit status is 1. The same seed draws the
same schedule; the processes' timing differs.

PostgreSQL, Redis, the disk and the queue belong to the benchmark. `--sqlite` runs the embedded
installation: SQLite and the reconciler, without Celery and Redis.
"""

import argparse
import logging
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.broken_parts import Disk, Network, Queue
from benchmarks.busy_crowd import Member, Writers
from benchmarks.harness import Line, Report, main
from benchmarks.invariants import Row
from benchmarks.lean_browser import FORM, LeanBrowser, NoAnswer, NotOffered, Unexpected, ask
from benchmarks.replay_nocaps import BAD, Crowd
from benchmarks.whole_campaign import (
    BEAT,
    CELERY,
    JOBS,
    MARKETPLACE,
    NAME,
    RECONCILER,
    SECOND_CELERY,
    SITE,
    Whole,
    installed,
)
from hits.local.processes import ProcessFailed

RUNS, FULL_RUNS = 10, 200
IMAGES, REFERENCES, WORKERS, THREADS = 8, 2, 8, 3
FAULTS_OF_A_RUN = 8
SHARE_JUDGED_BAD = 0.15
PATIENCE = 240.0
# Longer than a HIT's time limit, after which an accepted HIT is free again.
STUCK_AFTER, HIT_SECONDS = 6.0, 90
SLOT_COST = 0.12
FILE: dict[str, Any] = {
    "preset": "nocaps",
    "selection": NAME,
    "references": REFERENCES,
    "baselines": 1,
    "hit": {"minutes": 1},
    "review": {"share": 0.2, "first": 1, "approve_after_hours": 0},
}
# How often the invariants are looked at until they hold.
LOOKS = 10
WORDS = ("red", "old", "small", "wooden", "bright"), ("dog", "bus", "boat", "horse", "clock")
OF_CAMPAIGN = """FROM annotate_response AS response
    JOIN annotate_task AS task ON task.id = response.task_id
    JOIN annotate_campaign AS campaign ON campaign.id = task.campaign_id
    WHERE campaign.slug = '{}'"""
MISSING = """SELECT coalesce(sum(answers_missing), 0) FROM annotate_task AS task
    JOIN annotate_campaign AS campaign ON campaign.id = task.campaign_id
    WHERE campaign.slug = '{}' AND task.answers_missing > 0"""
UNPAID = """SELECT count(*) FROM hits_assignment AS assignment
    JOIN hits_hit AS hit ON hit.id = assignment.hit_id
    JOIN annotate_campaign AS campaign ON campaign.id = hit.campaign_id
    WHERE campaign.slug = '{}' AND assignment.status = 'SUBMITTED'"""
OPEN_CHECKS = """SELECT count(*) FROM qualcontrol_spotcheck AS spot
    JOIN annotate_response AS response ON response.id = spot.response_id
    JOIN annotate_campaign AS campaign ON campaign.id = spot.campaign_id
    WHERE campaign.slug = '{}' AND spot.verdict = '' AND response.status = 'SUBMITTED'"""
RELEASES = "SELECT count(*) FROM annotate_release WHERE name = '{}'"
ALIVE = """SELECT count(*) FROM hits_hit AS hit
    JOIN annotate_campaign AS campaign ON campaign.id = hit.campaign_id
    WHERE campaign.slug = '{}' AND hit.status IN ('PLANNED', 'OPEN', 'EXPIRED')"""
WORKERS_OF = "SELECT DISTINCT worker.pseudonym FROM annotate_worker AS worker"
GROUP_OF = """SELECT type.hit_type_id FROM hits_hittype AS type
    JOIN annotate_campaign AS campaign ON campaign.id = type.campaign_id
    WHERE campaign.slug = '{}' ORDER BY type.id DESC"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, help=f"runs (default: {RUNS}, --full: {FULL_RUNS})")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first run (default: 1)")
    parser.add_argument("--sqlite", action="store_true", help="the embedded installation")


def measure(chosen: argparse.Namespace) -> Report:
    runs = chosen.runs or (FULL_RUNS if chosen.full else RUNS)
    done: list[Run] = []
    began = time.monotonic()
    with fragile_installation(on_sqlite=chosen.sqlite) as fragile:
        for seed in range(chosen.seed, chosen.seed + runs):
            run = Run(fragile, seed)
            run.take()
            done.append(run)
            print(run.line, file=sys.stderr, flush=True)
            if run.broken:
                break
    seconds = time.monotonic() - began
    faults = sum((run.faults for run in done), Counter())
    bad = [f"seed {run.seed}: {line}" for run in done for line in run.broken]
    figures: dict[str, Any] = {
        "runs": len(done),
        "seeds": [chosen.seed, chosen.seed + len(done) - 1],
        "on": "sqlite" if chosen.sqlite else "postgresql",
        "seconds": round(seconds, 1),
        "captions": sum(run.captions for run in done),
        "faults": dict(faults),
        "broken": bad,
    }
    lines = [
        Line("campaigns finished", f"{len(done)}", f"{seconds / len(done):.1f} s each"),
        *(Line(name, f"{times} times") for name, times in sorted(faults.items())),
        Line("broken invariants", f"{len(bad)}", "none", float(len(bad)), 0),
        *(Line(f"BROKEN: {line}", "") for line in bad),
    ]
    report = Report(lines, figures)
    if bad:
        report.print_table("faults")
        sys.exit("\n".join(["An invariant is broken:", *bad]))
    return report


@dataclass
class Fragile:
    """An installation whose parts fail when they are told to."""

    whole: Whole
    network: Network
    disk: Disk
    queue: Queue
    browsers: list[LeanBrowser]

    @property
    def processes(self) -> list[str]:
        return [name for name in ALL if name in self.whole.fleet.children]

    def mend(self) -> None:
        """Let everything run again."""
        postgresql, redis = self.whole.postgresql, self.whole.redis
        if postgresql is not None and not postgresql.is_running:
            postgresql.start()
        if redis is not None and not redis.is_running:
            redis.start()
        for name in self.processes:
            if not self.whole.fleet.is_running(name):
                self.whole.fleet.start(name, waits=False)
        for name in self.processes:
            self.whole.fleet.wait_until_ready(name)
        self.whole.hook("faults", clear=True)


ALL = (MARKETPLACE, SITE, JOBS, RECONCILER, CELERY, SECOND_CELERY, BEAT)


@contextmanager
def fragile_installation(*, on_sqlite: bool) -> Iterator[Fragile]:
    """Start the installation, with a disk, a network and a queue of its own."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-"))) / "disk"
        folder.mkdir()
        folder.parent.chmod(0o755)
        disk, network, queue = Disk(folder), Network(), Queue()
        for part in (disk, network, queue):
            stack.callback(part.close)
        settings = queue.settings | {
            "MARKETPLACE_TEST_HOOKS": "true",
            "MARKETPLACE_SWEEP_SECONDS": "0.5",
            "MTURK_POLL_SECONDS": "5",
            "MTURK_MAX_ATTEMPTS": "4",
            "MTURK_READ_TIMEOUT": "10",
        }
        whole = stack.enter_context(
            installed(
                folder,
                on_sqlite=on_sqlite,
                has_redis=not on_sqlite,
                sync_seconds=1,
                marketplace=network,
                settings=settings,
            )
        )
        whole.make_reviewers("first", "second")
        whole.prepare_images(IMAGES)
        names = [RECONCILER] if on_sqlite else [CELERY, SECOND_CELERY, BEAT]
        for name in (*names, JOBS):
            whole.fleet.start(name)
        browsers = [LeanBrowser(whole.places.marketplace_url, "") for _ in range(WORKERS)]
        for browser, link in zip(browsers, whole.workers(WORKERS), strict=True):
            browser.sign_in(link)
        yield Fragile(whole, network, disk, queue, browsers)


@dataclass
class Run:
    """One campaign with its faults."""

    fragile: Fragile
    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    captions: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.whole = self.fragile.whole
        self.rng = random.Random(f"faults/{self.seed}")
        self.name = f"run-{self.seed}"
        self.members: list[Member] = []

    @property
    def line(self) -> str:
        state = "; ".join(self.broken) or "ok"
        names = ", ".join(f"{name} {times}" for name, times in self.faults.items())
        return (
            f"seed {self.seed}: {self.captions} captions, {self.seconds:.1f} s, {state} ({names})"
        )

    def take(self) -> None:
        """Publish the campaign, let things fail while it runs, and finish it."""
        began = time.monotonic()
        try:
            self._publish()
            with self._crowd():
                self._fail()
                self.fragile.mend()
                self._complete()
            self._release()
            self.captions = int(self._number("SELECT count(*) " + OF_CAMPAIGN))
            self.broken = self._broken()
        except ProcessFailed as error:
            self.broken = [f"11. The campaign did not finish: {error}"]
        self.seconds = time.monotonic() - began

    def _number(self, sql: str) -> float:
        return self.whole.number(sql.format(self.name))

    def _publish(self) -> None:
        slots = IMAGES * (REFERENCES + 1)
        file = {"name": self.name, "budget": f"{slots * SLOT_COST:.2f}", **FILE}
        self.whole.steadily("POST", "campaigns/", file)
        self.whole.steadily("POST", f"campaigns/{self.name}/publish/", {"confirmed": True})
        self._wait_until(lambda: bool(self._rows(GROUP_OF)), "the campaign is published")

    def _rows(self, sql: str) -> list[Row]:
        with self.whole.site_rows() as rows:
            return rows(sql.format(self.name))

    def _wait_until(self, holds: Callable[[], bool], what: str) -> None:
        self.whole.wait_until(holds, f"seed {self.seed}: {what}", PATIENCE)

    def _release(self) -> None:
        """Make a release, and finish the campaign."""
        path = f"campaigns/{self.name}"
        self.whole.steadily("POST", f"{path}/releases/", {"name": self.name})
        self._wait_until(lambda: self._number(RELEASES) == 1, "the release is made")
        self.whole.steadily("POST", f"{path}/finish/")
        self._wait_until(lambda: self._number(ALIVE) == 0, "the HITs are deleted")

    def _broken(self) -> list[str]:
        """The broken invariants. A sync may be under way, so what is broken has to stay so."""
        for _ in range(LOOKS):
            if not (found := self.whole.broken()):
                break
            time.sleep(2)
        return found

    @contextmanager
    def _crowd(self) -> Iterator[None]:
        """Let workers and two reviewers work while the block runs."""
        browsers = self.fragile.browsers
        for browser in browsers:
            browser.group = str(self._rows(GROUP_OF)[0][0])
        self.members = [Member(n, browser, 20) for n, browser in enumerate(browsers)]
        texts = [
            f"A {look} {thing} stands on the lawn beside a {look} gate, number {n}."
            for n, (look, thing) in enumerate((a, b) for a in WORDS[0] for b in WORDS[1])
        ]
        crowd = Crowd(self.members, Writers({0: texts}, seed=self.seed), seed=self.seed)
        threads = [threading.Thread(target=crowd.work) for _ in range(THREADS)]
        threads += [
            threading.Thread(target=self._review, args=(number, crowd.is_over))
            for number in range(2)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            crowd.is_over.set()
            for thread in threads:
                thread.join()

    def _review(self, reviewer: int, is_over: threading.Event) -> None:
        """Judge what the queue shows, as one of two reviewers, until the end."""
        rng = random.Random(f"{self.seed}/{reviewer}")
        checks = f"campaigns/{self.name}/spot-checks/"
        while not is_over.wait(0.5):
            with suppress(NoAnswer, Unexpected):
                items: Any = self.whole.call(
                    "POST", f"{checks}next/", {"count": 3}, reviewer=reviewer
                )
                for item in items:
                    is_bad = rng.random() < SHARE_JUDGED_BAD
                    verdict = {"verdict": "BAD", "reason": BAD} if is_bad else {"verdict": "GOOD"}
                    path = f"{checks}{item['key']}/verdict/"
                    self.whole.call("POST", path, verdict, reviewer=reviewer)

    def _fail(self) -> None:
        """Let parts fail, one after the other, in the order that the seed draws."""
        possible = [fault for fault in FAULTS if fault.is_possible(self.fragile)]
        for fault in self.rng.sample(possible, min(FAULTS_OF_A_RUN, len(possible))):
            self.faults[fault.name] += 1
            # A fault may hit what another one has broken.
            with suppress(NoAnswer, NotOffered, Unexpected, OSError):
                fault.happens(self)
            time.sleep(self.rng.uniform(0.1, 1.0))

    def _complete(self) -> None:
        """Wait until the campaign is complete: judged, paid, and without a missing response."""
        end, seen, since = time.monotonic() + PATIENCE, (-1.0, -1.0, -1.0), time.monotonic()
        while (now := self._left()) != (0, 0, 0):
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > STUCK_AFTER:
                self._help()
                since = time.monotonic()
            if time.monotonic() > end:
                raise ProcessFailed(f"left: {now}\n{self.whole.fleet.logs()}")
            time.sleep(0.3)

    def _left(self) -> tuple[float, float, float]:
        """Missing responses, unpaid assignments and open checks."""
        return self._number(MISSING), self._number(UNPAID), self._number(OPEN_CHECKS)

    def _help(self) -> None:
        """What a researcher does when nothing goes on: wait for deadlines, and add money."""
        for member in self.members:
            member.left = 20
        self.whole.hook("clock", advance_seconds=HIT_SECONDS)
        amount = {"amount": f"{3 * SLOT_COST:.2f}"}
        self.whole.steadily("POST", f"campaigns/{self.name}/budget/", amount)

    # What can happen

    def kill(self, name: str) -> None:
        """Kill a process; start it again at once or a moment later."""
        fleet = self.whole.fleet
        if fleet.is_running(name):
            fleet.kill(name)
        time.sleep(self.rng.choice([0, 0.5]))
        fleet.start(name, waits=False)

    def kill_database(self) -> None:
        server = self.whole.postgresql
        assert server is not None
        server.kill()
        time.sleep(self.rng.choice([0, 0.5]))
        server.start()

    def cut_database(self) -> None:
        server = self.whole.postgresql
        assert server is not None
        server.cut_connections()

    def kill_redis(self) -> None:
        server = self.whole.redis
        assert server is not None
        server.kill()
        time.sleep(self.rng.choice([0, 0.5]))
        server.start()

    def fail_calls(self, kind: str) -> None:
        self.whole.hook("faults", operation="*", kind=kind, times=self.rng.randint(1, 6))

    def fill_disk(self) -> None:
        with self.fragile.disk.full():
            time.sleep(self.rng.uniform(0.2, 1))
        server = self.whole.postgresql
        # PostgreSQL stops if its log finds no room, and is started again as systemd would.
        if server is not None and not server.is_running:
            server.start()

    def turn_clock(self) -> None:
        self.whole.hook("clock", advance_seconds=self.rng.choice([30, HIT_SECONDS, 3600]))

    def sync_twice(self) -> None:
        """Run two more reconcilers at the same time."""
        threads = [threading.Thread(target=self._sync) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _sync(self) -> None:
        with suppress(ProcessFailed):
            self.whole.manage("sync", self.name)

    def exclude(self) -> None:
        """Exclude a worker by hand, and perhaps reinstate them."""
        with self.whole.site_rows() as rows:
            names = [row[0] for row in rows(WORKERS_OF)]
        if names:
            path = f"campaigns/{self.name}/workers/{self.rng.choice(sorted(names))}/"
            self.whole.call("POST", f"{path}exclusion/", {"reason": "Looks careless."})
            if self.rng.random() < 0.7:
                time.sleep(0.5)
                self.whole.call("POST", f"{path}reinstatement/", {"reason": "A mistake."})

    def forge(self) -> None:
        """Open and answer task pages with made-up and with other people's parameters."""
        browser = self.rng.choice(self.members).browser
        browser.browse()
        frame = browser.accept()
        address, _, query = frame.partition("?")
        real = dict(parse_qsl(query))
        made_up = f"A{self.rng.getrandbits(60):X}"
        for change in ({"workerId": made_up}, {"assignmentId": made_up}, {"hitId": made_up}):
            page = ask("GET", f"{address}?{urlencode(real | change)}")
            body = urlencode({"token": made_up, "caption-1": page.text[:50]})
            ask("POST", address, body=body, headers=FORM)
        submit = f"{urlsplit(browser.site).geturl()}/mturk/externalSubmit"
        forged = {"assignmentId": made_up, "caption-1": "A made-up sentence of eight words here."}
        ask("POST", submit, body=urlencode(forged), headers=FORM)
        browser.give_back()


@dataclass(frozen=True)
class Fault:
    """Something that happens to a run, if the installation has the part."""

    name: str
    happens: Callable[[Run], None]
    is_possible: Callable[[Fragile], bool] = lambda _: True


def _killing(name: str) -> Fault:
    return Fault(f"kill {name}", lambda run: run.kill(name), lambda all_: name in all_.processes)


def _calls(kind: str) -> Fault:
    return Fault(kind.replace("_", " "), lambda run: run.fail_calls(kind))


FAULTS = (
    *map(_killing, ALL),
    *map(_calls, ("throttle", "fault_before", "fault_after", "delay_after")),
    Fault("kill postgresql", Run.kill_database, lambda all_: all_.whole.postgresql is not None),
    Fault("cut database", Run.cut_database, lambda all_: all_.whole.postgresql is not None),
    Fault("kill redis", Run.kill_redis, lambda all_: all_.whole.redis is not None),
    Fault("cut marketplace", lambda run: run.fragile.network.cut()),
    Fault("fill disk", Run.fill_disk, lambda all_: all_.disk.can_be_filled),
    Fault("turn the marketplace's clock", Run.turn_clock),
    Fault("repeat events", lambda run: run.fragile.queue.repeat(run.rng)),
    Fault("two more reconcilers", Run.sync_twice),
    Fault("exclude, reinstate", Run.exclude),
    Fault("forge task pages", Run.forge),
)


if __name__ == "__main__":
    main(measure, name="faults", description=__doc__, options=options)
