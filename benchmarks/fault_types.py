"""The types of faults of `benchmarks.faults`. Each notes what it did, and how often."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from benchmarks.broken_parts import RUBBISH
from benchmarks.fleet import Program
from benchmarks.fragile import FAULTS_WITHIN, PROCESSES, Fragile
from benchmarks.lean_browser import FORM, NotOffered, ask
from benchmarks.small_campaign import HIT_SECONDS, WORK_OF, WORKERS_OF, SmallCampaign

SYNCS = "first more reconciler", "second more reconciler"
# HITs are opened by the first sync after the publication.
OFFERED_WITHIN = 20.0
JUMPS = [-60, 30, HIT_SECONDS, 3600]
WRONG_ANSWERS: tuple[dict[str, str], ...] = (
    {},
    {"caption-999": "A sentence about an image that nobody has asked about."},
    {"caption-1": "  ", "text-1": "", "token": "x" * 500, "behaviour-1": "[{"},
    {"caption-": "\u202e\U0001f600", "text-x": "<script>", "base-1": "0" * 36},
)


@dataclass
class Situation:
    """The part that a fault happens to. `noted` counts what happened."""

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
    people at work, and not while a campaign is published or released; with `needs_hit`, it happens
    to them first, while HITs are open."""

    name: str
    happens: Callable[[Situation], None]
    is_possible: Callable[[Fragile], bool] = lambda _: True
    needs_work: bool = False
    needs_hit: bool = False


def _kill(now: Situation, name: str) -> None:
    """Kill a process; start it again at once or a moment later."""
    fleet = now.whole.fleet
    if fleet.is_running(name):
        fleet.kill(name)
        now.noted[f"kill {name}"] += 1
    now.pause()
    fleet.start(name, waits=False)


def _kill_server(now: Situation, name: str) -> None:
    server = getattr(now.whole, name)
    server.kill()
    now.noted[f"kill {name}"] += 1
    now.pause()
    server.start()


def _cut_database(now: Situation) -> None:
    server = now.whole.postgresql
    assert server is not None
    server.cut_connections()
    now.noted["cut the connections to the database"] += 1


def _cut_marketplace(now: Situation) -> None:
    """Cut connections in use: look until some are."""
    for _ in range(30):
        if cut := now.fragile.network.cut():
            now.noted["cut connections to the marketplace"] += cut
            return
        time.sleep(0.1)


def _reply_with_rubbish(now: Situation) -> None:
    """Replace replies to the requester's calls, which have had their effect."""
    rubbish = now.fragile.network.rubbish
    rubbish += (replies := now.rng.choices(RUBBISH, k=now.rng.randint(1, 6)))
    end = time.monotonic() + FAULTS_WITHIN
    while rubbish and time.monotonic() < end:
        time.sleep(0.1)
    now.noted["rubbish in place of a reply"] += len(replies) - len(rubbish)
    rubbish.clear()


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
    """Exclude a worker by hand, and perhaps reinstate them, or let them appeal."""
    if not (names := now.campaign.rows(WORKERS_OF)):
        return
    worker, path = now.rng.choice(names)[0], now.campaign.path
    now.whole.call("POST", f"{path}workers/{worker}/exclusion/", {"reason": "Looks careless."})
    now.noted["exclude a worker"] += 1
    time.sleep(0.5)
    then = now.rng.choice(["", "reinstate", "refuse", "grant"])
    if then == "reinstate":
        words = {"reason": "A mistake."}
        now.whole.call("POST", f"{path}workers/{worker}/reinstatement/", words)
        now.noted["reinstate a worker"] += 1
    elif then:
        appeal: Any = now.whole.call("POST", f"{path}appeals/", {"worker": worker, "text": "Why?"})
        answer = {"answer": "We looked again.", "granted": then == "grant"}
        now.whole.call("POST", f"{path}appeals/{appeal['id']}/answer/", answer, reviewer=1)
        now.noted[f"{then} an appeal"] += 1


