"""The marketplace without a network: boto3 calls and workers' browsers call the site in this
process, and a stopwatch measures the site's time."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.awsrequest import AWSResponse
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from marketplace.models import Assignment, Hit, HitType, Requester, Worker
from marketplace.pages.sign_in import sign_in_url
from marketplace.services.hits import HitTypeProperties, get_or_create_hit_type
from marketplace.services.workers import get_or_create_requester

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
REWARD, FEE = Decimal("0.10"), Decimal("0.02")


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

    def work(self, page: str) -> str:
        """Open the assignment's page and frame, and submit. Returns the assignment's id."""
        found = self.watch.time(lambda: self.client.get(page))
        frame = re.search(r'<iframe[^>]* src="([^"]+)"', found.content.decode())
        assert frame, found.content[:2000]
        address = frame[1].replace("&amp;", "&")
        assert self.watch.time(lambda: self.client.get(address)).status_code == 200
        return self.submit(page)

    def submit(self, page: str) -> str:
        """Submit without opening the page. Returns the assignment's id."""
        assignment_id = page.rsplit("/", 1)[1]
        answers = {"assignmentId": assignment_id, "caption": "A dog runs on a beach."}
        done = self.watch.time(lambda: self.client.post("/mturk/externalSubmit", answers))
        assert done.status_code == 200, done.content[:2000]
        return assignment_id


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
    """A requester with money for so many assignments."""
    return get_or_create_requester(
        name="lab", balance=(REWARD + FEE) * assignments, at=timezone.now()
    )


def make_hit_type(requester: Requester) -> HitType:
    properties = HitTypeProperties(
        title="Describe an image",
        description="Write one sentence",
        reward=REWARD,
        assignment_duration=timedelta(hours=1),
        auto_approval_delay=timedelta(days=3),
    )
    return get_or_create_hit_type(requester=requester, properties=properties, at=timezone.now())


def make_workers(count: int, *, name: str) -> list[Worker]:
    now = timezone.now()
    return Worker.objects.bulk_create(
        Worker(name=f"{name} {number}", country="US", created_at=now) for number in range(count)
    )


def fill(hit_type: HitType, *, hits: int, places: int) -> None:
    """Insert so many open HITs in bulk. No money is reserved for them."""
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
                expires_at=now + timedelta(days=1),
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
    Hit.objects.filter(pk=hit.pk).move(at=now, available=-count, unreviewed=count)


def settle_down() -> None:
    """Run ANALYZE on PostgreSQL, instead of waiting for autovacuum."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
