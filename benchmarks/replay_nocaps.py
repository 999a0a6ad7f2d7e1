"""nocaps' whole campaign, replayed: 15,100 images, 166,100 captions, 727 workers, 8% careless.

Both sites and two Celery workers run as processes on their own PostgreSQL server; with `--sqlite`
the reconciler takes the workers' place. Simulated browsers find HITs, open the task pages, write
real captions and submit them, over HTTP. A scripted reviewer judges by the API: suspicious captions
from the queue, then the required checks. The policy excludes workers, their captions are replaced,
everybody is paid, and a release is made and exported. At the end, every invariant is checked by SQL
that does not use the product's code.

The captions are the real ones of nocaps' validation set, repeated under new images, which have
rows and no files. `--scale` runs a part of the size.
"""

import argparse
import json
import random
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.busy_crowd import Member, Writers, at_work, make_members
from benchmarks.crowds import read_captions
from benchmarks.fleet import Usage
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.lean_browser import NoAnswer, NothingLeft, NotOffered, Unexpected
from benchmarks.whole_campaign import NAME, POSTGRESQL, Whole, installed, run_measured
from hits.local import REQUESTER, ProcessFailed

IMAGES, WANTED, WORKERS = 15_100, 11, 727
SCALE, FULL_SCALE = 0.01, 1.0
# A worker meets an image once, so a small part needs more workers than its share.
LEAST_WORKERS = 40
MOST_MINUTES, MOST_GROWTH = 90.0, 1.2
THREADS = 6
CAPTIONS_PER_VISIT = 25
# The reviewer turns to other work after this many good captions in a row, and comes back after the
# crowd has written this share of all, or this many captions.
GOOD_IN_A_ROW, REVIEWS, MOST_BETWEEN_REVIEWS = 12, 40, 1000
CHECKS_AT_ONCE = 10
UNPROCESSABLE = 422
# Of a worker who was offered nothing, in seconds.
PAUSE = 1.0
BAD = "It does not describe this image."
SECTIONS = """
[workers]
who = "nocaps"
[review]
share = 0.02
approve_after_hours = 0
"""
PILOT = """
[priming]
by = "response"
share = 0.5
"""
NEXT_SPOILED = """SELECT response.id, image.url, caption.text FROM qualcontrol_spotcheck AS spot
    JOIN annotate_response AS response ON response.id = spot.response_id
    JOIN annotate_caption AS caption ON caption.response_id = response.id
    JOIN annotate_task AS task ON task.id = response.task_id
    JOIN annotate_image AS image ON image.id = task.image_id
    WHERE spot.verdict = '' AND response.status = 'SUBMITTED'"""
KEPT = """SELECT image.url, caption.text FROM annotate_releasedcaption AS caption
    JOIN annotate_releasedimage AS released ON released.id = caption.image_id
    JOIN annotate_task AS task ON task.id = released.task_id
    JOIN annotate_image AS image ON image.id = task.image_id"""
# Without tasks that have more answers than wanted, whose number is negative.
MISSING = """SELECT coalesce(sum(answers_missing), 0) FROM annotate_task
    WHERE answers_missing > 0"""
SUBMITTED = "SELECT count(*) FROM annotate_response"
KEPT_NOW = "SELECT count(*) FROM annotate_response WHERE status = 'SUBMITTED'"
UNPAID = "SELECT count(*) FROM hits_assignment WHERE status = 'SUBMITTED'"
PAID = """SELECT sum(hit.reward + hit.fee) FROM hits_assignment AS assignment
    JOIN hits_hit AS hit ON hit.id = assignment.hit_id WHERE assignment.status = 'APPROVED'"""
EXCLUDED = "SELECT count(*) FROM qualcontrol_exclusion WHERE lifted_at IS NULL"
CALLS = "SELECT sum(api_calls) FROM hits_sync"
JUDGED = "SELECT count(*) FROM qualcontrol_spotcheck WHERE verdict <> ''"
TO_JUDGE = f"SELECT count(*) FROM ({NEXT_SPOILED}) AS found"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", type=float, help=f"share of the whole (default: {SCALE})")
    parser.add_argument("--sqlite", action="store_true", help="SQLite in place of PostgreSQL")
    parser.add_argument("--seed", type=int, default=1, help="seed of the crowd (default: 1)")
    parser.add_argument(
        "--pilot", action="store_true", help="half of each image's captions without keywords"
    )
    parser.add_argument("--keep", type=Path, help="new folder for the release's files and report")


