"""Every page and list of the API that shows a campaign, as signed-in people open it: the time and
the number of queries, with 1,000 tasks and with 100,000, each with ten captions and all that goes
with them. The pages come from the URL list. A page should take at most 300 ms.

`--tasks` sets other sizes, `--only WORD` times the pages whose names contain the word, and
`--plans` prints the slowest query of each slow page and its plan.
"""

import argparse
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Response, ResponseStatus
from benchmarks.full_campaign import FLAG, FullCampaign, make_full_campaign
from benchmarks.harness import Line, Report, main, milliseconds, ratio, scratch_database
from qualcontrol.models import SpotCheck, Verdict
from qualcontrol.queries.finding import STATUSES
from tests.routes import ROUTES, address_of

SIZES = [1_000, 100_000]
AIM_MS = 300
ROUNDS = 3
NAME = "full"
CLASS = "class 17"
# Pages and lists without the campaign's name in their address.
LISTS = (
    "api-campaign-list",
    "api-image-list",
    "api-job-list",
    "api-selection-list",
    "hits:campaigns",
    "images:images",
    "images:selections",
    "jobs:jobs",
)
# Routes that change something or show no campaign, and rows that this campaign does not have.
LEFT_OUT = {
    "hits:task",  # measured by `benchmarks.pages`
    "api-webhook-detail",
    "hits:statement",  # a file
    "webhooks:webhook",
}


@dataclass(frozen=True)
class Page:
    """How long a page takes, in milliseconds."""

    ms: float
    queries: int
    slowest: dict[str, str]


def addresses(full: FullCampaign) -> dict[str, str]:
    """The address of each page and list that shows the campaign, by route and filters."""
    campaign = full.campaign
    good = SpotCheck.objects.of(campaign).filter(verdict=Verdict.GOOD, response__gold=None)
    excluded = campaign.exclusions.in_force().values("worker")
    check = good.exclude(response__worker__in=excluded).order_by("pk")[:1].get()
    response = check.response
    slug, worker = campaign.slug, response.worker.pseudonym
    discarded = Response.objects.of(campaign).filter(status=ResponseStatus.DISCARDED)[:1].get()
    held = campaign.held_payments.order_by("pk")[:1].get()
    names: dict[str, Any] = {
        "slug": slug,
        "number": response.task.number,
        "pseudonym": worker,
        "act": "pause",
        "key": response.key,
        "qualcontrol:response.pk": response.pk,
        "hits:reject.pk": discarded.pk,
        "hits:pay_held.pk": held.pk,
        "hits:reject_held.pk": held.pk,
        "pk": 0,  # of addresses that only take a POST
    }
    of_campaign = [route for route, arguments in ROUTES.items() if "slug" in arguments]
    chosen = [route for route in (*LISTS, *of_campaign) if route not in LEFT_OUT]
    found = {route: address_of(route, names) for route in chosen}
    return {
        f"{route}{query}".replace(worker, "W"): f"{address}{query}"
        for route, address in found.items()
        for query in _queries(route, worker)
    }


def _queries(route: str, worker: str) -> list[str]:
    """The page without and with filters."""
    words = ["?words=onions", "?words=12345", "?words=nothing"]
    statuses = [f"?status={status}" for status in STATUSES]
    together = f"?words=umbrellas&class={CLASS}&worker={worker}&status=good&flag={FLAG}"
    states = ("active", "waiting", "paused", "proposed", "excluded")
    filters = {
        "hits:responses": [
            *words,
            *statuses,
            f"?class={CLASS}",
            f"?worker={worker}",
            f"?flag={FLAG}",
            "?flag=any",
            f"?words=umbrellas&class={CLASS}",
            f"?words=onions&worker={worker}",
            f"?flag={FLAG}&status=bad",
            f"?class={CLASS}&worker={worker}",
            f"?class={CLASS}&status=discarded",
            together,
        ],
        "hits:images": [
            "?image=full-99",
            f"?class={CLASS}",
            *(f"?state={state}" for state in ("complete", "incomplete", "empty", "discarded")),
            f"?class={CLASS}&state=discarded",
        ],
        "hits:selected_workers": [
            f"?act={act}&worker={worker}" for act in ("exclude", "reinstate", "bonus", "message")
        ],
        "qualcontrol:workers": [
            f"?worker={worker}",
            *(f"?state={state}" for state in states),
            "?judged=no",
            *(f"?sort={order}" for order in ("answers", "good", "bad", "share", "worker")),
        ],
        "qualcontrol:decisions": [
            "?act=DISCARD",
            "?act=REJECT",
            f"?worker={worker}",
            "?actor=campaign",
            "?reason=risk",
            "?reason=nothing",
            "?since=2026-01-01&until=2026-02-01",
        ],
    }
    plain = [] if route == "hits:selected_workers" else [""]
    return [*plain, *filters.get(route, [])]


def time_page(client: Client, address: str) -> Page | None:
    """Open a page some times; None if the address shows no page."""
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
        # The next request empties the connection's log.
        queries = list(captured.captured_queries)
    if answer.status_code == 405 or "attachment" in answer.get("Content-Disposition", ""):
        return None
    assert answer.status_code in {200, 204, 302, 409}, (address, answer.status_code)
    times = []
    for _ in range(ROUNDS):
        began = perf_counter()
        answer = client.get(address)
        assert answer.getvalue() is not None
        times.append(perf_counter() - began)
    slowest = max(queries, key=lambda query: float(query["time"]), default={"sql": "", "time": "0"})
    return Page(milliseconds(times), len(queries), slowest)


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
        with scratch_database():
            full = make_full_campaign(name=NAME, tasks=tasks)
            sizes[tasks] = time_pages(full, only=options.only, plans=options.plans)
    small, large = min(sizes), max(sizes)
    for name, page in sorted(sizes[large].items(), key=lambda each: -each[1].ms):
        before = sizes[small].get(name, page)
        report.lines.append(
            Line(
                name,
                f"{page.ms:.0f} ms, {page.queries} queries with {large:,} tasks",
                f"{before.ms:.0f} ms, {before.queries} with {small:,}",
                ratio(page.ms, AIM_MS),
                1,
            )
        )
    report.figures["sizes"] = list(options.tasks)
    report.figures["pages"] = {
        str(tasks): {name: {"ms": page.ms, "queries": page.queries} for name, page in each.items()}
        for tasks, each in sizes.items()
    }
    return report


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=int, nargs="+", default=SIZES, help="sizes to compare")
    parser.add_argument("--only", default="", help="pages whose names contain this")
    parser.add_argument("--plans", action="store_true", help="plans of the slowest queries")


if __name__ == "__main__":
    main(measure, name="dashboard", description=__doc__, options=_options)
