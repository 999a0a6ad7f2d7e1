"""Challenges, submissions and the accounts of submitters."""

from leaderboard.models.challenges import Challenge
from leaderboard.models.submissions import (
    Submission,
    SubmissionStatus,
    SubmittedFile,
    Submitter,
    Track,
)

__all__ = [
    "Challenge",
    "Submission",
    "SubmissionStatus",
    "SubmittedFile",
    "Submitter",
    "Track",
]
