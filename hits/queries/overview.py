"""How far a campaign is, from the counters of its tasks, in two queries."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count

from annotate.models import Campaign, Response, ResponseStatus
from annotate.services.campaigns import Progress


@dataclass(frozen=True)
class Step:
    """The number of tasks that have so many responses that count."""

    responses: int
    tasks: int


@dataclass(frozen=True)
class Standing:
    """A campaign's progress, and how its responses are distributed over its tasks."""

    progress: Progress
    steps: list[Step]
    # Responses that tasks still need. A task with more than it wants makes up for no other.
    missing: int

    @property
    def filled(self) -> int:
        """Wanted responses that the tasks have."""
        return self.progress.wanted - self.missing

    @property
    def surplus(self) -> int:
        """Responses beyond what their tasks want."""
        return self.progress.submitted - self.filled


def standing(campaign: Campaign) -> Standing:
    """Read how far the campaign is. `annotate.services.campaigns.progress` counts the same from
    the responses themselves, which takes long for a large campaign."""
    groups = campaign.tasks.order_by().values_list("wanted", "answers_missing")
    tasks = [(wanted, lacks, n) for wanted, lacks, n in groups.annotate(Count("pk"))]
    has = Counter[int]()
    for wanted, lacks, number in tasks:
        has[wanted - lacks] += number
    most = max([*has, *(wanted for wanted, _, _ in tasks)], default=0)
    discarded = Response.objects.of(campaign).filter(status=ResponseStatus.DISCARDED)
    return Standing(
        progress=Progress(
            tasks=has.total(),
            complete=sum(number for _, lacks, number in tasks if lacks <= 0),
            wanted=sum(wanted * number for wanted, _, number in tasks),
            submitted=sum(responses * number for responses, number in has.items()),
            discarded=discarded.count(),
        ),
        steps=[Step(responses, has[responses]) for responses in range(most + 1)] if tasks else [],
        missing=sum(max(0, lacks) * number for _, lacks, number in tasks),
    )
