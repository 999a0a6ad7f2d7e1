"""How far campaigns are, from the counters of their tasks, so that no response is read."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from django.db.models import Count, F, QuerySet
from django.db.models.expressions import Combinable

from annotate.campaign_file import CampaignConfig
from annotate.models import Campaign, Task
from annotate.models.campaigns import most_places

# The responses that tasks want and still lack, and the number of these tasks.
Group = tuple[int, int, int]


@dataclass(frozen=True)
class Step:
    """The number of tasks that have this many responses that count."""

    responses: int
    tasks: int


@dataclass(frozen=True)
class Progress:
    """Numbers of tasks, and of the responses that count."""

    tasks: int
    complete: int
    wanted: int
    submitted: int
    # Responses that tasks still need. A task with more than it wants makes up for no other.
    missing: int
    steps: list[Step]
    # {responses that a task lacks: tasks}, without those that lack none.
    lacking: dict[int, int]

    def pages(self, config: CampaignConfig) -> int:
        """The pages that the missing responses take; see `pages_for`."""
        return pages_for(self.lacking, config)

    @property
    def answered(self) -> int:
        """Wanted responses that the tasks have."""
        return self.wanted - self.missing

    @property
    def surplus(self) -> int:
        """Responses beyond what their tasks want."""
        return self.submitted - self.answered

    @property
    def share(self) -> float:
        return self.answered / self.wanted if self.wanted else 0.0


def pages_for(lacking: Mapping[int, int], config: CampaignConfig) -> int:
    """The pages that {missing responses: tasks} take. Nobody does a task twice, so a task that
    lacks three responses takes three pages.

    Own people are few, and the same ones do all tasks, so that each person's last page may be
    short. Of many people, somebody can always fill a page.
    """
    size = config.hit.images
    if config.workers.who != "own":
        responses = sum(lacks * tasks for lacks, tasks in lacking.items())
        most = max((lacks for lacks, tasks in lacking.items() if tasks), default=0)
        return max(ceil(responses / size), most)
    rounds = range(1, max(lacking, default=0) + 1)
    tasks = (sum(n for lacks, n in lacking.items() if lacks >= least) for least in rounds)
    return sum(ceil(number / size) for number in tasks)


def progress(campaign: Campaign) -> Progress:
    return progress_by_campaign([campaign])[campaign.pk]


def open_work(campaign: Campaign) -> Progress:
    """Only the tasks that need responses, which the database finds by an index. Claims of open
    pages make no difference."""
    return _progress(_groups(campaign.tasks.unfinished())[campaign.pk])


def work_now(campaign: Campaign) -> Progress:
    """The open work without tasks that workers cannot do yet, because they build on other
    responses."""
    return _progress(_groups(campaign.tasks.workable(), most_places)[campaign.pk])


def progress_by_campaign(campaigns: Iterable[Campaign]) -> dict[int, Progress]:
    """The progress of each campaign by its primary key. Takes one query."""
    keys = [campaign.pk for campaign in campaigns]
    groups = _groups(Task.objects.filter(campaign__in=keys))
    return {key: _progress(groups[key]) for key in keys}


def _groups(
    tasks: QuerySet[Task], lacks_of: Callable[[F], Combinable] = lambda missing: missing
) -> defaultdict[int, list[Group]]:
    """The groups of each campaign's tasks by its primary key."""
    groups = defaultdict[int, list[Group]](list)
    rows = tasks.order_by().values_list("campaign", "wanted", lacks_of(F("answers_missing")))
    for campaign, wanted, lacks, number in rows.annotate(Count("pk")):
        groups[campaign].append((wanted, lacks, number))
    return groups


def _progress(groups: list[Group]) -> Progress:
    has, lacking = Counter[int](), Counter[int]()
    for wanted, lacks, tasks in groups:
        has[wanted - lacks] += tasks
        if lacks > 0:
            lacking[lacks] += tasks
    most = max([*has, *(wanted for wanted, _, _ in groups)], default=-1)
    return Progress(
        tasks=has.total(),
        complete=sum(tasks for _, lacks, tasks in groups if lacks <= 0),
        wanted=sum(wanted * tasks for wanted, _, tasks in groups),
        submitted=sum(responses * tasks for responses, tasks in has.items()),
        missing=sum(max(0, lacks) * tasks for _, lacks, tasks in groups),
        steps=[Step(responses, has[responses]) for responses in range(most + 1)],
        lacking=dict(lacking),
    )
