"""Spot checks, flags, worker risks, exclusions, and the decision log."""

from qualcontrol.models.checks import Judgement, Reservation, SpotCheck, Verdict
from qualcontrol.models.decisions import Act, Decision
from qualcontrol.models.exclusions import (
    Appeal,
    Exclusion,
    Pause,
    Proposal,
    kept_out,
    waiting_for_verdicts,
)
from qualcontrol.models.flags import Assessment, Copying, CopyKey
from qualcontrol.models.gold import Gold, GoldAnswer
from qualcontrol.models.held_payments import HeldCause, HeldOutcome, HeldPayment
from qualcontrol.models.second_opinions import SecondOpinion
from qualcontrol.models.worker_risk import LearnedValues, WorkerRisk, WorkerRiskChange

__all__ = [
    "Act",
    "Appeal",
    "Assessment",
    "CopyKey",
    "Copying",
    "Decision",
    "Exclusion",
    "Gold",
    "GoldAnswer",
    "HeldCause",
    "HeldOutcome",
    "HeldPayment",
    "Reservation",
    "Judgement",
    "Pause",
    "Proposal",
    "SecondOpinion",
    "SpotCheck",
    "Verdict",
    "LearnedValues",
    "WorkerRisk",
    "WorkerRiskChange",
    "kept_out",
    "waiting_for_verdicts",
]