def measure(chosen: argparse.Namespace) -> Report:
    scale = chosen.scale or (FULL_SCALE if chosen.full else SCALE)
    if chosen.keep:
        chosen.keep.mkdir()  # before the hours of the run, if it exists already
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        Path(folder).chmod(0o755)
        with installed(
            Path(folder),
            on_sqlite=chosen.sqlite,
            has_redis=not chosen.sqlite,
            settings={"MTURK_LIST_SECONDS": "120"},
        ) as whole:
            sections = SECTIONS + (PILOT if chosen.pilot else "")
            report = Replay(whole, scale, chosen.seed, sections).run()
            if chosen.keep:
                shutil.copytree(whole.places.folder / "export", chosen.keep, dirs_exist_ok=True)
                whole.manage("report", NAME, "--out", str(chosen.keep / "report"))
            return report


class Crowd:
    """Lets the members work in threads until there is nothing left to do."""

    def __init__(self, members: list[Member], writers: Writers, *, seed: int) -> None:
        self.members, self.writers = members, writers
        self.rng = random.Random(f"{seed}/turns")
        self.is_over = threading.Event()
        self.surprises: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._busy: set[int] = set()

    def work(self) -> None:
        """Work in this thread until `is_over` is set."""
        while not self.is_over.is_set():
            member = self._next()
            try:
                comes_back = self._visit(member)
            except (NoAnswer, Unexpected) as error:
                comes_back = False
                self._note(error)
            with self._lock:
                self._busy.discard(member.number)
                if member.left <= 0:
                    member.left = CAPTIONS_PER_VISIT  # Others' captions may have to be replaced.
            if not comes_back:
                self.is_over.wait(PAUSE)

    def _next(self) -> Member:
        """A member who is not at work; those with much left come more often."""
        with self._lock:
            free = [member for member in self.members if member.number not in self._busy]
            member = self.rng.choices(free, [member.left for member in free])[0]
            self._busy.add(member.number)
            return member

    def _visit(self, member: Member) -> bool:
        """A member's visit; returns whether there was work."""
        done = 0
        with suppress(NotOffered):
            member.browser.browse()
            while done < min(CAPTIONS_PER_VISIT, member.left) and not self.is_over.is_set():
                frame = member.browser.accept()
                try:
                    self._caption(member, frame)
                except (NothingLeft, NoAnswer, Unexpected) as error:
                    self._note(error)
                    # Otherwise the HIT would wait for its deadline.
                    member.browser.give_back()
                    break
                done += 1
        with self._lock:
            member.left -= done
        return done > 0

    def _caption(self, member: Member, frame: str) -> None:
        page = member.browser.open(frame)
        text = self.writers.write(member, page.image)
        try:
            member.browser.send(page, text)
        except Unexpected as error:
            if error.status != UNPROCESSABLE:
                raise
            # The page names what to correct; the worker writes a good caption then.
            member.browser.send(page, self.writers.write_well(page.image))

    def _note(self, error: Exception) -> None:
        if not isinstance(error, NothingLeft):
            with self._lock:
                self.surprises[str(error)[:200]] += 1


