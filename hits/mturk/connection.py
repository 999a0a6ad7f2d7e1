"""Calls to the marketplace's API through boto3, and the meaning of its errors.

botocore repeats calls after throttling, server errors and lost connections. A model of `replies`
checks every reply. An invalid reply raises StrangeReply, which is a MarketplaceError like a
refusal. Callers therefore never get a KeyError, or a text that the database cannot store.

A marketplace limits the calls of an account, and several processes may make calls. With a pace,
each call takes the next turn from a row of the database, and waits until then. If the marketplace
throttles a call nevertheless, nobody calls for a while, which doubles each time.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.utils import parse_timestamp
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from prometheus_client import Counter
from pydantic import ValidationError

from corpora.errors import DomainError
from hits.models import CallPace
from hits.mturk import replies
from hits.mturk.endpoints import Endpoint
from hits.mturk.replies import Reply

FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=1), timedelta(minutes=1)
NO_PAUSE = timedelta()
# A later turn was stored by a clock that was ahead.
LONGEST_WAIT = timedelta(hours=1)


class Pace:
    """Turns for the calls of this process among those of all processes."""

    def __init__(
        self, endpoint: str, *, per_second: float, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.endpoint = endpoint
        self.between = timedelta(seconds=1 / per_second)
        self.sleep = sleep
        self.is_after_pause = False

    def wait(self) -> None:
        """Take the next turn and wait for it."""
        with transaction.atomic():
            row = self._locked()
            now = timezone.now()
            turn = max(now, row.next_at) if row.next_at < now + LONGEST_WAIT else now
            CallPace.objects.filter(pk=row.pk).update(next_at=turn + self.between)
        self.is_after_pause = row.pause > NO_PAUSE
        self.sleep((turn - now).total_seconds())

    def note_throttled(self) -> None:
        """Let nobody call for a while, twice as long as after the last throttled call."""
        with transaction.atomic():
            row = self._locked()
            pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * row.pause))
            next_at = max(row.next_at, timezone.now() + pause)
            CallPace.objects.filter(pk=row.pk).update(next_at=next_at, pause=pause)

    def note_answered(self) -> None:
        """Forget the pause before this call, because the marketplace answers again."""
        if self.is_after_pause:
            CallPace.objects.filter(endpoint=self.endpoint).update(pause=NO_PAUSE)

    def _locked(self) -> CallPace:
        CallPace.objects.get_or_create(endpoint=self.endpoint, defaults={"next_at": timezone.now()})
        return CallPace.objects.select_for_update().get(endpoint=self.endpoint)


if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

PAGE = 100
# Enough for 200,000 HITs, ten times those of nocaps. A longer list is taken to be endless.
MOST_PAGES = 2_000
WORKER_ID = re.compile(r"\bA[A-Z0-9]{9,}\b")
LONGEST_MESSAGE = 500
STRANGE = "StrangeBody"
# Smaller differences are ignored: the Date header has whole seconds, and replies take time.
LEAST_SKEW = timedelta(seconds=5)
NO_ANSWER = "NoAnswer"
CALLS = Counter("marketplace_calls", "Calls to marketplaces", ["operation", "outcome"])
# Parts of the error codes of calls that came too fast, and of those that would be the same for any
# other call.
THROTTLED = ("Throttl", "RequestLimitExceeded")
GENERAL = (
    NO_ANSWER,
    *THROTTLED,
    "AccessDenied",
    "NotAuthorized",
    "BadCredential",
    "UnrecognizedClient",
    "InvalidSignature",
    "IncompleteSignature",
    "MissingAuthentication",
    "InvalidClientTokenId",
    "ExpiredToken",
)

Checked = TypeVar("Checked", bound=Reply)


class MarketplaceError(DomainError):
    """The marketplace refused a call or could not be reached. `code` is its error code."""

    def __init__(self, message: str, code: str = "", *, is_refusal: bool = False) -> None:
        super().__init__(message)
        self.code = code
        # True if the marketplace did nothing. After other errors, the call may have taken effect.
        self.is_refusal = is_refusal

    @property
    def is_general(self) -> bool:
        """Whether any other call would also fail now."""
        return any(name in self.code for name in GENERAL)

    @property
    def says_throttled(self) -> bool:
        """Whether the marketplace refused the call because there were too many."""
        return any(name in self.code for name in THROTTLED)

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later without a change: it came too fast, the
        marketplace failed or did not answer, or its reply cannot be used."""
        # The code of a reply without one, such as the page of a proxy, is its status.
        return self.says_throttled or not self.is_refusal or self.code.isdecimal()

    @property
    def says_gone(self) -> bool:
        """Whether the object of the call is deleted or never existed."""
        return "DoesNotExist" in self.code or self.says_disposed

    @property
    def says_disposed(self) -> bool:
        """Whether the HIT of the call existed and is deleted."""
        return self.is_refusal and "in the state 'Disposed'" in str(self)

    @property
    def says_wrong_state(self) -> bool:
        """Whether the change was made before, or is no longer possible."""
        return "InvalidAssignmentState" in self.code or "InvalidHITState" in self.code

    @property
    def says_no_worker(self) -> bool:
        """Whether the marketplace does not know the worker, for example one of imported
        captions."""
        return "parameter WorkerId" in str(self) or "'workerId'" in str(self)

    @property
    def says_no_funds(self) -> bool:
        """Whether the requester's account has too little money for the call."""
        return "InsufficientFunds" in self.code or "insufficient funds" in str(self).lower()


