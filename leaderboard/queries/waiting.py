"""The queue of submissions to score."""

from datetime import datetime, timedelta

from leaderboard.models import Submission

# After this time without a run, the process that scores is probably not running.
LONG = timedelta(minutes=10)


def turns_of_waiting() -> dict[int, int]:
    """By the key of each submission that waits, how many will be scored before it."""
    keys = Submission.objects.waiting().values_list("pk", flat=True)
    return {pk: turn for turn, pk in enumerate(keys)}


def stuck_since(at: datetime) -> datetime | None:
    """Since when a submission has waited, if that is long and nothing is being scored."""
    if Submission.objects.running().filter(run_ends_at__gt=at).exists():
        return None
    first = Submission.objects.waiting().filter(queued_at__lt=at - LONG).first()
    return first.queued_at if first else None