@dataclass
class Replay:
    """One replay in an installation, and its figures."""

    whole: Whole
    scale: float
    seed: int
    sections: str
    parts: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.images = max(20, round(IMAGES * self.scale))
        self.wanted = self.images * WANTED
        self.workers = max(LEAST_WORKERS, round(WORKERS * self.scale))
        self.writers = Writers(read_captions("nocaps"), seed=self.seed)
        # The memory of each process whenever a share of the captions is there.
        self.memory: list[tuple[float, dict[str, float]]] = []

    def run(self) -> Report:
        began = time.monotonic()
        self._timed("create and publish", self._publish)
        self._timed("sign in", self._sign_in)
        crowd_seconds = time.process_time()
        self._timed("write, review and pay", self._collect)
        crowd_seconds = time.process_time() - crowd_seconds
        self._timed("judge the rest, pay", self._finish)
        self._timed("release", lambda: self._command("release", NAME, "--name", NAME))
        exported = str(self.whole.places.folder / "export")
        self._timed("export", lambda: self._command("export_captions", NAME, "--out", exported))
        seconds = time.monotonic() - began
        broken: list[str] = []
        self._timed("check the invariants", lambda: broken.extend(self.whole.broken()))
        return self._report(seconds, crowd_seconds, broken)

    def _timed(self, name: str, action: Callable[[], Any]) -> None:
        began = time.monotonic()
        action()
        self.parts[name] = round(time.monotonic() - began, 1)

    def _command(self, name: str, *arguments: str) -> None:
        run_measured(self.whole, name, [name, *arguments])

    def _publish(self) -> None:
        # Two fifths more than the captions cost, for those that are replaced.
        budget = f"{self.wanted * 0.12 * 1.4 + 5:.2f}"
        self.whole.manage("marketplace_requester", REQUESTER, "--balance", budget)
        self.whole.prepare_images(self.images)
        self.whole.create_campaign(NAME, budget=budget, sections=self.sections)
        self.whole.make_reviewers("reviewer")
        self._command("publish", NAME)

    def _sign_in(self) -> None:
        browsers = self.whole.browsers(self.workers)
        members = make_members(browsers, captions=self.wanted, images=self.images, seed=self.seed)
        self.crowd = Crowd(members, self.writers, seed=self.seed)
        self._start_syncing()

    def _start_syncing(self) -> None:
        for name in self.whole.syncing:
            self.whole.fleet.start(name)

    def _collect(self) -> None:
        """Let the crowd work and the reviewer judge until no caption is missing."""
        reviewed_at, limit = 0.0, time.monotonic() + 600 + 24 * 3600 * self.scale
        between_reviews = min(1 / REVIEWS, MOST_BETWEEN_REVIEWS / self.wanted)
        loops = [self.crowd.work] * THREADS
        with at_work(loops, self.crowd.is_over), self.whole.site_rows() as rows:
            while (missing := int(rows(MISSING)[0][0])) > 0:
                share = 1 - missing / self.wanted
                self._sample(share)
                if share - reviewed_at >= between_reviews or missing < WANTED:
                    reviewed_at = share
                    self._review()
                if time.monotonic() > limit:
                    raise ProcessFailed(f"{missing} missing\n{self.whole.fleet.logs()}")
                time.sleep(0.5)
        self._sample(1)

    def _sample(self, share: float) -> None:
        fleet = self.whole.fleet
        fleet.sample()
        latest = {name: usage.samples[-1] for name, usage in fleet.usage.items() if usage.samples}
        self.memory.append((share, latest))

    def _review(self) -> None:
        """Judge items of the queue until many in a row are good."""
        good = 0
        while good < GOOD_IN_A_ROW:
            path = f"campaigns/{NAME}/spot-checks/"
            items: Any = self.whole.call("POST", f"{path}next/", {"count": CHECKS_AT_ONCE})
            if not items:
                return
            for item in items:
                verdict = self._verdict(item["image_url"], item["answer"])
                good = 0 if verdict["verdict"] == "BAD" else good + 1
                # The policy may have discarded it since it was reserved.
                with suppress(Unexpected):
                    self.whole.call("POST", f"{path}{item['key']}/verdict/", verdict)

    def _verdict(self, image_url: str, text: str) -> dict[str, str]:
        is_bad = self.writers.is_bad(image_url, text)
        return {"verdict": "BAD", "reason": BAD} if is_bad else {"verdict": "GOOD"}

    def _judge_required(self) -> int:
        """Judge the required checks by the command, as from a reviewer's spreadsheet."""
        with self.whole.site_rows() as rows:
            unjudged = rows(NEXT_SPOILED)
        path = self.whole.places.folder / "verdicts.jsonl"
        lines = ({"response": key, **self._verdict(url, text)} for key, url, text in unjudged)
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
        if unjudged:
            self._command("judge", NAME, str(path), "--reviewer", "reviewer")
        return len(unjudged)

    def _finish(self) -> None:
        """Judge the required checks, and wait until everybody is paid. The crowd replaces captions
        that are discarded by the verdicts, or by a sync that excludes a worker meanwhile."""
        while True:
            judged = self._judge_required()
            if self.whole.number(MISSING):
                self.crowd.is_over.clear()
                self._collect()
            elif not judged:
                self.whole.wait_until(
                    lambda: self.whole.number(UNPAID) == 0,
                    "everybody is paid",
                    300 + 7200 * self.scale,
                )
                if self._is_at_rest():
                    return

    def _is_at_rest(self) -> bool:
        """Whether a last whole sync leaves nothing to collect or to judge. If so, there are no more
        syncs: one during the release might draw another check, which refuses it."""
        for name in self.whole.syncing:
            self.whole.fleet.kill(name)
        self.whole.manage("sync", NAME)
        if not self.whole.number(MISSING) and not self.whole.number(TO_JUDGE):
            return True
        self._start_syncing()
        return False

    def _report(self, seconds: float, crowd_seconds: float, broken: list[str]) -> Report:
        number = self.whole.number
        with self.whole.site_rows() as rows:
            kept = rows(KEPT)
        bad = sum(self.writers.is_bad(url, text) for url, text in kept)
        submitted = number(SUBMITTED)
        whole_minutes = seconds / 60 / (self.wanted / (IMAGES * WANTED))
        usage = {
            name: {
                "ms_per_caption": round(1000 * used / submitted, 2),
                "peak_mb": round(self.whole.fleet.usage.get(name, Usage()).peak_mb),
                "growth": self._growth(name),
            }
            for name, used in self._seconds().items()
        }
        figures: dict[str, Any] = {
            "scale": self.scale,
            "images": self.images,
            "workers": self.workers,
            "captions_submitted": int(submitted),
            "captions_released": len(kept),
            "seconds": round(seconds, 1),
            "whole_minutes": round(whole_minutes, 1),
            "captions_per_second": round(submitted / self.parts["write, review and pay"], 1),
            "parts": self.parts,
            "processes": usage,
            "browsers_ms_per_caption": round(1000 * crowd_seconds / submitted, 2),
            "api_calls_per_caption": round(number(CALLS) / submitted, 3),
            "dollars_per_kept_caption": round(number(PAID) / number(KEPT_NOW), 4),
            "checks": int(number(JUDGED)),
            "excluded": int(number(EXCLUDED)),
            "bad_submitted_share": round(len(self.writers.spoiled) / submitted, 4),
            "bad_left_share": round(bad / max(1, len(kept)), 4),
            "surprises": dict(self.crowd.surprises.most_common(5)),
            "broken_invariants": broken,
        }
        database = "sqlite" if self.whole.postgresql is None else POSTGRESQL
        return Report(list(_lines(figures)), figures, database)

    def _seconds(self) -> dict[str, float]:
        used = self.whole.fleet.seconds()
        if self.whole.postgresql is not None:
            used[POSTGRESQL] = self.whole.postgresql.seconds()
        return used

    def _growth(self, name: str) -> float | None:
        """The process's memory in the last tenth of the captions, compared with its memory when the
        first tenth was there; None for processes that did not run all the time."""
        early = [row[name] for share, row in self.memory if share <= 0.1 and name in row]
        late = [row[name] for share, row in self.memory if share >= 0.9 and name in row]
        return ratio(max(late), max(early)) if early and late else None


