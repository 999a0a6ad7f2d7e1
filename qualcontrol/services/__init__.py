"""Every change that quality control makes, one module for each topic.

Who discarded, judged, excluded or reinstated what is a row of the decision log, written in the
same transaction as the change. Locks are taken in one order: worker, response, task.
"""

from qualcontrol.services.exclusions import (
    AlreadyExcluded,
    ExclusionPreview,
    NotExcluded,
    exclude_worker,
    exclusion_preview,
    reinstate_worker,
    review_submitted,
)
from qualcontrol.services.judging import (
    AlreadyJudged,
    CannotReject,
    ReasonMissing,
    judge,
    reject_response,
)
from qualcontrol.services.releasing import open_questions, release_campaign
from qualcontrol.services.sampling import draw_spot_checks

__all__ = [
    "AlreadyExcluded",
    "AlreadyJudged",
    "CannotReject",
    "ExclusionPreview",
    "NotExcluded",
    "ReasonMissing",
    "draw_spot_checks",
    "exclude_worker",
    "exclusion_preview",
    "judge",
    "open_questions",
    "reinstate_worker",
    "reject_response",
    "release_campaign",
    "review_submitted",
]
