"""The one place that talks to the marketplace: boto3's client, configured once, and the few calls
that we make with what their errors mean to us.

Calls are repeated by botocore on throttling, server errors and lost connections. A repeated call
may find that the first one took effect: creating calls carry a token that the database already
holds, deciding calls then learn what the decision was.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings

from annotate.errors import DomainError
from annotate.models import Campaign
from hits.endpoints import Endpoint, WrongEndpoint, endpoint_of

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

PAGE = 100
WORKER_ID = re.compile(r"\bA[A-Z0-9]{9,}\b")
ALL_STATUSES = ["Submitted", "Approved", "Rejected"]


class MarketplaceError(DomainError):
    """The marketplace refused a call, or could not be reached; `code` is its own error code."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code

    @property
    def says_gone(self) -> bool:
        """What we asked about is deleted, or was never there."""
        return "DoesNotExist" in self.code or "'Disposed'" in str(self)

    @property
    def says_wrong_state(self) -> bool:
        """What we asked for was done before, or cannot be done any more."""
        return "InvalidAssignmentState" in self.code or "InvalidHITState" in self.code

    @property
    def says_no_worker(self) -> bool:
        """There is no such worker, as may be where their work was collected elsewhere."""
        return "parameter WorkerId" in str(self) or "'workerId'" in str(self)


@lru_cache(maxsize=8)
def _boto3_client(
    url: str, access_key: str, *, attempts: int, connect_timeout: float, read_timeout: float
) -> "MTurkClient":
    """A client for this address and requester. Making one reads the whole service model, which
    takes longer than a call; clients may be shared by threads."""
    return boto3.session.Session().client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=url,
        config=Config(
            retries={"mode": "standard", "total_max_attempts": attempts},
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
        ),
    )