def _lines(figures: dict[str, Any]) -> list[Line]:
    bad = figures["broken_invariants"]
    whole = figures["whole_minutes"]
    lines = [
        Line(
            f"{figures['captions_released']:,} captions of {figures['images']:,} images by "
            f"{figures['workers']} workers",
            f"{figures['seconds']:.0f} s",
        ),
        Line(
            "the whole of nocaps at this rate",
            f"{whole:.0f} minutes",
            f"{MOST_MINUTES:g} minutes",
            ratio(whole, MOST_MINUTES),
            1,
        ),
        Line("captions a second, while the crowd writes", f"{figures['captions_per_second']}"),
    ]
    lines += [Line(f"to {name}", f"{taken:.1f} s") for name, taken in figures["parts"].items()]
    for name, used in figures["processes"].items():
        growth = used["growth"]
        lines.append(
            Line(
                name,
                f"{used['ms_per_caption']:.1f} ms a caption, {used['peak_mb']} MB",
                "memory after a tenth" if growth else "",
                growth,
                MOST_GROWTH if growth else None,
            )
        )
    lines += [
        Line("simulated browsers", f"{figures['browsers_ms_per_caption']:.1f} ms a caption"),
        Line("API calls", f"{figures['api_calls_per_caption']:.2f} a caption"),
        Line("a kept caption", f"${figures['dollars_per_kept_caption']:.4f}", "$0.1200"),
        Line("checks", f"{figures['checks']}", f"{figures['excluded']} workers excluded"),
        Line(
            "bad captions left",
            f"{figures['bad_left_share']:.2%}",
            f"of those written: {figures['bad_submitted_share']:.2%}",
        ),
        Line("requests that failed", f"{sum(figures['surprises'].values())}"),
        Line("broken invariants", f"{len(bad)}", "none", float(len(bad)), 0),
        *(Line(f"BROKEN: {line}", "") for line in bad),
    ]
    return lines


if __name__ == "__main__":
    main(measure, name="replay_nocaps", description=__doc__, options=options)
