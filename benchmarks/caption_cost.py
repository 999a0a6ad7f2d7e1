"""What one caption costs: database statements and processor time of all processes.

The requester's site, the marketplace and the reconciler run as processes, with a campaign of two
sizes. Simulated browsers accept HITs, open the task pages, post captions and submit them, over
HTTP; their own time does not count. Then the reconciler reads the submissions, judges some, pays
them, and freezes and exports a release of another, complete campaign of the same size.

Times are processor time, so other load on the machine matters little. They include PostgreSQL's
own processes, if the server runs on this machine. SQLite is measured always, and PostgreSQL if
DATABASE_URL names a server.
"""

import argparse
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urljoin

import requests
from django.db import connection

from benchmarks.caption_cost_steps import CAPTIONS, SLOTS
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.processes import (
    DATABASE,
    MARKETPLACE,
    RECONCILER,
    SITE,
    Cost,
    Processes,
    running,
    spent,
)

# Tasks of the two campaigns, and captions of each of nine workers.
SHORT, FULL = ((100, 1_000), 6), ((1_000, 10_000), 20)
WARM_UP = 2  # captions of each worker before the measurement
MOST_MILLISECONDS, MOST_OF_A_SIDE, MOST_GROWTH = 30.0, 15.0, 1.2
# A worker finds the group and previews it once per so many captions.
CAPTIONS_PER_VISIT = 25
# Share of the captions that a reviewer judges.
CHECKED = 0.1
# How often all HITs are listed during a campaign. Between lists, events name the HITs to read.
LISTS = 10
# Captions between two syncs, for the steps that do not depend on the captions.
CAPTIONS_PER_SYNC = 100
CHECKS = 10


@dataclass(frozen=True)
class Part:
    """What one caption costs in one part: statements, and milliseconds by process."""

    statements: float
    milliseconds: Mapping[str, float]

    @property
    def total_ms(self) -> float:
        return sum(self.milliseconds.values())

    def as_figures(self) -> dict[str, Any]:
        by_process = {name: round(ms, 3) for name, ms in self.milliseconds.items() if ms}
        return {
            "statements": round(self.statements, 2),
            "ms": round(self.total_ms, 3),
            "by_process": by_process,
        }


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database", choices=["sqlite", "postgresql"], help="measure this database only"
    )


def measure(options: argparse.Namespace) -> Report:
    sizes, each = FULL if options.full else SHORT
    vendors = [options.database] if options.database else sorted({"sqlite", connection.vendor})
    report = Report(figures={"sizes": list(sizes), "captions": each * SLOTS})
    for vendor in reversed(vendors):
        found = {}
        for size in sizes:
            with running(vendor) as processes:
                found[size] = Measurement(processes, size, each).take()
        _add(report, vendor, found)
    report.figures["total_ms"] = max(report.figures[each]["total_ms"] for each in vendors)
    return report


def _add(report: Report, vendor: str, found: Mapping[int, Mapping[str, Part]]) -> None:
    small, large = found.values()
    few, many = found
    for name, part in large.items():
        report.lines.append(
            Line(
                f"{vendor}: {name}",
                f"{part.statements:.2f} statements, {part.total_ms:.2f} ms",
                f"{few:,} tasks: {small[name].statements:.2f}, {small[name].total_ms:.2f} ms",
            )
        )
    totals = {size: sum(part.total_ms for part in parts.values()) for size, parts in found.items()}
    # SQLite works inside the sites' processes. PostgreSQL's time is shown apart.
    sides = {
        "marketplace": _time_of(large, MARKETPLACE),
        "requester's side": _time_of(large, SITE, RECONCILER),
    }
    total = totals[many]
    report.lines += [
        Line(f"{vendor}: {side}", f"{ms:.1f} ms", f"{MOST_OF_A_SIDE:g} ms", ms / MOST_OF_A_SIDE, 1)
        for side, ms in sides.items()
    ]
    report.lines += [
        Line(
            f"{vendor}: a caption with {many:,} tasks",
            f"{total:.1f} ms",
            f"{MOST_MILLISECONDS:g} ms",
            ratio(total, MOST_MILLISECONDS),
            1,
        ),
        Line(
            f"{vendor}: growth",
            f"{total:.1f} ms",
            f"{few:,} tasks: {totals[few]:.1f} ms",
            ratio(total, totals[few]),
            MOST_GROWTH,
        ),
    ]
    report.figures[vendor] = {
        "parts": {
            size: {name: part.as_figures() for name, part in parts.items()}
            for size, parts in found.items()
        },
        "total_ms": round(total, 2),
        "marketplace_ms": round(sides["marketplace"], 2),
        "requester_ms": round(sides["requester's side"], 2),
        "database_ms": round(_time_of(large, DATABASE), 2),
        "growth": ratio(total, totals[few]),
    }


