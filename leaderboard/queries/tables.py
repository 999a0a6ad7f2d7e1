"""All submissions of a challenge as a table for a spreadsheet."""

from collections.abc import Iterator
from functools import partial

from leaderboard.models import Challenge, Submission
from leaderboard.queries.boards import figures_of, names_of, team_of
from shared.tables import Column, csv_table

COLUMNS = (
    Column("id", value=lambda row: row.pk),
    Column("submitted_at", value=lambda row: row.created_at),
    Column("team", value=team_of),
    Column("account", value=lambda row: row.submitter and row.submitter.get_username()),
    *map(Column, ("method", "track", "training_data", "status", "sha256")),
)


def submission_table(challenge: Challenge) -> Iterator[str]:
    """CSV with a row for each submission, in the order of their arrival.

    The columns of figures are named `METRIC` and `METRIC SUBSET`.
    """
    rows = challenge.submissions.select_related("submitter__submitter")
    submissions = list(rows.order_by("created_at", "pk"))
    names = names_of([submission for submission in submissions if submission.scores])
    figures = [
        Column(f"{metric} {subset}".strip(), value=partial(_figure, metric, subset))
        for subset in ("", *names.subsets)
        for metric in names.metrics
    ]
    return csv_table([*COLUMNS, *figures], submissions)


def _figure(metric: str, subset: str, submission: Submission) -> float | None:
    figure: float | None = figures_of(submission, subset).get(metric)
    return figure
