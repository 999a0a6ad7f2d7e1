"""Challenges, submissions and the accounts of submitters."""

from leaderboard.models.challenges import Challenge
from leaderboard.models.submissions import Submission, SubmissionStatus, SubmittedFile, Track
from leaderboard.models.submitters import Submitter

__all__ = [
    "Challenge",
    "Submission",
    "SubmissionStatus",
    "SubmittedFile",
    "Submitter",
    "Track",
]
