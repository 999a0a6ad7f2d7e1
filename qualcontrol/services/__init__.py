"""Every change that quality control makes, one module for each topic.

A service logs its decisions in the transaction of the change. Locks are taken in one order: worker,
response, task. Worker risks have a lock of their own, and no service waits for it while it holds
another lock.
"""

from qualcontrol.review.batches import judge_file
from qualcontrol.review.gold import mark_gold, seed_gold
from qualcontrol.review.items import (
    Item,
    checks_to_go,
    item_by_key,
    judge_item,
    responses_among,
    settled_among,
)
from qualcontrol.review.judging import judge, keep_judgement, reject_response
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.sampling import draw_spot_checks
from qualcontrol.services.appeals import answer_appeal, record_appeal
from qualcontrol.services.errors import (
    AlreadyAnswered,
    AlreadyDecided,
    AlreadyExcluded,
    AlreadyJudged,
    AlreadyPaused,
    CannotAppeal,
    CannotReject,
    NoGold,
    NotExcluded,
    NothingProposed,
    NotPaused,
    ReasonMissing,
)
from qualcontrol.services.exclusions import (
    ExclusionPreview,
    decline_proposal,
    exclude_worker,
    exclusion_preview,
    pause_worker,
    reinstate_worker,
    resume_worker,
)
from qualcontrol.services.held_payments import (
    accept_payment,
    end_hold,
    hold_payment,
    refuse_payment,
)
from qualcontrol.services.intake import compare_submitted, review_submitted
from qualcontrol.services.policies import decide
from qualcontrol.services.releasing import open_questions, release_campaign
from qualcontrol.services.worker_risks import learn, recount_worker_risks, refresh_worker_risks

__all__ = [
    "AlreadyAnswered",
    "AlreadyDecided",
    "AlreadyExcluded",
    "AlreadyJudged",
    "AlreadyPaused",
    "CannotAppeal",
    "CannotReject",
    "ExclusionPreview",
    "Item",
    "NoGold",
    "NotExcluded",
    "NotPaused",
    "NothingProposed",
    "ReasonMissing",
    "accept_payment",
    "answer_appeal",
    "checks_to_go",
    "compare_submitted",
    "decide",
    "decline_proposal",
    "draw_spot_checks",
    "end_hold",
    "exclude_worker",
    "exclusion_preview",
    "hold_payment",
    "item_by_key",
    "judge",
    "judge_file",
    "judge_item",
    "keep_judgement",
    "learn",
    "mark_gold",
    "next_checks",
    "open_questions",
    "pause_worker",
    "record_appeal",
    "recount_worker_risks",
    "refresh_worker_risks",
    "refuse_payment",
    "reinstate_worker",
    "reject_response",
    "release_campaign",
    "responses_among",
    "resume_worker",
    "review_submitted",
    "seed_gold",
    "settled_among",
]
