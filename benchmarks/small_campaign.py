"""A campaign of a few dozen captions for `benchmarks.faults`: a crowd, reviewers, a release.

Everything that it asks of the installation may fail and is asked again, as people would do.
"""

import json
import random
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg2

from benchmarks.busy_crowd import Member, Writers, at_work
from benchmarks.fragile import IMAGES, Fragile
from benchmarks.invariants import Row
from benchmarks.lean_browser import NoAnswer, Unexpected
from benchmarks.replay_nocaps import BAD, Crowd
from benchmarks.whole_campaign import NAME
from hits.local import ProcessFailed

# A third reviewer decides if two disagree about a second opinion.
REFERENCES, THREADS, REVIEWERS = 2, 3, 3
# How long nothing may change until a run has failed. A busy machine is slow, but does not stand
# still. MOST_PATIENCE ends a run in which something changes forever.
PATIENCE, MOST_PATIENCE, DATABASE_STARTS_WITHIN = 120.0, 900.0, 60.0
STUCK_AFTER, MONEY_AFTER = 4.0, 2.5
NOTHING_LEFT = (0, 0, 0)  # missing responses, unpaid assignments and open checks
# Longer than a HIT's time limit, after which an accepted HIT is free again.
HIT_SECONDS = 90
SLOT_COST = 0.12
# Responses that the money of one addition pays.
MOST_ADDED = 3
SHARE_JUDGED_BAD, SHARE_ASKED = 0.15, 0.2
MOST_CAPTIONS = 20
FILE: dict[str, Any] = {
    "selection": NAME,
    "hit": {"minutes": 1, "reward": "0.10"},
    "review": {"share": 0.2, "first": 1, "approve_after_hours": 0},
}
# Every third campaign has texts in rounds. In the others, some images cannot be described.
ROUNDS_EVERY, QUORUM, SHARE_DARK, SHARE_SAID = 3, 2, 0.2, 0.7
CAPTIONS: dict[str, Any] = {
    "preset": "nocaps",
    "references": REFERENCES,
    "baselines": 1,
    "captions": {
        "cannot_describe": ["The image is too dark."],
        "cannot_describe_quorum": QUORUM,
    },
}
ROUNDS: dict[str, Any] = {
    "kind": "refine",
    "refine": {"rounds": REFERENCES + 1},
    "captions": {"least_words": 8},
}
WORDS = ("red", "old", "small", "wooden", "bright"), ("dog", "bus", "boat", "horse", "clock")
TEXTS = [
    f"A {look} {thing} stands on the lawn beside a {look} gate, number {n}."
    for n, (look, thing) in enumerate((a, b) for a in WORDS[0] for b in WORDS[1])
]
# The campaign, by its name.
CAMPAIGN = "(SELECT id FROM annotate_campaign WHERE slug = '{0}')"
RELEASE = "(SELECT id FROM annotate_release WHERE name = '{0}')"
OF_CAMPAIGN = f"""FROM annotate_response AS response
    JOIN annotate_task AS task ON task.id = response.task_id
    WHERE task.campaign_id = {CAMPAIGN}"""
RESPONSES = f"SELECT count(*) {OF_CAMPAIGN}"
WORKERS_OF = f"""SELECT DISTINCT worker.pseudonym FROM annotate_worker AS worker
    WHERE worker.id IN (SELECT response.worker_id {OF_CAMPAIGN}) ORDER BY worker.pseudonym"""
WORK_OF = f"""SELECT account.marketplace_id, assignment.assignment_id
    FROM hits_assignment AS assignment
    JOIN hits_workeraccount AS account ON account.id = assignment.account_id
    JOIN hits_hit AS hit ON hit.id = assignment.hit_id
    WHERE hit.campaign_id = {CAMPAIGN} ORDER BY assignment.assignment_id"""
MISSING = f"""SELECT coalesce(sum(answers_missing), 0) FROM annotate_task
    WHERE campaign_id = {CAMPAIGN} AND answers_missing > 0"""
UNPAID = f"""SELECT count(*) FROM hits_assignment AS assignment
    JOIN hits_hit AS hit ON hit.id = assignment.hit_id
    WHERE hit.campaign_id = {CAMPAIGN} AND assignment.status = 'SUBMITTED'"""
