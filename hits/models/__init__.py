"""HITs, assignments, payments and messages: our requests and what the marketplace reported."""

from hits.models.hits import (
    DECIDED,
    MOST_ASSIGNMENTS,
    Assignment,
    AssignmentStatus,
    Bonus,
    Claim,
    Hit,
    HitStatus,
    HitType,
    TaskPage,
    WorkerBarring,
)
from hits.models.syncs import (
    SILENT_AFTER,
    CallPace,
    Installation,
    Listing,
    ProcessedMessage,
    Sync,
    SyncProblem,
    new_installation_name,
)
from hits.models.workers import (
    TOLD_AFTER,
    MessageRecipient,
    MessageStatus,
    WorkerAccount,
    WorkerMessage,
)
