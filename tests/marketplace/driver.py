"""Use a marketplace like its users: requesters with boto3, workers with forms over HTTP.

Actions that users cannot do, such as creating accounts or moving the clock, use the server's test
hooks. If the server has none, tests that need them are skipped.
"""

import itertools
import os
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
import requests
from botocore.config import Config
from bs4 import BeautifulSoup

QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>https://example.org/task</ExternalURL>'
    "<FrameHeight>600</FrameHeight></ExternalQuestion>"
)
HIT_TYPE: dict[str, Any] = {
    "Title": "Describe an image",
    "Description": "Write one sentence",
    "Reward": "0.10",
    "AssignmentDurationInSeconds": 600,
}


class Worker:
    """A worker with a browser."""

    def __init__(self, url: str, worker_id: str, sign_in_url: str) -> None:
        self.url = url
        self.worker_id = worker_id
        self.session = requests.Session()
        # The list of HITs, to which the link leads, is not needed.
        self.session.get(sign_in_url, allow_redirects=False).raise_for_status()

    def get(self, path: str) -> requests.Response:
        return self.session.get(self.url + path)

    def post(self, path: str, **fields: str) -> requests.Response:
        token = self.session.cookies.get("marketplace_csrf") or self._token()
        return self.session.post(
            self.url + path,
            data={"csrfmiddlewaretoken": token, **fields},
            allow_redirects=False,
        )

    def _token(self) -> str:
        page = BeautifulSoup(self.get("/").text, "lxml")
        return page.find("input", {"name": "csrfmiddlewaretoken"})["value"]

    def sees(self, hit_type_id: str) -> bool:
        """Whether the list of HITs contains the group."""
        return hit_type_id in self.get("/").text

    def try_accept(self, hit_type_id: str) -> requests.Response:
        return self.post(f"/groups/{hit_type_id}/accept")

    def accept(self, hit_type_id: str) -> str:
        """Accept a HIT of the group; return the assignment's id."""
        response = self.try_accept(hit_type_id)
        assert response.status_code == 303, response.text
        return response.headers["Location"].rsplit("/", 1)[1]

    def try_submit(self, assignment_id: str, **fields: Any) -> requests.Response:
        answers = fields or {"caption": "A dog."}
        return self.session.post(
            f"{self.url}/mturk/externalSubmit", data={"assignmentId": assignment_id, **answers}
        )

    def submit(self, assignment_id: str, **fields: Any) -> None:
        response = self.try_submit(assignment_id, **fields)
        assert response.status_code == 200, response.text

    def give_back(self, assignment_id: str) -> None:
        assert self.post(f"/assignments/{assignment_id}/return").status_code == 303

    def work(self, hit_type_id: str) -> str:
        """Accept and submit a HIT of the group; return the assignment's id."""
        assignment_id = self.accept(hit_type_id)
        self.submit(assignment_id)
        return assignment_id

    def frame(self, path: str) -> Any:
        """The URL of the task's frame on a page."""
        return BeautifulSoup(self.get(path).text, "lxml").find("iframe")


