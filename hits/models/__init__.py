"""HITs, assignments, payments and messages: our requests and what the marketplace reported."""

from hits.models.accounts import (
    Installation,
    WorkerAccount,
    new_installation_name,
)
from hits.models.hits import (
    DECIDED,
    MOST_ASSIGNMENTS,
    Assignment,
    AssignmentStatus,
    Claim,
    Hit,
    HitStatus,
    HitType,
    TaskPage,
    WorkerBarring,
)
from hits.models.messages import Bonus, MessageRecipient, MessageStatus, WorkerMessage
from hits.models.syncs import SILENT_AFTER, CallPace, Listing, ProcessedMessage, Sync, SyncProblem

__all__ = [
    "DECIDED",
    "MOST_ASSIGNMENTS",
    "SILENT_AFTER",
    "Assignment",
    "AssignmentStatus",
    "Bonus",
    "CallPace",
    "Claim",
    "Hit",
    "HitStatus",
    "HitType",
    "Installation",
    "Listing",
    "MessageRecipient",
    "MessageStatus",
    "ProcessedMessage",
    "Sync",
    "SyncProblem",
    "TaskPage",
    "WorkerAccount",
    "WorkerBarring",
    "WorkerMessage",
    "new_installation_name",
]
