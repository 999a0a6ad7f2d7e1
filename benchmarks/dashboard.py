"""Every page and list of the API that shows a campaign, as signed-in people open it: the time and
the number of queries, with 1,000 tasks and with 100,000, each with ten captions and all that goes
with them. The pages come from the URL list. A page should take at most 300 ms.

The time is the processor time of this process and of the database's, which other work on the
machine does not change. The database uses one process for a query. Elapsed time is printed, too,
and decides if the database runs on another machine.

`--tasks` sets other sizes, `--only WORD` times the pages whose names contain the word, and
`--plans` prints the slowest query of each slow page and its plan. `--keep NAME` keeps the
databases, as NAME_1000 and NAME_100000, and uses them if they exist.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.dashboard_addresses import addresses
from benchmarks.full_campaign import FullCampaign, find_full_campaign, make_full_campaign
from benchmarks.harness import (
    Line,
    Report,
    kept_database,
    main,
    milliseconds,
    ratio,
    scratch_database,
)

SIZES = [1_000, 100_000]
AIM_MS = 300
ROUNDS = 3
NAME = "full"


@dataclass(frozen=True)
class Page:
    """How long a page takes, in milliseconds: elapsed, and of the processor if it is known."""

    elapsed: float
    processor: float | None
    queries: int
    slowest: dict[str, str]

    @property
    def ms(self) -> float:
        return self.elapsed if self.processor is None else self.processor


def processor_seconds() -> float | None:
    """The processor time of this process and of its database connection so far; None if the
    database is not on this machine."""
    if connection.vendor == "sqlite":
        return process_time()
    with connection.cursor() as cursor:
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    try:
        # The first number is the time on a processor, in nanoseconds.
        nanoseconds = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    except (OSError, ValueError):
        return None
    return process_time() + nanoseconds / 1e9


def time_page(client: Client, address: str) -> Page | None:
    """Open a page some times; None if the address shows no page."""
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
        # The next request empties the connection's log.
        queries = list(captured.captured_queries)
    if answer.status_code == 405 or "attachment" in answer.get("Content-Disposition", ""):
        return None
    assert answer.status_code in {200, 204, 302, 409}, (address, answer.status_code)
    elapsed, used = [], []
    for _ in range(ROUNDS):
        before, began = processor_seconds(), perf_counter()
        answer = client.get(address)
        assert answer.getvalue() is not None
        elapsed.append(perf_counter() - began)
        if before is not None and (after := processor_seconds()) is not None:
            used.append(after - before)
    slowest = max(queries, key=lambda query: float(query["time"]), default={"sql": "", "time": "0"})
    processor = milliseconds(used) if used else None
    return Page(milliseconds(elapsed), processor, len(queries), slowest)


def plan_of(sql: str) -> str:
    """The plan of a query with its times."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {sql}")
        return "\n".join(row[0] for row in cursor.fetchall())


def signed_in(full: FullCampaign) -> Client:
    client = Client(headers={"host": settings.ALLOWED_HOSTS[0]})
    client.force_login(full.user)
    return client


def time_pages(full: FullCampaign, *, only: str = "", plans: bool = False) -> dict[str, Page]:
    """Every page and list that shows the campaign, by route and filters."""
    client, found = signed_in(full), {}
    for name, address in addresses(full).items():
        if only in name and (page := time_page(client, address)):
            found[name] = page
            if plans and page.ms > AIM_MS:
                print(f"{name}: {page.ms:.0f} ms\n{page.slowest['sql']}", flush=True)
                print(plan_of(page.slowest["sql"]), flush=True)
    return found


def measure(options: argparse.Namespace) -> Report:
    report = Report()
    sizes: dict[int, dict[str, Page]] = {}
    for tasks in options.tasks:
        kept = options.keep and f"{options.keep}_{tasks}"
        with kept_database(kept) if kept else scratch_database():
            full = find_full_campaign(NAME) or make_full_campaign(name=NAME, tasks=tasks)
            sizes[tasks] = time_pages(full, only=options.only, plans=options.plans)
    small, large = min(sizes), max(sizes)
    for name, page in sorted(sizes[large].items(), key=lambda each: -each[1].ms):
        before = sizes[small].get(name, page)
        report.lines.append(
            Line(
                name,
                f"{page.ms:.0f} ms ({page.elapsed:.0f} elapsed), {page.queries} queries",
                f"{before.ms:.0f} ms, {before.queries}, with {small:,} tasks",
                ratio(page.ms, AIM_MS),
                1,
            )
        )
    report.figures["sizes"] = list(options.tasks)
    report.figures["pages"] = {
        str(tasks): {
            name: {"ms": page.ms, "elapsed_ms": page.elapsed, "queries": page.queries}
            for name, page in each.items()
        }
        for tasks, each in sizes.items()
    }
    return report


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=int, nargs="+", default=SIZES, help="sizes to compare")
    parser.add_argument("--only", default="", help="pages whose names contain this")
    parser.add_argument("--keep", default="", help="keep the databases, under this name")
    parser.add_argument("--plans", action="store_true", help="plans of the slowest queries")


if __name__ == "__main__":
    main(measure, name="dashboard", description=__doc__, options=_options)