# With responses on which a second opinion is asked for before anybody has judged them.
OPEN_CHECKS = f"""SELECT count(*) FROM annotate_response AS response
    JOIN annotate_task AS task ON task.id = response.task_id
    LEFT JOIN qualcontrol_spotcheck AS spot ON spot.response_id = response.id
    LEFT JOIN qualcontrol_secondopinion AS asked
        ON asked.response_id = response.id AND asked.withdrawn_at IS NULL
    WHERE task.campaign_id = {CAMPAIGN} AND response.status = 'SUBMITTED'
    AND (spot.verdict = '' OR (spot.response_id IS NULL AND asked.response_id IS NOT NULL))"""
SLOTS = f"""SELECT coalesce(sum(available + pending), 0) FROM hits_hit
    WHERE campaign_id = {CAMPAIGN} AND status IN ('OPEN', 'EXPIRED')"""
RELEASED = f"""SELECT caption.text FROM annotate_releasedcaption AS caption
    JOIN annotate_releasedimage AS image ON image.id = caption.image_id
    WHERE image.release_id = {RELEASE} AND caption.role = 'REFERENCE'
    UNION ALL SELECT record->>'text' FROM annotate_releasedimage
    WHERE release_id = {RELEASE} AND record->>'text' IS NOT NULL"""
RELEASES = "SELECT count(*) FROM annotate_release WHERE name = '{0}'"
# Without those that are kept for 30 days because a rejection can be reverted for so long.
ALIVE = f"""SELECT count(*) FROM hits_hit AS hit
    WHERE hit.campaign_id = {CAMPAIGN} AND (hit.status IN ('PLANNED', 'OPEN')
      OR (hit.status = 'EXPIRED' AND NOT EXISTS (
          SELECT 1 FROM hits_assignment AS assignment
          WHERE assignment.hit_id = hit.id AND assignment.status = 'REJECTED')))"""
GROUP_OF = f"""SELECT hit_type_id FROM hits_hittype
    WHERE campaign_id = {CAMPAIGN} ORDER BY id DESC"""
JOBS = f"""FROM background_job AS job
    JOIN django_content_type AS about ON about.id = job.about_type_id
    WHERE job.about_id = {CAMPAIGN} AND about.model = 'campaign'"""
FAILED_JOBS = f"""SELECT job.key, job.title, job.error {JOBS} AND job.status = 'FAILED'
      AND NOT EXISTS (SELECT 1 FROM background_job AS later
                      WHERE later.about_id = job.about_id AND later.kind = job.kind
                        AND later.id > job.id)"""
# What changes while jobs and syncs go on; not the times at which they were last seen.
PROGRESS = f"""SELECT CAST(job.id AS text), job.status, job.step, job.done {JOBS}
    UNION ALL
    SELECT '', status, '', count(*) FROM hits_hit
    WHERE campaign_id = {CAMPAIGN} GROUP BY status
    ORDER BY 1, 2"""
PROBLEMS = f"SELECT subject, message FROM hits_syncproblem WHERE campaign_id = {CAMPAIGN}"
LAST_SYNC = f"""SELECT finished_at, error FROM hits_sync
    WHERE campaign_id = {CAMPAIGN} ORDER BY id DESC LIMIT 1"""
HITS = f"""SELECT hit.status, hit.slots, hit.available, hit.pending, assignment.status,
    held.cause, held.outcome FROM hits_hit AS hit
    LEFT JOIN hits_assignment AS assignment ON assignment.hit_id = hit.id
    LEFT JOIN qualcontrol_heldpayment AS held ON held.submission_id = assignment.submission_id
    WHERE hit.campaign_id = {CAMPAIGN} AND hit.status IN ('PLANNED', 'OPEN', 'EXPIRED')"""
STATE = {"failed jobs": FAILED_JOBS, "problems": PROBLEMS, "last sync": LAST_SYNC, "HITs": HITS}


@dataclass
class Patience:
    """Waits as long as something changes."""

    last: object = None
    began: float = field(default_factory=time.monotonic)
    changed_at: float = field(default_factory=time.monotonic)

    def note(self, state: object) -> bool:
        """Note what is known; return whether it has changed."""
        if state == self.last:
            return False
        self.last, self.changed_at = state, time.monotonic()
        return True

    @property
    def is_over(self) -> bool:
        now = time.monotonic()
        return now - self.changed_at > PATIENCE or now - self.began > MOST_PATIENCE

    def __str__(self) -> str:
        now = time.monotonic()
        return f"unchanged for {now - self.changed_at:.0f} s, after {now - self.began:.0f} s"


