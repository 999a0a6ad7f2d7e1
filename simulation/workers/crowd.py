"""A crowd of simulated workers who do HITs until the marketplace offers none."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from annotate.models import Campaign, Response
from simulation.workers.browser import (
    Accepted,
    Item,
    NothingLeft,
    NotOffered,
    SiteError,
    TaskForm,
    WorkerBrowser,
)

# A worker stops after this many errors; an answer is given up after this many corrections.
MOST_ERRORS, MOST_CORRECTIONS = 3, 4


class FormFiller(Protocol):
    """A way to fill in the fields of a task; `refused` is true if the answer before was refused."""

    def fill(self, item: Item, rng: random.Random, *, refused: bool) -> dict[str, str]: ...


def filled(
    work: FormFiller, task: TaskForm, rng: random.Random, *, refused: bool
) -> dict[str, str]:
    """The fields of a whole form: its ratings, chosen at random, and each of its tasks."""
    answers = {name: rng.choice(values) for name, values in task.ratings.items()}
    for item in task.items:
        answers |= work.fill(item, rng, refused=refused)
    return answers


class Hand(NamedTuple):
    """A way of working, and its name."""

    kind: str
    work: FormFiller
    practise: Callable[[str, str], str] | None = None  # as in WorkerBrowser


@dataclass(frozen=True)
class Plan:
    """HIT group, seed and limits of a crowd, and the shares of HITs to return or abandon."""

    group: str
    seed: int
    most_assignments: int | None = None
    threads: int = 4
    return_share: float = 0.02
    abandon_share: float = 0.0


@dataclass
class Member:
    """One simulated worker; members with a higher `weight` work more often."""

    name: str
    browser: WorkerBrowser
    hand: Hand
    weight: float
    errors: int = 0
    has_come: bool = False
    tasks_seen: int = 0


@dataclass
class Outcome:
    """Counts of what the crowd did; `errors` counts each message."""

    submitted: Counter[str] = field(default_factory=Counter)
    corrected: int = 0
    returned: int = 0
    abandoned: int = 0
    found_nothing: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return sum(self.submitted.values())


def members(
    *, names: Sequence[str], browsers: Sequence[WorkerBrowser], hands: Sequence[Hand], seed: int
) -> list[Member]:
    """Create the members, with heavy-tailed activity: few workers do most HITs."""
    rng = random.Random(f"{seed}/crowd")
    for browser, hand in zip(browsers, hands, strict=True):
        browser.practise = hand.practise or browser.practise
    return [
        Member(name, browser, hand, weight=min(8.0, rng.paretovariate(1.2)))
        for name, browser, hand in zip(names, browsers, hands, strict=True)
    ]


class Crowd:
    """Runs members in several threads until nobody is offered a HIT or the limit is reached.

    A member works in one thread at a time.
    """

    def __init__(
        self, crowd: Sequence[Member], plan: Plan, submitted: Callable[[], object] = lambda: None
    ) -> None:
        self.plan = plan
        self.outcome = Outcome()
        self._on_submission = submitted
        self._idle = list(crowd)
        self._turned_away: list[Member] = []
        self._given_back = 0
        self._busy = 0
        self._left = plan.most_assignments
        self._rng = random.Random(f"{plan.seed}/turns")
        self._changed = threading.Condition()
        self._stopped = False

    def work(self) -> Outcome:
        """Work until the end. An unexpected error in any thread stops all threads and is raised."""
        with ThreadPoolExecutor(self.plan.threads, thread_name_prefix="worker") as pool:
            turns = [pool.submit(self._thread) for _ in range(self.plan.threads)]
            try:
                for turn in turns:
                    turn.result()
            finally:
                self._stop()
        return self.outcome

    def _stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _thread(self) -> None:
        while (member := self._next()) is not None:
            comes_back = False
            try:
                comes_back = self._turn(member)
            except SiteError as error:
                member.errors += 1
                comes_back = member.errors < MOST_ERRORS
                self._count_error(str(error))
            except BaseException:
                self._stop()
                raise
            finally:
                self._done(member, comes_back)

    def _next(self) -> Member | None:
        """An idle member, chosen by weight; None at the end."""
        with self._changed:
            while not self._stopped:
                if self._idle and self._left != 0:
                    weights = [member.weight for member in self._idle]
                    index = self._rng.choices(range(len(self._idle)), weights)[0]
                    self._busy += 1
                    if self._left is not None:
                        self._left -= 1
                    return self._idle.pop(index)
                if not self._busy:
                    return None
                self._changed.wait()
            return None

    def _done(self, member: Member, comes_back: bool) -> None:
        with self._changed:
            self._busy -= 1
            if comes_back:
                self._idle.append(member)
            self._changed.notify_all()

    def _turn(self, member: Member) -> bool:
        """Let a member do one HIT; return whether to call the member again."""
        submitted, given_back = False, self._given_back
        try:
            submitted = self._do_hit(member)
        except NothingLeft:
            return False
        except NotOffered:
            return self._looks_again(member, given_back)
        finally:
            if not submitted:
                self._give_turn_back()
        return True

    def _looks_again(self, member: Member, given_back: int) -> bool:
        """Whether to let a member who was offered nothing look again now.

        Yes if a HIT was returned since the member looked. Otherwise the member waits until a HIT is
        returned, because a returned HIT may be one that the member can do.
        """
        with self._changed:
            if self._given_back > given_back:
                return True
            self._turned_away.append(member)
            return False

    def _give_back(self, member: Member, accepted: Accepted) -> None:
        member.browser.give_back(accepted)
        with self._changed:
            self._given_back += 1
            self._idle += self._turned_away
            self._turned_away.clear()
            self._changed.notify_all()

    def _give_turn_back(self) -> None:
        with self._changed:
            if self._left is not None:
                self._left += 1

    def _do_hit(self, member: Member) -> bool:
        if not member.has_come:
            self._come(member)
        accepted = member.browser.accept(self.plan.group)
        try:
            task = member.browser.open_task(accepted)
        except NothingLeft:
            self._give_back(member, accepted)
            self._count("found_nothing")
            raise
        if task is not None:
            if self._leaves(member, accepted):
                return False
            rng = random.Random(
                f"{self.plan.seed}/{member.name}/{[item.part for item in task.items]}"
            )
            self._answer(member, task, rng)
        with self._changed:
            self.outcome.submitted[member.name] += 1
            self._on_submission()
        return True

    def _come(self, member: Member) -> None:
        """Sign in, find the group, and open a preview; raises NotOffered."""
        member.browser.sign_in()
        if not member.browser.offers(self.plan.group):
            raise NotOffered
        # Only now: without the group's row, the member has no CSRF token and could never accept.
        member.has_come = True
        member.browser.preview(self.plan.group)

    def _leaves(self, member: Member, accepted: Accepted) -> bool:
        """Return or abandon some HITs; return whether this one was."""
        # A new draw for each page. Otherwise the member would return the same image forever.
        share = random.Random(f"{self.plan.seed}/{member.name}/{member.tasks_seen}").random()
        member.tasks_seen += 1
        if share < self.plan.return_share:
            self._give_back(member, accepted)
            self._count("returned")
            return True
        if share < self.plan.return_share + self.plan.abandon_share:
            self._count("abandoned")
            return True
        return False

    def _answer(self, member: Member, task: TaskForm, rng: random.Random) -> None:
        for attempt in range(MOST_CORRECTIONS):
            answers = filled(member.hand.work, task, rng, refused=attempt > 0)
            corrected = member.browser.send(task, answers)
            if corrected is None:
                return
            task = corrected
            self._count("corrected")
        raise SiteError(f"An answer was refused {MOST_CORRECTIONS} times: {task.problems}")

    def _count(self, counter: str) -> None:
        with self._changed:
            setattr(self.outcome, counter, getattr(self.outcome, counter) + 1)

    def _count_error(self, message: str) -> None:
        with self._changed:
            self.outcome.errors[message] += 1


HONEST = "honest"

# Returns the reason why a response is bad, in a reviewer's words, or an empty text.
Judge = Callable[[Response], str]


class Crew(NamedTuple):
    """Size of a crowd, number of careless workers, and error rate of the others' links."""

    size: int
    careless: int
    errors: float
    seed: int


class Simulated(NamedTuple):
    """How the workers of a crew fill in the forms of a task type, and how a reviewer judges the
    answers. `hands` gets the numbers of the careless workers."""

    hands: Callable[[Campaign, Crew, random.Random, set[int]], list[Hand]]
    judge: Callable[[Campaign], Judge]
