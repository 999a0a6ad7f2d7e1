"""The marketplace's cost of lists and of accepting, with 100 and with 20,000 HITs.

Every request passes the whole site, including signatures, sessions and database, in this process
and without a network: boto3's calls and workers' browsers call the site, and a stopwatch measures
its time.
"""

import argparse
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.awsrequest import AWSResponse
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from benchmarks.harness import Report, add_growth, both_sizes, in_turn, main, settle_down
from marketplace import queries
from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.services.hit_types import get_or_create_hit_type
from marketplace.services.links import sign_in_url
from marketplace.services.operators import get_or_create_requester

QUESTION = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<!doctype html><title>Describe</title>'
    '<form method="post" action="/mturk/externalSubmit"><textarea name="caption"></textarea>'
    "</form>]]></HTMLContent><FrameHeight>400</FrameHeight></HTMLQuestion>"
)
ANSWER = (
    '<?xml version="1.0"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>'
    "caption</QuestionIdentifier><FreeText>A dog runs on a beach.</FreeText></Answer>"
    "</QuestionFormAnswers>"
)
HOST = "127.0.0.1"
AIM = 1.2
SIZES = (100, 20_000)
PAGE = 100
ROUNDS, CALLS = 15, 5
REWARD, FEE = Decimal("0.10"), Decimal("0.02")


def measure(_options: argparse.Namespace) -> Report:
    report = Report()
    settings.ALLOWED_HOSTS = [HOST]
    with both_sizes(_set_the_scene, SIZES) as databases:
        for key, what, action in (
            ("list_hits", "ListHITs, a row", _list_hits),
            ("list_assignments", "ListAssignmentsForHIT, a row", _list_assignments),
            ("accept", "accept", _accept),
        ):
            in_turn(list(databases), _anywhere(action), rounds=1)
            times = in_turn(list(databases), _anywhere(action), rounds=ROUNDS)
            add_growth(report, key, what, times, sizes=SIZES, rows="HITs", aim=AIM)
    return report


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


class Watch:
    """A stopwatch that adds up the site's time."""

    def __init__(self) -> None:
        self.total = 0.0

    def time(self, action: Callable[[], Any]) -> Any:
        began = perf_counter()
        response = action()
        self.total += perf_counter() - began
        return response

    def lap(self) -> float:
        """The seconds since the previous call."""
        total, self.total = self.total, 0.0
        return total


class Browser:
    """A worker's session."""

    def __init__(self, worker: Worker, watch: Watch) -> None:
        self.client = Client(SERVER_NAME=HOST)
        self.watch = watch
        path = urlsplit(sign_in_url(worker)).path
        assert self.client.get(path).status_code == 302

    def accept(self, hit_type: HitType) -> str:
        """Accept a HIT of the group. Returns its assignment's page."""
        path = f"/groups/{hit_type.public_id}/accept"
        response = self.watch.time(lambda: self.client.post(path))
        assert response.status_code == 303, response.content[:2000]
        return str(response.headers["Location"])


def requester_client(requester: Requester, watch: Watch) -> Any:
    """A boto3 client whose signed requests are answered by the site in this process."""
    site = Client(SERVER_NAME=HOST)

    def answer(request: Any, **_: Any) -> Any:
        headers: dict[str, Any] = {f"HTTP_{name.upper().replace('-', '_')}": _text(value)
                   for name, value in request.headers.items()}  # fmt: skip
        headers["HTTP_HOST"] = urlsplit(request.url).netloc
        content_type = headers.pop("HTTP_CONTENT_TYPE")
        response = watch.time(
            lambda: site.post("/", request.body, content_type=content_type, **headers)
        )
        answered: Any = dict(response.headers)
        return AWSResponse(request.url, response.status_code, answered, Raw(response))

    client = boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=settings.MARKETPLACE_URL,
        aws_access_key_id=requester.access_key,
        aws_secret_access_key=requester.secret_key,
    )
    client.meta.events.register("before-send.mturk", answer)
    return client


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


class Raw:
    """A response's body in the form that botocore reads."""

    def __init__(self, response: HttpResponse) -> None:
        self.content = response.content

    def stream(self, *_: Any, **__: Any) -> list[bytes]:
        return [self.content]


def make_requester(assignments: int) -> Requester:
    """A requester with money for this many assignments."""
    return get_or_create_requester(
        name="lab", balance=(REWARD + FEE) * assignments, at=timezone.now()
    )


def make_hit_type(requester: Requester) -> HitType:
    hit_type = HitType(
        requester=requester,
        title="Describe an image",
        description="Write one sentence",
        reward=REWARD,
        assignment_duration=timedelta(hours=1),
        auto_approval_delay=timedelta(days=3),
    )
    return get_or_create_hit_type(hit_type=hit_type, at=timezone.now())


def make_workers(count: int, *, name: str) -> list[Worker]:
    now = timezone.now()
    return Worker.objects.bulk_create(
        Worker(name=f"{name} {number}", country="US", created_at=now) for number in range(count)
    )


def fill(hit_type: HitType, *, hits: int, places: int) -> None:
    """Insert this many open HITs in bulk. No money is reserved for them."""
    now = timezone.now()
    Hit.objects.bulk_create(
        (
            Hit(
                hit_type=hit_type,
                requester=hit_type.requester,
                question=QUESTION,
                max_assignments=places,
                available=places,
                fee=FEE,
                expires_at=now + timedelta(days=7),
                created_at=now,
            )
            for _ in range(hits)
        ),
        batch_size=1000,
    )


def fill_hit(hit: Hit, workers: list[Worker]) -> None:
    """Insert a submitted assignment by each of these workers."""
    now = timezone.now()
    Assignment.objects.bulk_create(
        Assignment(
            hit=hit,
            worker=worker,
            status="Submitted",
            accepted_at=now,
            submitted_at=now,
            deadline=now + timedelta(hours=1),
            ended_at=now,
            auto_approval_at=now + timedelta(days=3),
            answer=ANSWER,
        )
        for worker in workers
    )
    count = len(workers)
    queries.move(hit.pk, available=-count, unreviewed=count)


if __name__ == "__main__":
    main(measure, name="marketplace", description=__doc__)