class Marketplace:
    """A marketplace at a URL, with a clock that can be set."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.numbers = itertools.count(1)
        # Names of this test's own, so that it is alone also on a server that others use.
        self.run = uuid.uuid4().hex[:12]

    def hook(self, path: str, **body: Any) -> dict[str, Any]:
        """Call a test hook; skip the test if the server has none."""
        response = requests.post(f"{self.url}/test/{path}", json=body)
        if response.status_code == 404 and os.environ.get("CONFORMANCE_URL"):
            pytest.skip(f"Needs the test hooks (/test/{path}), which {self.url} does not have.")
        assert response.status_code == 200, response.text
        return response.json()

    def keys(self, name: str = "lab", balance: str | None = None) -> dict[str, str]:
        """Keys of a requester of this test; without hooks, those in the environment."""
        if is_foreign() and name == "lab" and balance is None and "AWS_ACCESS_KEY_ID" in os.environ:
            return {
                "access_key": os.environ["AWS_ACCESS_KEY_ID"],
                "secret_key": os.environ["AWS_SECRET_ACCESS_KEY"],
            }
        made = self.hook("requesters", name=f"{name} {self.run}", balance=balance)
        return {"access_key": made["access_key"], "secret_key": made["secret_key"]}

    def requester(self, name: str = "lab", balance: str | None = None, **options: Any) -> Any:
        """A boto3 client of the requester with this name."""
        keys = self.keys(name, balance)
        return self.client(keys["access_key"], keys["secret_key"], **options)

    def client(self, access_key: str, secret_key: str, **options: Any) -> Any:
        return boto3.client(
            "mturk",
            region_name="us-east-1",
            endpoint_url=self.url,
            aws_access_key_id=access_key,
            aws_secret_access_key=secret_key,
            config=Config(**options),
        )

    def _make_worker(self, **profile: Any) -> dict[str, Any]:
        return self.hook("workers", name=f"worker {next(self.numbers)} {self.run}", **profile)

    def sign_in_link(self) -> str:
        """A link that signs a new worker in."""
        return self._make_worker()["sign_in_url"]

    def worker(self, **profile: Any) -> Worker:
        """A new worker, signed in."""
        made = self._make_worker(**profile)
        return Worker(self.url, made["worker_id"], made["sign_in_url"])

    def at_work(self, hit_type_id: str) -> tuple[Worker, str]:
        """A new worker, and the id of the assignment of this group that they have accepted."""
        worker = self.worker()
        return worker, worker.accept(hit_type_id)

    def advance(self, **time: float) -> None:
        """Advance the marketplace's clock."""
        self.hook("clock", advance_seconds=timedelta(**time).total_seconds())

    def now(self) -> datetime:
        """The time of the marketplace's clock."""
        return datetime.fromtimestamp(self.hook("clock", advance_seconds=0)["now"], UTC)

    def choose(self, **choices: Any) -> None:
        """Change settings of the marketplace's behaviour until the end of the test."""
        self.hook("settings", **choices)

    def put_right(self) -> None:
        """Undo the changes that a test made with hooks, if the server has hooks."""
        for path, body in (("clock", "reset"), ("settings", "reset"), ("faults", "clear")):
            requests.post(f"{self.url}/test/{path}", json={body: True})


def is_foreign() -> bool:
    """Whether the server under test is not one of this process."""
    return "CONFORMANCE_URL" in os.environ


def create_hit_type(client: Any, **changes: Any) -> str:
    return client.create_hit_type(**{**HIT_TYPE, **changes})["HITTypeId"]


def create_hit(client: Any, hit_type_id: str, **changes: Any) -> dict[str, Any]:
    request = {"LifetimeInSeconds": 3600, "Question": QUESTION, **changes}
    return client.create_hit_with_hit_type(HITTypeId=hit_type_id, **request)["HIT"]


def new_hit(client: Any, **changes: Any) -> tuple[str, str]:
    """The ids of a HIT type and of a HIT of it with these changes."""
    hit_type_id = create_hit_type(client)
    return hit_type_id, create_hit(client, hit_type_id, **changes)["HITId"]


def hits_of(client: Any, hit_type_id: str) -> list[str]:
    """The ids of the type's HITs, even if the requester has many others."""
    pages = client.get_paginator("list_hits").paginate()
    listed = [hit for page in pages for hit in page["HITs"]]
    return [hit["HITId"] for hit in listed if hit["HITTypeId"] == hit_type_id]


def counts(client: Any, hit_id: str) -> tuple[str, int, int, int]:
    """A HIT's status, and the numbers of available, pending and completed assignments."""
    hit = client.get_hit(HITId=hit_id)["HIT"]
    return (
        hit["HITStatus"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsCompleted"],
    )


def error_code(error: Any) -> str:
    """The TurkErrorCode of a boto3 exception, without its prefix."""
    return error.value.response["TurkErrorCode"].removeprefix("AWS.MechanicalTurk.")