def _time_of(parts: Mapping[str, Part], *processes: str) -> float:
    return sum(
        part.milliseconds.get(process, 0.0) for part in parts.values() for process in processes
    )


@dataclass
class Browser:
    """A worker's browser, which reads no more of a page than it needs for the next request."""

    site: str
    group: str
    http: requests.Session = field(default_factory=requests.Session)
    token: str = ""

    def __post_init__(self) -> None:
        self.http.trust_env = False

    def sign_in(self, link: str) -> None:
        self._checked(self.http.get(link))

    def browse(self) -> None:
        """Find the group in the list, and preview it."""
        self._checked(self.http.get(f"{self.site}/"))
        page = self._checked(self.http.get(f"{self.site}/groups/{self.group}/preview"))
        self.token = _found(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)

    def accept(self) -> str:
        """Accept a HIT; return the address of its frame."""
        address = f"{self.site}/groups/{self.group}/accept"
        fields = {"csrfmiddlewaretoken": self.token}
        page = self.http.post(address, fields, headers={"Referer": address})
        return unescape(_found(r'<iframe[^>]* src="([^"]+)"', self._checked(page)))

    def open(self, frame: str) -> "TaskPage":
        page = self._checked(self.http.get(frame))
        return TaskPage(
            action=urljoin(frame, _found(r'<form method="post" action="([^"]+)"', page)),
            forward_to=unescape(_found(r'data-forward-to="([^"]+)"', page)),
            assignment=_found(r'data-assignment="([^"]+)"', page),
            token=unescape(_found(r'name="token" value="([^"]+)"', page)),
            field=_found(r'name="(caption-\d+)"', page),
        )

    def post(self, page: "TaskPage", text: str) -> dict[str, str]:
        """Post the caption as the page's script does; return the fields for the marketplace."""
        fields = {"token": page.token, page.field: text}
        answer = self.http.post(page.action, fields, headers={"Accept": "application/json"})
        self._checked(answer)
        found: dict[str, str] = answer.json()["fields"]
        return found

    def submit(self, page: "TaskPage", fields: Mapping[str, str]) -> None:
        sent = {"assignmentId": page.assignment, **fields}
        self._checked(self.http.post(page.forward_to, sent))

    def _checked(self, answer: requests.Response) -> str:
        if not answer.ok:
            raise RuntimeError(f"{answer.url} answered {answer.status_code}: {answer.text[:2000]}")
        return answer.text


@dataclass(frozen=True)
class TaskPage:
    """What the browser needs of a task page."""

    action: str
    forward_to: str
    assignment: str
    token: str
    field: str


def _found(pattern: str, page: str) -> str:
    match = re.search(pattern, page)
    if match is None:
        raise RuntimeError(f"The page has no {pattern}: {page[:2000]}")
    return match[1]


