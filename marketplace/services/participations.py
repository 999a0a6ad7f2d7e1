"""The progress of participants in their studies."""

from dataclasses import dataclass
from datetime import datetime

from marketplace import queries
from marketplace.models import REVEALED, Assignment, Participation


@dataclass(frozen=True)
class Progress:
    """How many assignments of the study a participant has done, and how many the study needs."""

    done: int
    wanted: int

    @property
    def is_complete(self) -> bool:
        return self.done >= self.wanted

    @property
    def next_number(self) -> int:
        return min(self.done + 1, self.wanted)


def progress_of(participation: Participation) -> Progress:
    """Progress since the participant joined. Rejected work counts as done."""
    done = participation.assignments().filter(status__in=REVEALED).count()
    return Progress(done=done, wanted=participation.study.assignments)


def participation_for(assignment: Assignment) -> Participation | None:
    """The worker's latest participation that the assignment counts for, or None."""
    if not assignment.may_be_in_study:
        return None
    return queries.participation_for(assignment)


def note_submission(*, assignment: Assignment, at: datetime) -> Participation | None:
    """Mark the participation as complete if this was its last assignment.

    Returns the participation that the assignment counts for, or None.
    """
    participation = participation_for(assignment)
    if participation is not None and progress_of(participation).is_complete:
        Participation.objects.filter(pk=participation.pk, completed_at=None).update(completed_at=at)
    return participation