class Describers(Writers):
    """Writers who mostly say of a fifth of the images that they cannot be described."""

    def write(self, member: Member, address: str) -> str:
        is_dark = random.Random(address).random() < SHARE_DARK
        return "" if is_dark and self.rng.random() < SHARE_SAID else super().write(member, address)


@dataclass
class SmallCampaign:
    """One campaign and the people who work on it. `seen` counts what they met."""

    fragile: Fragile
    name: str
    seed: int
    seen: Counter[str] = field(default_factory=Counter)
    surprises: Counter[str] = field(default_factory=Counter)
    members: list[Member] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.whole = self.fragile.whole
        self.path = f"campaigns/{self.name}/"
        self.has_rounds = self.seed % ROUNDS_EVERY == 0

    def rows(self, sql: str) -> list[Row]:
        """The rows of a query on the site's database, which may be starting."""
        end = time.monotonic() + DATABASE_STARTS_WITHIN
        while True:
            try:
                with self.whole.site_rows() as rows:
                    return rows(sql.format(self.name))
            except (psycopg2.OperationalError, sqlite3.OperationalError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.3)

    def number(self, sql: str) -> int:
        return int(self.rows(sql)[0][0] or 0)

    def ask_to_publish(self) -> None:
        """Create the campaign, with a budget for its captions and no more, and publish it."""
        budget = IMAGES * (REFERENCES + 1) * SLOT_COST
        kind = ROUNDS if self.has_rounds else CAPTIONS
        file = {"name": self.name, "budget": f"{budget:.2f}", **FILE, **kind}
        self.whole.steadily("POST", "campaigns/", file)
        self.whole.steadily("POST", f"{self.path}publish/", {"confirmed": True})

    def wait_until_published(self) -> None:
        self._wait_for_job(lambda: bool(self.rows(GROUP_OF)), "The campaign is not published")

    def ask_for_release(self) -> None:
        self.whole.steadily("POST", f"{self.path}releases/", {"name": self.name})

    def wait_until_released(self) -> None:
        self._wait_for_job(lambda: self.number(RELEASES) == 1, "The release is not made")

    def exported(self) -> dict[str, str]:
        """The release's files in all forms, by their addresses."""
        release = self.whole.steadily("GET", f"releases/{self.name}/")
        urls = [*release["files"].values(), *release["formats"].values()]
        return {url: self.whole.answer("GET", url.partition("/api/")[2]).text for url in urls}

    def wrong_exports(self, exported: Mapping[str, str]) -> list[str]:
        """A line for each way in which the files are not the release, or name a worker."""
        [text] = [text for url, text in exported.items() if url.endswith("captions.json")]
        captions = sorted(each["caption"] for each in json.loads(text)["annotations"])
        ids = {worker for worker, _ in self.rows(WORK_OF)}
        lines = [
            f"7. {url} has the id of a worker."
            for url, text in exported.items()
            if any(worker in text for worker in ids)
        ]
        if captions != sorted(text for (text,) in self.rows(RELEASED)):
            lines.append("10. captions.json has other captions than the release.")
        return lines

    def finish(self) -> None:
        """Finish the campaign, and wait until its HITs are deleted."""
        self.whole.steadily("POST", f"{self.path}finish/")
        self._wait_for_job(lambda: self.number(ALIVE) == 0, "The HITs are not deleted")

    def _wait_for_job(self, holds: Callable[[], bool], otherwise: str) -> None:
        """Wait, and run failed jobs again, as their pages offer; raises ProcessFailed if nothing
        changes."""
        patience = Patience()
        while not holds():
            patience.note(self.rows(PROGRESS))
            if patience.is_over:
                raise ProcessFailed(f"{otherwise}: {patience}. {self.state()}")
            for key, title, _ in self.rows(FAILED_JOBS):
                self.seen["failed jobs, run again"] += 1
                self.surprises[f"The job failed: {title}"] += 1
                self.whole.steadily("POST", f"jobs/{key}/again/")
            time.sleep(0.3)

    def state(self) -> str:
        """The campaign's state, to look into a failure."""
        state = {name: self.rows(sql) for name, sql in STATE.items()}
        return f"{state}, met: {dict(self.surprises.most_common(6))}"

    @contextmanager
    def crowd(self) -> Iterator[None]:
        """Let workers and reviewers work while the block runs."""
        for browser in self.fragile.browsers:
            browser.group = str(self.rows(GROUP_OF)[0][0])
        *browsers, self.stranger = self.fragile.browsers
        self.members = [
            Member(number, browser, MOST_CAPTIONS) for number, browser in enumerate(browsers)
        ]
        writers = (Writers if self.has_rounds else Describers)({0: TEXTS}, seed=self.seed)
        crowd = Crowd(self.members, writers, seed=self.seed)
        crowd.surprises = self.surprises
        reviewers = [partial(self._review, number, crowd.is_over) for number in range(REVIEWERS)]
        with at_work([*[crowd.work] * THREADS, *reviewers], crowd.is_over):
            yield

    def _review(self, reviewer: int, is_over: threading.Event) -> None:
        """Judge what the queue shows, as one of the reviewers, until the end."""
        rng = random.Random(f"{self.seed}/{reviewer}")
        while not is_over.wait(0.5):
            try:
                self._judge_next(reviewer, rng)
                self._decide_held(reviewer, rng)
            except (NoAnswer, Unexpected) as error:
                self.surprises[f"Reviewer: {error}"[:200]] += 1

    def _judge_next(self, reviewer: int, rng: random.Random) -> None:
        checks = f"{self.path}spot-checks/"
        items: Any = self.whole.call("POST", f"{checks}next/", {"count": 3}, reviewer=reviewer)
        for item in items:
            if rng.random() < SHARE_ASKED:
                path = f"{checks}{item['key']}/second-opinion/"
                self.whole.call("POST", path, {"question": "Is it a bus?"}, reviewer=reviewer)
                self.seen["second opinions asked for"] += 1
                continue
            is_bad = rng.random() < SHARE_JUDGED_BAD
            verdict = {"verdict": "BAD", "reason": BAD} if is_bad else {"verdict": "GOOD"}
            path = f"{checks}{item['key']}/verdict/"
            self.whole.call("POST", path, verdict, reviewer=reviewer)
            self.seen[f"verdicts of reviewer {reviewer + 1}"] += 1

    def _decide_held(self, reviewer: int, rng: random.Random) -> None:
        """Pay or reject what fits no task. Two reviewers may decide at the same time."""
        held = f"{self.path}held-payments/"
        found: Any = self.whole.call("GET", f"{held}?open=true", reviewer=reviewer)
        for each in found["results"]:
            act = rng.choice(["payment", "rejection"])
            path = f"{held}{each['id']}/{act}/"
            self.whole.call("POST", path, {"reason": "Read by a person."}, reviewer=reviewer)
            self.seen[f"{act}s of held answers"] += 1

    def complete(self) -> None:
        """Wait until everything is judged and paid, and no response is missing. If nothing changes
        for a while, add money or turn the clock to the deadlines; raises ProcessFailed if that
        does not help."""
        patience, helped_at, helps_after = Patience(), time.monotonic(), STUCK_AFTER
        while (now := self._left()) != NOTHING_LEFT:
            if patience.note(now):
                helped_at, helps_after = time.monotonic(), STUCK_AFTER
            elif patience.is_over:
                words = "{} responses missing, {} submissions unpaid, {} checks open".format(*now)
                raise ProcessFailed(f"{words}: {patience}. {self.state()}")
            elif time.monotonic() - helped_at > MONEY_AFTER and self._needs_money():
                self._add_money()
                helped_at = time.monotonic()
            elif time.monotonic() - helped_at > helps_after:
                self._wait_for_deadlines()
                # On a busy machine, turning the clock too often would end all work before its
                # submission.
                helped_at, helps_after = time.monotonic(), 2 * helps_after
            time.sleep(0.3)

    @property
    def is_complete(self) -> bool:
        return self._left() == NOTHING_LEFT

    def _left(self) -> tuple[int, int, int]:
        """Missing responses, unpaid assignments and open checks."""
        return self.number(MISSING), self.number(UNPAID), self.number(OPEN_CHECKS)

    def _needs_money(self) -> bool:
        return self.number(MISSING) > 0 and self.number(SLOTS) == 0

    def _add_money(self) -> None:
        """Add what the next responses cost, and no more."""
        self.seen["budget used up, money added"] += 1
        amount = {"amount": f"{min(MOST_ADDED, self.number(MISSING)) * SLOT_COST:.2f}"}
        self.whole.steadily("POST", f"{self.path}budget/", amount)

    def _wait_for_deadlines(self) -> None:
        for member in self.members:
            member.left = MOST_CAPTIONS
        self.seen["waits for deadlines"] += 1
        self.fragile.turn_clock(HIT_SECONDS)