def _withdraw(now: Situation) -> None:
    """Let a person withdraw some of their work, by the list that the marketplace gives."""
    if not (work := now.campaign.rows(WORK_OF)):
        return
    file = now.whole.places.folder / "withdrawals.csv"
    worker = now.rng.choice(work)[0]
    lines = [",".join(row) for row in work if row[0] == worker][: now.rng.randint(1, 3)]
    file.write_text("\n".join(["worker_id,assignment_id", *lines]))
    now.whole.manage("import_withdrawals", str(file))
    now.noted["withdraw an answer"] += len(lines)


def _accept(now: Situation) -> str:
    """Let a worker who does nothing else accept a HIT, as soon as one is offered; return its
    frame's address. Raises NotOffered."""
    end = time.monotonic() + OFFERED_WITHIN
    while True:
        try:
            now.campaign.stranger.browse()
            return now.campaign.stranger.accept()
        except NotOffered:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def _submit_rubbish(now: Situation) -> None:
    """Submit an answer that fits no task, at the marketplace alone."""
    page = now.campaign.stranger.open(_accept(now))
    now.campaign.stranger.submit(page, now.rng.choice(WRONG_ANSWERS))
    now.noted["submit an answer that fits no task"] += 1


def _forge(now: Situation) -> None:
    """Open and answer task pages with made-up and with other people's parameters."""
    address, _, query = _accept(now).partition("?")
    real = dict(parse_qsl(query))
    made_up = f"A{now.rng.getrandbits(60):X}"
    for change in ({"workerId": made_up}, {"assignmentId": made_up}, {"hitId": made_up}):
        page = ask("GET", f"{address}?{urlencode(real | change)}")
        body = urlencode({"token": made_up, "caption-1": page.text[:50]})
        ask("POST", address, body=body, headers=FORM)
        now.noted["forge a task page"] += 1
    submit = f"{real['turkSubmitTo']}/mturk/externalSubmit"
    forged = {"assignmentId": made_up, "caption-1": "A made-up sentence of eight words here."}
    ask("POST", submit, body=urlencode(forged), headers=FORM)
    now.campaign.stranger.give_back()


def _killing(name: str) -> Fault:
    return Fault(
        f"kill {name}", lambda now: _kill(now, name), lambda fragile: name in fragile.processes
    )


def _killing_server(name: str) -> Fault:
    def is_possible(fragile: Fragile) -> bool:
        return getattr(fragile.whole, name) is not None

    return Fault(f"kill {name}", lambda now: _kill_server(now, name), is_possible)


def _calls(kind: str, most: int) -> Fault:
    return Fault(kind, lambda now: now.fragile.fail_calls(kind, now.rng.randint(1, most)))


# What the marketplace calls its faults, in words.
CALLS = {
    "throttle": "throttle a call",
    "fault_before": "500 before a call's effect",
    "fault_after": "500 after a call's effect",
    "delay_after": "no reply in time after a call's effect",
}
# What must not change a release.
AFTER_RELEASE = (
    Fault("exclude", _exclude, needs_work=True),
    Fault("withdraw", _withdraw, needs_work=True),
)
FAULTS = (
    *map(_killing, PROCESSES),
    _calls("throttle", 6),
    _calls("fault_before", 6),
    _calls("fault_after", 6),
    _calls("delay_after", 2),
    *map(_killing_server, ("postgresql", "redis")),
    Fault("cut database", _cut_database, lambda fragile: fragile.whole.postgresql is not None),
    Fault("cut marketplace", _cut_marketplace),
    Fault("rubbish replies", _reply_with_rubbish),
    Fault("fill disk", _fill_disk, lambda fragile: fragile.disk.can_be_filled),
    Fault("turn clock", _turn_clock),
    # The first events come once people are at work.
    Fault("repeat events", _repeat_events, needs_work=True),
    Fault("two more reconcilers", _sync_twice),
    *AFTER_RELEASE,
    Fault("rubbish answers", _submit_rubbish, needs_work=True, needs_hit=True),
    Fault("forge task pages", _forge, needs_work=True, needs_hit=True),
)
