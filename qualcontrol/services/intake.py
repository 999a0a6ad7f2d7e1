"""Flags, discards and spot checks of newly submitted responses."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction

from annotate.models import Campaign, Response, ResponseStatus
from annotate.services.responses import restore
from qualcontrol.flags import BREAKS_RULES, Flag
from qualcontrol.models import Act
from qualcontrol.services.discards import LATE, discard_and_log, log, open_rounds
from qualcontrol.services.flagging import assess, compare_answers
from qualcontrol.services.sampling import draw_spot_checks
from qualcontrol.services.worker_risks import note_changes
from shared.database.transactions import batches


@transaction.atomic(savepoint=False)
def review_submitted(
    *,
    campaign: Campaign,
    responses: Sequence[Response],
    at: datetime,
    problems: Mapping[int, Sequence[str]] | None = None,
    compares: bool = True,
) -> None:
    """Flag newly submitted responses, discard those of excluded workers, and draw spot checks from
    the others. A response whose key is in `problems` breaks the campaign's rules: it gets a flag
    with these sentences, and a required check. Without `compares`, the caller has the answers of
    each image compared later, by `compare_submitted`. The caller has locked the workers, so that an
    exclusion that is in progress is over, and the tasks.

    Call `decide` afterwards; it acts on all workers together.
    """
    workers = {response.worker_id for response in responses}
    excluded = set(
        campaign.exclusions.in_force()
        .filter(worker__in=workers)
        .values_list("worker_id", flat=True)
    )
    late = [
        response
        for response in responses
        if response.round is not None and response.status == ResponseStatus.DISCARDED
    ]
    discard_and_log(
        [response for response in responses if response.worker_id in excluded],
        campaign=campaign,
        reason="worker already excluded",
        actor=None,
        at=at,
        names_worker=True,
    )
    kept = [response for response in responses if response.worker_id not in excluded]
    if late and excluded:
        # Some may have been late only because of what was just discarded.
        again = [response for response in late if response in kept]
        moved = restore(responses=again)
        late = [response for response in late if response not in moved]
    log(late, campaign=campaign, act=Act.DISCARD, reason=LATE, actor=None, at=at)
    open_rounds(campaign, {response.task_id for response in responses})
    kept = [response for response in kept if response not in late]
    flags = {
        response: [Flag(BREAKS_RULES, len(found), 1, " ".join(found))]
        for response, found in (problems or {}).items()
    }
    draw_spot_checks(campaign=campaign, responses=kept, at=at, also=flags.keys())
    changed = assess(campaign=campaign, responses=responses, known=flags, compares=compares)
    note_changes(campaign, changed)


def compare_submitted(*, campaign: Campaign, tasks: Collection[int]) -> None:
    """Compute the flags again that compare the answers to each task. After many responses this
    takes less time than comparing at each of them."""
    for batch in batches(sorted(tasks)):
        with transaction.atomic():
            # As it is now: a draft may have been edited.
            campaign = Campaign.objects.locked(campaign.pk)
            note_changes(campaign, compare_answers(campaign=campaign, tasks=batch))