class StrangeReply(MarketplaceError):
    """The marketplace's reply cannot be used. The call may have taken effect."""


USER_AGENT = f"Boto3/{boto3.__version__} Botocore/{botocore.__version__}"


@lru_cache(maxsize=8)
def _boto3_client(
    url: str, _access_key: str, *, attempts: int, connect_timeout: float, read_timeout: float
) -> "MTurkClient":
    """A client for this address and requester.

    It is cached because creating one reads the whole service model, which takes longer than a call.
    Threads can share a client.
    """
    session = botocore.session.get_session()
    parsers = session.get_component("response_parser_factory")
    parsers.set_parser_defaults(timestamp_parser=_timestamp)
    client = boto3.session.Session(botocore_session=session).client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=url,
        config=Config(
            retries={"mode": "standard", "total_max_attempts": attempts},
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            # Otherwise botocore puts the header together twice for each call, which is a sixth of
            # what the call takes here.
            user_agent=USER_AGENT,
        ),
    )
    client.meta.events.register("before-parse.mturk", _check_body)
    client.meta.events.register("needs-retry.mturk", _count_attempt)
    return client


def _count_attempt(operation: Any, response: tuple[Any, dict[str, Any]] | None, **_: Any) -> None:
    """Count each attempt of a call, also those that botocore repeats."""
    if response is None:
        outcome = "no answer"
    elif code := str(response[1].get("Error", {}).get("Code", "")):
        outcome = "throttled" if any(name in code for name in THROTTLED) else "refused"
    else:
        outcome = "answered"
    CALLS.labels(operation.name, outcome).inc()


def _timestamp(value: Any) -> Any:
    """Parse a time; return an invalid one unchanged, as botocore would refuse the whole page."""
    try:
        return parse_timestamp(value)
    except Exception:
        return value


def _check_body(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any
) -> None:
    """Mark a successful reply whose body is not a JSON object, such as a proxy's error page.

    botocore reads such a body as an empty reply, which is the normal reply to most calls.
    """
    body = response_dict["body"]
    if response_dict["status_code"] >= 300 or not body:
        return
    try:
        is_object = isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        customized_response_dict[STRANGE] = True


# How far the clock of each marketplace, by its URL, is ahead of ours.
_skews: dict[str, timedelta] = {}


