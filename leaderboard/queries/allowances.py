"""How many submissions somebody may still make in a challenge, and when there are more again."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.contrib.auth.models import User
from django.db.models import Count, Q

from leaderboard.models import Challenge, Submission


@dataclass(frozen=True)
class Allowance:
    """The limits of a challenge, and how much of them one submitter has used."""

    per_day: int
    in_total: int
    used_today: int
    used: int
    resets_at: datetime

    @property
    def left_in_total(self) -> int:
        return max(0, self.in_total - self.used)

    @property
    def left(self) -> int:
        """How many submissions are possible now."""
        return min(max(0, self.per_day - self.used_today), self.left_in_total)


def day_of(at: datetime) -> date:
    """The day for the limit per day. It begins at midnight UTC for everybody."""
    return at.astimezone(UTC).date()


def next_day(at: datetime) -> datetime:
    """When the limit per day starts again."""
    return datetime.combine(day_of(at) + timedelta(days=1), time(), UTC)


def allowance_of(challenge: Challenge, user: User, *, at: datetime) -> Allowance:
    counting = Submission.objects.counting().filter(challenge=challenge, submitter=user)
    used = counting.aggregate(total=Count("pk"), today=Count("pk", filter=Q(day=day_of(at))))
    return Allowance(
        per_day=challenge.per_day,
        in_total=challenge.in_total,
        used_today=used["today"],
        used=used["total"],
        resets_at=next_day(at),
    )


# After this time without a run, the process that scores is probably not running.
LONG = timedelta(minutes=10)


def turns_of_waiting() -> dict[int, int]:
    """By the key of each submission that waits, how many will be scored before it."""
    keys = Submission.objects.waiting().values_list("pk", flat=True)
    return {pk: turn for turn, pk in enumerate(keys)}


def stuck_since(at: datetime) -> datetime | None:
    """Since when a submission has waited, if that is long and nothing is being scored."""
    if Submission.objects.running().filter(due_at__gt=at).exists():
        return None
    first = Submission.objects.waiting().filter(due_at__lt=at - LONG).first()
    return first.due_at if first else None