class Measurement:
    """One campaign in running processes, and what its captions cost in each part."""

    def __init__(self, processes: Processes, size: int, each: int) -> None:
        self.processes = processes
        self.size, self.each = size, each
        self.parts: dict[str, Part] = {}
        self.rng = random.Random(size)

    def take(self) -> dict[str, Part]:
        """Publish the campaign, and measure all parts after a warm-up."""
        processes = self.processes
        campaign = processes.ask("prepare", images=self.size)
        self.hits = processes.fill_marketplace(
            hit_type=campaign["hit_type"],
            question=campaign["question"],
            hits=self.size * CAPTIONS // SLOTS,
            slots=SLOTS,
        )
        processes.ask("publish", hits=self.hits)
        group, site = campaign["hit_type"], processes.places.marketplace_url
        self.browsers = [Browser(site, group) for _ in range(SLOTS)]
        for browser, link in zip(self.browsers, processes.workers(SLOTS), strict=True):
            browser.sign_in(link)
        self._work(WARM_UP)
        self._sync(self.hits[:WARM_UP])
        self.parts = {}
        self._work(self.each)
        self._sync(self.hits[WARM_UP : WARM_UP + self.each])
        self._measure("release", _step(processes, "release"))
        self._measure("export", _step(processes, "export"))
        return self.parts

    def _work(self, each: int) -> None:
        browsers, captions = self.browsers, each * SLOTS

        def browse() -> int:
            for browser in browsers:
                browser.browse()
            return SLOTS * CAPTIONS_PER_VISIT

        frames: list[tuple[Browser, str]] = []
        pages: list[tuple[Browser, TaskPage]] = []
        posted: list[tuple[Browser, TaskPage, dict[str, str]]] = []

        def accept() -> int:
            frames.extend((browser, browser.accept()) for _ in range(each) for browser in browsers)
            return captions

        def open_pages() -> int:
            pages.extend((browser, browser.open(frame)) for browser, frame in frames)
            return captions

        def post() -> int:
            posted.extend(
                (browser, page, browser.post(page, self._caption())) for browser, page in pages
            )
            return captions

        def submit() -> int:
            for browser, page, fields in posted:
                browser.submit(page, fields)
            return captions

        self._measure("browse", browse)
        self._measure("accept", accept)
        self._measure("open", open_pages)
        self._measure("post", post)
        self._measure("submit", submit)

    def _sync(self, hits: list[str]) -> None:
        """Read the submissions of these HITs, judge some of them and pay them."""
        processes = self.processes
        cost, answer = spent(processes, lambda: processes.ask("ingest", hits=hits))
        captions = answer["done"]
        assert captions == len(hits) * SLOTS, answer
        whole = _part(cost, captions)
        flags = 1000 * answer["flag_seconds"] / captions
        in_flags = answer["flag_statements"] / captions
        of_others = {**whole.milliseconds, RECONCILER: whole.milliseconds[RECONCILER] - flags}
        self.parts["ingest"] = Part(whole.statements - in_flags, of_others)
        self.parts["flags"] = Part(in_flags, {RECONCILER: flags})
        self._measure("list", _step(processes, "list_all"), weight=LISTS / SLOTS)
        self._measure("check", _step(processes, "check", count=CHECKS), weight=CHECKED)
        self._measure("approve", _step(processes, "approve"))
        self._measure("rest of a sync", _step(processes, "rest"), weight=1 / CAPTIONS_PER_SYNC)

    def _measure(self, name: str, action: Callable[[], int], *, weight: float = 1.0) -> None:
        """Add a part. The action returns how often it did what is needed `weight` times for a
        caption."""
        cost, times = spent(self.processes, action)
        self.parts[name] = _part(cost, times / weight)

    def _caption(self) -> str:
        pick = self.rng.choice
        return (
            f"A {pick(COLOURS)} {pick(THINGS)} and a {pick(COLOURS)} {pick(THINGS)} stand "
            f"{pick(WHERE)} a {pick(COLOURS)} {pick(THINGS)}."
        )


COLOURS = ("red", "blue", "small", "large", "white", "old", "wooden", "green", "shiny", "dark")
THINGS = ("dog", "bus", "boat", "horse", "kite", "clock", "train", "couch", "table", "bridge")
WHERE = ("beside", "behind", "in front of", "near", "next to", "on", "under")


def _step(processes: Processes, step: str, **arguments: Any) -> Callable[[], int]:
    """An action that lets the reconciler run a step; it returns how often the step did its work."""

    def run() -> int:
        return int(processes.ask(step, **arguments)["done"])

    return run


def _part(cost: Cost, captions: float) -> Part:
    return Part(
        cost.statements / captions,
        {name: 1000 * seconds / captions for name, seconds in cost.seconds.items()},
    )


if __name__ == "__main__":
    main(measure, name="caption_cost", description=__doc__, options=options)