class Marketplace:
    """A campaign's marketplace, as far as this product uses it; every method may raise
    MarketplaceError. `calls` counts the calls made, repeats included; `after_call` is told of
    each one that was answered."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.calls = 0
        self.after_call: Callable[[], None] = lambda: None
        try:
            self._client = _boto3_client(
                endpoint.url,
                os.environ.get("AWS_ACCESS_KEY_ID", ""),
                attempts=settings.MTURK_MAX_ATTEMPTS,
                connect_timeout=settings.MTURK_CONNECT_TIMEOUT,
                read_timeout=settings.MTURK_READ_TIMEOUT,
            )
        except BotoCoreError as error:
            raise MarketplaceError(f"No client of {endpoint.url} can be made: {error}") from error

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer = getattr(self._client, operation)(**arguments)
            self.calls += 1 + answer["ResponseMetadata"].get("RetryAttempts", 0)
        except ClientError as error:
            self.calls += 1 + error.response["ResponseMetadata"].get("RetryAttempts", 0)
            told = {**error.response["Error"], **error.response}
            code = str(told.get("TurkErrorCode") or told.get("Code", ""))
            # The marketplace names the worker in some messages; ours end up in pages and logs.
            message = WORKER_ID.sub("(a worker)", str(told.get("Message", "")))
            raise MarketplaceError(
                f"The marketplace refused {operation}: {message}", code
            ) from error
        except BotoCoreError as error:
            raise MarketplaceError(
                f"The marketplace at {self.endpoint.url} did not answer {operation}: {error}"
            ) from error
        self.after_call()
        return answer

    def _pages(
        self, operation: str, key: str, *, most: int | None = None, **arguments: Any
    ) -> Iterator[dict[str, Any]]:
        """Every item of a list, page by page, until a page comes without a token; a page that
        comes back to an earlier token ends it too, or it would never end. No page is asked for
        after `most` items: the last page of a list has a token as well, to an empty one."""
        seen: set[str] = set()
        token: str | None = None
        items = 0
        while True:
            extra = {"NextToken": token} if token else {}
            page = self._call(operation, MaxResults=PAGE, **arguments, **extra)
            yield from page[key]
            items += len(page[key])
            token = page.get("NextToken")
            if not token or token in seen or (most is not None and items >= most):
                return
            seen.add(token)

    def balance(self) -> Decimal:
        return Decimal(self._call("get_account_balance")["AvailableBalance"])

    def hits(self) -> Iterator[dict[str, Any]]:
        """Every HIT of the account that was not deleted."""
        return self._pages("list_hits", "HITs")

    def assignments(self, hit_id: str, *, most: int | None = None) -> Iterator[dict[str, Any]]:
        """Every assignment of the HIT that was submitted, decided or not; `most` is how many there
        are, where that is known."""
        return self._pages(
            "list_assignments_for_hit",
            "Assignments",
            most=most,
            HITId=hit_id,
            AssignmentStatuses=ALL_STATUSES,
        )

    def assignment(self, assignment_id: str) -> dict[str, Any]:
        return self._call("get_assignment", AssignmentId=assignment_id)["Assignment"]

    def hit(self, hit_id: str) -> dict[str, Any]:
        return self._call("get_hit", HITId=hit_id)["HIT"]

    def hit_type(self, **properties: Any) -> str:
        """The id of the HIT type with these properties; the same ones give the same id."""
        return self._call("create_hit_type", **properties)["HITTypeId"]

    def create_hit(
        self, *, hit_type_id: str, seats: int, lifetime_seconds: int, question: str, token: str
    ) -> str:
        """The id of the HIT that carries this token, made now or by an earlier call."""
        try:
            return self._call(
                "create_hit_with_hit_type",
                HITTypeId=hit_type_id,
                MaxAssignments=seats,
                LifetimeInSeconds=lifetime_seconds,
                Question=question,
                RequesterAnnotation=token,
                UniqueRequestToken=token,
            )["HIT"]["HITId"]
        except MarketplaceError as error:
            named = re.search(r"HIT with ID \W?([A-Z0-9]+)", str(error))
            if "HitAlreadyExists" in error.code and named:
                return named[1]
            raise

    def send_events(
        self, *, hit_type_id: str, queue_url: str, event_types: Sequence[str], version: str
    ) -> None:
        """Have what happens to HITs of the type sent to an SQS queue."""
        self._call(
            "update_notification_settings",
            HITTypeId=hit_type_id,
            Notification={
                "Destination": queue_url,
                "Transport": "SQS",
                "Version": version,
                "EventTypes": list(event_types),
            },
            Active=True,
        )

    def stop_events(self, hit_type_id: str) -> None:
        """Have no events of the type sent any more."""
        self._call("update_notification_settings", HITTypeId=hit_type_id, Active=False)

    def expire_hit(self, hit_id: str) -> None:
        """Take the HIT from new workers; those at work may finish. Any time in the past expires it
        now; an hour ago is in the past there, too, when our clock is ahead."""
        past = datetime.now(UTC) - timedelta(hours=1)
        self._call("update_expiration_for_hit", HITId=hit_id, ExpireAt=past)

    def delete_hit(self, hit_id: str) -> None:
        """Delete a HIT whose work is decided; one that is gone already is fine."""
        try:
            self._call("delete_hit", HITId=hit_id)
        except MarketplaceError as error:
            if not error.says_gone:
                raise

    def approve(self, assignment_id: str) -> None:
        self._call("approve_assignment", AssignmentId=assignment_id)

    def reject(self, assignment_id: str, reason: str) -> None:
        self._call("reject_assignment", AssignmentId=assignment_id, RequesterFeedback=reason)

    def send_bonus(
        self, *, worker_id: str, assignment_id: str, amount: Decimal, reason: str, token: str
    ) -> None:
        """Pay a bonus once for this token, however often it is called."""
        try:
            self._call(
                "send_bonus",
                WorkerId=worker_id,
                AssignmentId=assignment_id,
                BonusAmount=str(amount),
                Reason=reason,
                UniqueRequestToken=token,
            )
        except MarketplaceError as error:
            if "idempotency" not in str(error).lower():
                raise

    def qualification_type(self, *, name: str, description: str) -> str:
        """The id of our qualification type of this name, made if there is none. A name that was
        just made may not be listed yet, so making comes first and looking second."""
        try:
            made = self._call(
                "create_qualification_type",
                Name=name,
                Description=description,
                QualificationTypeStatus="Active",
            )
            return made["QualificationType"]["QualificationTypeId"]
        except MarketplaceError as error:
            if "already created a QualificationType" not in str(error):
                raise
        found = self._pages(
            "list_qualification_types",
            "QualificationTypes",
            Query=name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        for kind in found:
            if kind["Name"] == name:
                return kind["QualificationTypeId"]
        raise MarketplaceError(
            f"The marketplace has a qualification type {name!r} but does not list it yet; "
            "synchronise again in a minute."
        )

    def grant(self, *, qualification_type_id: str, worker_id: str) -> None:
        """Give the worker the qualification, without a message to them; somebody whom the
        marketplace does not know is left out."""
        try:
            self._call(
                "associate_qualification_with_worker",
                QualificationTypeId=qualification_type_id,
                WorkerId=worker_id,
                IntegerValue=1,
                SendNotification=False,
            )
        except MarketplaceError as error:
            if not error.says_no_worker:
                raise

    def revoke(self, *, qualification_type_id: str, worker_id: str) -> None:
        """Take the qualification from the worker; who does not have it is left as they are."""
        try:
            self._call(
                "disassociate_qualification_from_worker",
                QualificationTypeId=qualification_type_id,
                WorkerId=worker_id,
            )
        except MarketplaceError as error:
            if "QualificationDoesNotExist" not in error.code and not error.says_no_worker:
                raise

    def notify(self, *, worker_ids: Sequence[str], subject: str, text: str) -> list[str]:
        """Write to workers; returns the ids of those it did not reach."""
        failed: list[str] = []
        for start in range(0, len(worker_ids), PAGE):
            answer = self._call(
                "notify_workers",
                Subject=subject,
                MessageText=text,
                WorkerIds=list(worker_ids[start : start + PAGE]),
            )
            failed += [row["WorkerId"] for row in answer["NotifyWorkersFailureStatuses"]]
        return failed


def marketplace_of(campaign: Campaign) -> Marketplace:
    """The campaign's marketplace; raises WrongEndpoint if this installation talks to another."""
    if campaign.endpoint != settings.MTURK_ENDPOINT:
        raise WrongEndpoint(
            f"{campaign} belongs to the marketplace {campaign.endpoint!r}, but MTURK_ENDPOINT is "
            f"{settings.MTURK_ENDPOINT!r}. Nothing was sent."
        )
    return Marketplace(endpoint_of(campaign.endpoint))
