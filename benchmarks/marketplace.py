"""The marketplace's time for an assignment, at the beginning and at the end of a campaign, and the
cost of lists and of accepting with 100 and with 20,000 HITs.

Workers with sessions take assignments through accept, the page with its frame, submit and approve.
Every request passes the whole site, including signatures, sessions and database, in this process
and without a network. `--scale` runs 1,000 workers and 16,610 assignments.
"""

import argparse
import random
from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice

from django.conf import settings

from benchmarks.harness import (
    Line,
    Report,
    in_turn,
    main,
    milliseconds,
    ratio,
    scratch_database,
    use,
)
from benchmarks.marketplace_site import (
    QUESTION,
    Browser,
    Watch,
    fill,
    fill_hit,
    make_hit_type,
    make_requester,
    make_workers,
    requester_client,
    settle_down,
)
from marketplace.models import Assignment, AssignmentStatus, Hit, HitType, Requester, Worker

# Workers and assignments: a short run, and a tenth of nocaps' 166,100 captions.
SHORT, SCALE = (50, 250), (1_000, 16_610)
PLACES, SPARE_HITS = 9, 20
# So many assignments here, then so many there.
TURN = 5
AIM = 1.2
SIZES = (100, 20_000)
PAGE = 100
ROUNDS, CALLS = 15, 5
SEED = 2019


def measure(options: argparse.Namespace) -> Report:
    workers, assignments = SCALE if options.scale or options.full else SHORT
    report = Report(figures={"workers": workers, "assignments": assignments, "sizes": list(SIZES)})
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    _compare_tenths(report, workers, assignments)
    _compare_sizes(report)
    return report


def _compare_tenths(report: Report, workers: int, assignments: int) -> None:
    """Alternate between the last tenth of one marketplace and the first tenth of an equal one. Its
    own first tenth was measured minutes ago, when the machine may have had another load."""
    tenth = assignments // 10 // TURN * TURN
    with scratch_database() as old:
        campaign = Campaign(workers, assignments)
        earlier = campaign.work(assignments - tenth)
        with scratch_database() as new:
            campaigns = {new: Campaign(workers, assignments), old: campaign}
            times = in_turn(
                [new, old], lambda database: campaigns[database].work(TURN), rounds=tenth // TURN
            )
        use(old)
        campaign.check(assignments)
    _report_tenths(report, own=[*earlier, *times[old]], first=times[new], last=times[old])


class Campaign:
    """A marketplace in the current database, with HITs for so many assignments."""

    def __init__(self, workers: int, assignments: int) -> None:
        self.watch = Watch()
        # A few more, so that the last workers find HITs that they have not done.
        hits = assignments // PLACES + SPARE_HITS
        self.client = requester_client(make_requester(hits * PLACES), self.watch)
        self.hit_type = make_hit_type(Requester.objects.get())
        for _ in range(hits):
            self.client.create_hit_with_hit_type(
                HITTypeId=self.hit_type.public_id,
                Question=QUESTION,
                LifetimeInSeconds=86_400,
                MaxAssignments=PLACES,
            )
        crowd = make_workers(workers, name="worker")
        browsers = [Browser(worker, self.watch) for worker in crowd]
        # All workers do about as many assignments, in random order.
        turns = [browsers[number % workers] for number in range(assignments)]
        random.Random(SEED).shuffle(turns)
        self.turns = iter(turns)
        settle_down()

    def work(self, count: int) -> list[float]:
        """The site's time for each of the next assignments."""
        self.watch.lap()
        times = []
        for browser in islice(self.turns, count):
            assignment_id = browser.work(browser.accept(self.hit_type))
            self.client.approve_assignment(AssignmentId=assignment_id)
            times.append(self.watch.lap())
        return times

    def check(self, assignments: int) -> None:
        """Raise AssertionError unless so many assignments were approved."""
        approved = Assignment.objects.filter(status=AssignmentStatus.APPROVED).count()
        assert approved == assignments, f"{approved} were approved"


