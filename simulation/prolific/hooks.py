"""The stand-in's hooks: subscriptions, and signed requests that can be lost, repeated or reordered.

As in the reference, events are sent at least once and in no certain order, and only to confirmed
subscriptions. A request that is not answered by 2xx is sent again, with the same event id.
"""

import base64
import hashlib
import hmac
import json
import queue
import random
import secrets
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import requests

EVENT_TYPES = ("study.status.change", "study.progress.change", "submission.status.change")
MOST_ATTEMPTS = 12
TIMEOUT = 5


@dataclass
class Subscription:
    event_type: str
    target_url: str
    workspace_id: str
    id: str = field(default_factory=lambda: secrets.token_hex(12))
    # Sent in the header X-Hook-Secret, and expected when the subscription is confirmed.
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(16), repr=False)
    is_confirmed: bool = False

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "event_type": self.event_type,
            "target_url": self.target_url,
            "workspace_id": self.workspace_id,
            "is_enabled": self.is_confirmed,
        }


@dataclass
class Event:
    """A request that a subscription has to get."""

    subscription: Subscription
    body: Mapping[str, Any]
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    happened_at: float = field(default_factory=time.time)
    attempts: int = 0


class Hooks:
    """The workspace's secret, its subscriptions, and the events that wait to be sent."""

    def __init__(self) -> None:
        self.secret = ""
        self.subscriptions: dict[str, Subscription] = {}
        self.waiting: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def note(self, event_type: str, resource: str, **fields: Any) -> None:
        """Something has happened: each subscription to it gets an event."""
        body = {"resource_id": resource, "event_type": event_type, **fields}
        for subscription in self.subscriptions.values():
            if subscription.is_confirmed and subscription.event_type == event_type:
                self.waiting.put(Event(subscription, body))

    def take(self) -> list[Event]:
        """The events that wait, oldest first."""
        events: list[Event] = []
        while not self.waiting.empty():
            events.append(self.waiting.get())
        return events


def headers_of(event: Event, content: bytes, *, secret: str, now: float) -> dict[str, str]:
    """The headers of a hook, with the signature over its timestamp and its body."""
    stamp = str(int(now))
    digest = hmac.new(secret.encode(), stamp.encode() + content, hashlib.sha256).digest()
    return {
        "Content-Type": "application/json",
        "X-Event-ID": event.id,
        "X-Timestamp": str(int(event.happened_at)),
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
    }


class Faults:
    """Loses this share of events, repeats as many, and then changes their order."""

    def __init__(self, share: float = 0.0, *, seed: int = 1) -> None:
        self.share, self.chance = share, random.Random(seed)

    def disturb(self, events: Iterable[Event]) -> list[Event]:
        kept = [event for event in events if not self._hits()]
        disturbed = kept + [event for event in kept if self._hits()]
        if self.share:
            self.chance.shuffle(disturbed)
        return disturbed

    def _hits(self) -> bool:
        return self.chance.random() < self.share


class Sender(threading.Thread):
    """Sends the events that wait, until it is stopped."""

    def __init__(self, hooks: Hooks, faults: Faults) -> None:
        super().__init__(name="hooks", daemon=True)
        self.hooks, self.faults = hooks, faults
        self.stopped = threading.Event()
        # The target is this machine's, or one that the operator has named: no proxy.
        self.session = requests.Session()
        self.session.trust_env = False
        # The status of each answer, 0 without one.
        self.sent: list[tuple[Event, int]] = []

    def run(self) -> None:
        while not self.stopped.wait(0.2):
            for event in self.faults.disturb(self.hooks.take()):
                self.send(event)

    def send(self, event: Event) -> None:
        """Send one request; one that fails waits again."""
        event.attempts += 1
        status = self._status_of(event)
        self.sent.append((event, status))
        if not 200 <= status < 300 and event.attempts < MOST_ATTEMPTS:
            self.hooks.waiting.put(event)

    def _status_of(self, event: Event) -> int:
        content = json.dumps(event.body).encode()
        headers = headers_of(event, content, secret=self.hooks.secret, now=time.time())
        address = event.subscription.target_url
        try:
            answer = self.session.post(address, data=content, headers=headers, timeout=TIMEOUT)
        except requests.RequestException:
            return 0
        return answer.status_code

    def stop(self) -> None:
        self.stopped.set()
        self.join(timeout=2 * TIMEOUT)
