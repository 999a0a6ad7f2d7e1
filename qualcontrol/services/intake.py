"""What happens to responses that were just submitted."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from annotate.models import Campaign, Response
from qualcontrol.models import Exclusion
from qualcontrol.review.sampling import draw_spot_checks
from qualcontrol.services.exclusions import discard_for_exclusion
from qualcontrol.services.flagging import assess
from qualcontrol.services.held_payments import flags_of
from qualcontrol.services.locks import lock_workers
from qualcontrol.services.worker_risks import note_changes


@transaction.atomic
def review_submitted(
    *,
    campaign: Campaign,
    responses: Sequence[Response],
    at: datetime,
    problems: Mapping[int, Sequence[str]] | None = None,
) -> None:
    """Take in responses that were just submitted: they are flagged, those of excluded workers are
    discarded, and of the others some are drawn for a spot check. Responses to tasks with `problems`
    break the campaign's rules: they get a flag with these sentences, and a required check.

    What follows for their workers is left to `decide`, which looks at them all together.
    """
    workers = {response.worker_id for response in responses}
    # An exclusion that is being made at this moment is waited for.
    lock_workers(workers)
    excluded = set(
        Exclusion.objects.in_force()
        .filter(campaign=campaign, worker__in=workers)
        .values_list("worker_id", flat=True)
    )
    discard_for_exclusion(
        [response for response in responses if response.worker_id in excluded],
        campaign=campaign,
        reason="worker already excluded",
        actor=None,
        at=at,
    )
    welcome = [response for response in responses if response.worker_id not in excluded]
    flags = flags_of(responses, problems or {})
    draw_spot_checks(campaign=campaign, responses=welcome, at=at, also=flags.keys())
    note_changes(campaign, assess(campaign=campaign, responses=responses, known=flags))