def _report_tenths(
    report: Report, *, own: list[float], first: list[float], last: list[float]
) -> None:
    first_ms, last_ms = milliseconds(first), milliseconds(last)
    growth = ratio(last_ms, first_ms)
    whole = 1000 * sum(own) / len(own)
    report.lines += [
        Line("an assignment, on average", f"{whole:.2f} ms"),
        Line("an assignment, last tenth", f"{last_ms:.2f} ms", f"{first_ms:.2f} ms first", growth,
             AIM),
    ]  # fmt: skip
    report.figures |= {
        "assignment_ms": round(whole, 3),
        "first_tenth_ms": round(first_ms, 3),
        "last_tenth_ms": round(last_ms, 3),
        "own_first_tenth_ms": round(milliseconds(own[: len(own) // 10]), 3),
        "growth": growth,
    }


def _compare_sizes(report: Report) -> None:
    with ExitStack() as stack:
        databases = [stack.enter_context(scratch_database()) for _ in SIZES]
        for database, size in zip(databases, SIZES, strict=True):
            use(database)
            _set_the_scene(size)
        for key, what, action in (
            ("list_hits", "ListHITs, a row", _list_hits),
            ("list_assignments", "ListAssignmentsForHIT, a row", _list_assignments),
            ("accept", "accept", _accept),
        ):
            in_turn(databases, _anywhere(action), rounds=1)
            times = in_turn(databases, _anywhere(action), rounds=ROUNDS)
            small, large = (milliseconds(times[database]) for database in databases)
            growth = ratio(large, small)
            report.lines.append(
                Line(
                    what,
                    f"{large:.3f} ms with {SIZES[1]:,} HITs",
                    f"{small:.3f} ms with {SIZES[0]:,}",
                    growth,
                    AIM,
                )
            )
            report.figures[key] = {
                "small_ms": round(small, 4), "large_ms": round(large, 4), "growth": growth,
            }  # fmt: skip


def _anywhere(action: Callable[[], list[float]]) -> Callable[[str], list[float]]:
    """Run an action that does not depend on the database."""
    return lambda _database: action()


def _set_the_scene(size: int) -> None:
    """Open HITs for all workers, and one in the middle with a page of submitted assignments."""
    hit_type = make_hit_type(make_requester(0))
    fill(hit_type, hits=size, places=10 * PAGE)
    fill_hit(_middle(), make_workers(PAGE, name="done"))
    settle_down()


def _middle() -> Hit:
    return Hit.objects.order_by("pk")[Hit.objects.count() // 2]


def _list_hits() -> list[float]:
    """The time per HIT to read all pages of HITs repeatedly."""
    watch = Watch()
    client = requester_client(Requester.objects.get(), watch)
    times: list[float] = []
    following: dict[str, str] = {}
    while len(times) < CALLS:
        page = client.list_hits(MaxResults=PAGE, **following)
        seconds = watch.lap()
        if page["NumResults"]:
            times.append(seconds / page["NumResults"])
        following = {"NextToken": page["NextToken"]} if "NextToken" in page else {}
    return times


def _list_assignments() -> list[float]:
    watch = Watch()
    client = requester_client(Requester.objects.get(), watch)
    hit_id = _middle().public_id
    times = []
    for _ in range(CALLS):
        answer = client.list_assignments_for_hit(HITId=hit_id, MaxResults=PAGE)
        times.append(watch.lap() / answer["NumResults"])
    return times


def _accept() -> list[float]:
    """The time of each of some new workers' first accept."""
    watch = Watch()
    hit_type = HitType.objects.get()
    times = []
    for worker in make_workers(CALLS, name=f"newcomer after {Worker.objects.count()},"):
        browser = Browser(worker, watch)
        browser.accept(hit_type)
        times.append(watch.lap())
    return times


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scale", action="store_true", help="1,000 workers and 16,610 assignments")


if __name__ == "__main__":
    main(measure, name="marketplace", description=__doc__, options=options)
