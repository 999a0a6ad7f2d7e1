"""All submissions of a challenge as a table for a spreadsheet."""

from collections.abc import Iterator
from typing import Any

from annotate.exports.csv_text import csv_lines
from leaderboard.models import Challenge, Submission
from leaderboard.queries.boards import figures_of, names_of, team_of

COLUMNS = (
    "id",
    "submitted_at",
    "team",
    "account",
    "method",
    "track",
    "training_data",
    "status",
    "sha256",
)


def submission_table(challenge: Challenge) -> Iterator[str]:
    """CSV with a row for each submission, in the order of their arrival.

    The columns of figures are named `METRIC` and `METRIC SUBSET`.
    """
    rows = challenge.submissions.select_related("submitter__submitter")
    submissions = list(rows.order_by("created_at", "pk"))
    scored = [submission for submission in submissions if submission.scores]
    names = names_of(scored)
    figures = [(metric, subset) for subset in ("", *names.subsets) for metric in names.metrics]
    head = [*COLUMNS, *(f"{metric} {subset}".strip() for metric, subset in figures)]
    yield from csv_lines(head, (_row(submission, figures) for submission in submissions))


def _row(submission: Submission, figures: list[tuple[str, str]]) -> list[Any]:
    account = submission.submitter.get_username() if submission.submitter else ""
    row: list[Any] = [
        submission.pk,
        submission.created_at.isoformat(),
        team_of(submission),
        account,
        submission.method,
        submission.track,
        submission.training_data,
        submission.status,
        submission.sha256,
    ]
    if not submission.scores:
        return row + [None] * len(figures)
    return row + [figures_of(submission, subset).get(metric) for metric, subset in figures]
