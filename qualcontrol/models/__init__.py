"""Spot checks, flags, worker risks, exclusions, and the decision log."""

from qualcontrol.models.checks import (
    Gold,
    GoldAnswer,
    Judgement,
    Reservation,
    SecondOpinion,
    SpotCheck,
    Verdict,
)
from qualcontrol.models.decisions import Act, Decision, HeldCause, HeldOutcome, HeldPayment
from qualcontrol.models.exclusions import (
    Appeal,
    Exclusion,
    Pause,
    Proposal,
    WorkerState,
    kept_out,
    waiting_for_verdicts,
    worker_state,
)
from qualcontrol.models.flags_and_risks import (
    Assessment,
    Copying,
    CopyKey,
    LearnedValues,
    WorkerRisk,
    WorkerRiskChange,
)