class Connection:
    """Calls to one marketplace as one requester. Every method may raise MarketplaceError.

    `calls` is the number of calls made, including repeats. `after_call` is called after each
    successful call.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.calls = 0
        self.after_call: Callable[[], None] = lambda: None
        per_second = settings.MTURK_CALLS_PER_SECOND
        self.pace = Pace(endpoint.url, per_second=per_second) if per_second else None
        try:
            self._client = _boto3_client(
                endpoint.url,
                os.environ.get("AWS_ACCESS_KEY_ID", ""),
                attempts=settings.MTURK_MAX_ATTEMPTS,
                connect_timeout=settings.MTURK_CONNECT_TIMEOUT,
                read_timeout=settings.MTURK_READ_TIMEOUT,
            )
        except BotoCoreError as error:
            raise MarketplaceError(
                f"No client for {endpoint.url} can be created: {error}", is_refusal=True
            ) from error

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Make a call, at the pace of all processes if there is one."""
        if self.pace is None:
            return self._call_now(operation, **arguments)
        self.pace.wait()
        try:
            answer = self._call_now(operation, **arguments)
        except MarketplaceError as error:
            if error.says_throttled:
                self.pace.note_throttled()
            raise
        self.pace.note_answered()
        return answer

    def _call_now(self, operation: str, **arguments: Any) -> dict[str, Any]:
        try:
            answer = getattr(self._client, operation)(**arguments)
        except ClientError as error:
            raise self._refused(operation, error) from error
        except ParamValidationError as error:
            raise MarketplaceError(
                f"{operation} was not sent: {_without_workers(str(error))}", is_refusal=True
            ) from error
        except BotoCoreError as error:
            self.calls += 1
            raise MarketplaceError(
                f"The marketplace at {self.endpoint.url} did not answer {operation}: {error}",
                NO_ANSWER,
            ) from error
        except Exception as error:
            # botocore's parser can raise any exception for a malformed reply.
            self.calls += 1
            raise strange(operation, "it cannot be parsed") from error
        if not isinstance(answer, dict) or STRANGE in answer:
            self.calls += 1
            raise strange(operation, "it is not a JSON object")
        metadata = answer["ResponseMetadata"]
        self.calls += 1 + metadata.get("RetryAttempts", 0)
        self._note_clock(metadata.get("HTTPHeaders", {}).get("date", ""))
        self.after_call()
        return answer

    def _refused(self, operation: str, error: ClientError) -> MarketplaceError:
        metadata = error.response.get("ResponseMetadata", {})
        self.calls += 1 + metadata.get("RetryAttempts", 0)
        details: dict[str, Any] = {**error.response.get("Error", {}), **error.response}
        code = str(details.get("TurkErrorCode") or details.get("Code", ""))[:100]
        message = _without_workers(replies.storable(str(details.get("Message", ""))))
        return MarketplaceError(
            f"The marketplace refused {operation}: {message[:LONGEST_MESSAGE]}",
            replies.storable(code),
            is_refusal=400 <= metadata.get("HTTPStatusCode", 0) < 500,
        )

    def _note_clock(self, date: str) -> None:
        try:
            skew = parsedate_to_datetime(date) - datetime.now(UTC)
        except (TypeError, ValueError):
            return
        _skews[self.endpoint.url] = skew if abs(skew) >= LEAST_SKEW else timedelta()

    def skew(self) -> timedelta:
        """How far the marketplace's clock is ahead of ours, according to its last reply to
        this process. If there was none yet, make a call."""
        if self.endpoint.url not in _skews:
            self._call("get_account_balance")
        return _skews.setdefault(self.endpoint.url, timedelta())

    def _ask(
        self, model: type[Checked], operation: str, member: str = "", **arguments: Any
    ) -> Checked:
        """Make a call and return its checked reply, or this member of it; raises StrangeReply."""
        answer = self._call(operation, **arguments)
        return checked(model, answer.get(member) if member else answer, operation)

    def _pages(self, operation: str, key: str, **arguments: Any) -> Iterator[list[Any]]:
        """Yield the items of a list page by page, until a page is empty or has no token.

        Raises StrangeReply if a page has no list, a token is repeated, or there are more than
        MOST_PAGES pages.
        """
        seen: set[str] = set()
        token: str | None = None
        while True:
            extra = {"NextToken": token} if token else {}
            page = self._call(operation, MaxResults=PAGE, **arguments, **extra)
            items, token = page.get(key), page.get("NextToken")
            if not isinstance(items, list) or not isinstance(token, str | None):
                raise strange(operation, f"it has no list of {key}")
            yield items
            if not token or not items:
                return
            if token in seen:
                raise strange(operation, "the list leads back to an earlier page")
            if len(seen) >= MOST_PAGES:
                raise strange(operation, f"the list goes on after {MOST_PAGES} pages")
            seen.add(token)


def _without_workers(message: str) -> str:
    """Remove worker ids from an error message, because pages and logs show it."""
    return WORKER_ID.sub("(a worker)", message)


def checked(model: type[Checked], value: Any, operation: str) -> Checked:
    """The reply, or a part of it, as an instance of the model; raises StrangeReply."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise strange(operation, replies.in_words(error)) from error


def strange(operation: str, why: str) -> StrangeReply:
    """The error for a reply that cannot be used; `why` is part of the message."""
    return StrangeReply(f"The marketplace's reply to {operation} cannot be used: {why}.")
