"""The types of faults of `benchmarks.faults`. Each notes what it did, and how often."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from benchmarks.fleet import Program
from benchmarks.fragile import PROCESSES, Fragile
from benchmarks.lean_browser import FORM, ask
from benchmarks.small_campaign import HIT_SECONDS, WORKERS_OF, SmallCampaign

SYNCS = "first more reconciler", "second more reconciler"
JUMPS = [-60, 30, HIT_SECONDS, 3600]


@dataclass
class Situation:
    """What a fault happens to. `noted` counts what happened."""

    fragile: Fragile
    campaign: SmallCampaign
    rng: random.Random
    noted: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.whole = self.fragile.whole

    def pause(self) -> None:
        time.sleep(self.rng.choice([0, 0.5]))


@dataclass(frozen=True)
class Fault:
    """Something that happens, if the installation has the part. With `needs_work`, it happens to
    people at work, and not while a campaign is published or released."""

    name: str
    happens: Callable[[Situation], None]
    is_possible: Callable[[Fragile], bool] = lambda _: True
    needs_work: bool = False


def _kill(now: Situation, name: str) -> None:
    """Kill a process; start it again at once or a moment later."""
    fleet = now.whole.fleet
    if fleet.is_running(name):
        fleet.kill(name)
        now.noted[f"kill {name}"] += 1
    now.pause()
    fleet.start(name, waits=False)


def _kill_database(now: Situation) -> None:
    server = now.whole.postgresql
    assert server is not None
    server.kill()
    now.noted["kill postgresql"] += 1
    now.pause()
    server.start()


def _cut_database(now: Situation) -> None:
    server = now.whole.postgresql
    assert server is not None
    server.cut_connections()
    now.noted["cut the connections to the database"] += 1


def _kill_redis(now: Situation) -> None:
    server = now.whole.redis
    assert server is not None
    server.kill()
    now.noted["kill redis"] += 1
    now.pause()
    server.start()


def _cut_marketplace(now: Situation) -> None:
    """Cut connections in use: look until some are."""
    for _ in range(30):
        if cut := now.fragile.network.cut():
            now.noted["cut connections to the marketplace"] += cut
            return
        time.sleep(0.1)


def _fill_disk(now: Situation) -> None:
    with now.fragile.disk.full():
        time.sleep(now.rng.uniform(0.2, 1))
    now.noted["fill the disk"] += 1
    # PostgreSQL stops if its log finds no room.
    now.fragile.start_again()


def _turn_clock(now: Situation) -> None:
    seconds = now.rng.choice(JUMPS)
    now.fragile.turn_clock(seconds)
    ahead = "ahead" if seconds > 0 else "back"
    now.noted[f"turn the marketplace's clock {ahead}"] += 1


def _repeat_events(now: Situation) -> None:
    now.noted["repeat and reorder events"] += now.fragile.queue.repeat(now.rng)


def _sync_twice(now: Situation) -> None:
    """Run two more reconcilers at the same time, and perhaps kill one of them."""
    fleet = now.whole.fleet
    for name in SYNCS:
        arguments = ["manage.py", "sync", now.campaign.name]
        fleet.programs[name] = Program(arguments, now.whole.environment)
        fleet.start(name)
    now.noted["run two more reconcilers"] += 1
    if now.rng.random() < 0.5:
        time.sleep(now.rng.uniform(1, 4))
        if fleet.is_running(SYNCS[1]):
            fleet.kill(SYNCS[1])
            now.noted["kill one of two reconcilers"] += 1
    for name in SYNCS:
        fleet.children[name].process.wait(60)


def _exclude(now: Situation) -> None:
    """Exclude a worker by hand, and perhaps reinstate them."""
    if not (names := now.campaign.rows(WORKERS_OF)):
        return
    path = f"{now.campaign.path}workers/{now.rng.choice(names)[0]}/"
    now.whole.call("POST", f"{path}exclusion/", {"reason": "Looks careless."})
    now.noted["exclude a worker"] += 1
    if now.rng.random() < 0.7:
        time.sleep(0.5)
        now.whole.call("POST", f"{path}reinstatement/", {"reason": "A mistake."})
        now.noted["reinstate a worker"] += 1


def _forge(now: Situation) -> None:
    """Open and answer task pages with made-up and with other people's parameters."""
    browser = now.rng.choice(now.campaign.members).browser
    browser.browse()
    frame = browser.accept()
    address, _, query = frame.partition("?")
    real = dict(parse_qsl(query))
    made_up = f"A{now.rng.getrandbits(60):X}"
    for change in ({"workerId": made_up}, {"assignmentId": made_up}, {"hitId": made_up}):
        page = ask("GET", f"{address}?{urlencode(real | change)}")
        body = urlencode({"token": made_up, "caption-1": page.text[:50]})
        ask("POST", address, body=body, headers=FORM)
        now.noted["forge a task page"] += 1
    submit = f"{urlsplit(browser.site).geturl()}/mturk/externalSubmit"
    forged = {"assignmentId": made_up, "caption-1": "A made-up sentence of eight words here."}
    ask("POST", submit, body=urlencode(forged), headers=FORM)
    browser.give_back()


def _killing(name: str) -> Fault:
    return Fault(
        f"kill {name}", lambda now: _kill(now, name), lambda fragile: name in fragile.processes
    )


def _calls(kind: str, most: int) -> Fault:
    return Fault(kind, lambda now: now.fragile.fail_calls(kind, now.rng.randint(1, most)))


def _has_postgresql(fragile: Fragile) -> bool:
    return fragile.whole.postgresql is not None


# What the marketplace calls its faults, in words.
CALLS = {
    "throttle": "throttle a call",
    "fault_before": "500 before a call's effect",
    "fault_after": "500 after a call's effect",
    "delay_after": "no reply in time after a call's effect",
}
FAULTS = (
    *map(_killing, PROCESSES),
    _calls("throttle", 6),
    _calls("fault_before", 6),
    _calls("fault_after", 6),
    _calls("delay_after", 2),
    Fault("kill postgresql", _kill_database, _has_postgresql),
    Fault("cut database", _cut_database, _has_postgresql),
    Fault("kill redis", _kill_redis, lambda fragile: fragile.whole.redis is not None),
    Fault("cut marketplace", _cut_marketplace),
    Fault("fill disk", _fill_disk, lambda fragile: fragile.disk.can_be_filled),
    Fault("turn clock", _turn_clock),
    # The first events come once people are at work.
    Fault("repeat events", _repeat_events, needs_work=True),
    Fault("two more reconcilers", _sync_twice),
    Fault("exclude, reinstate", _exclude, needs_work=True),
    Fault("forge task pages", _forge, needs_work=True),
)
