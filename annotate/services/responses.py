"""Storing answers, counting them once they are submitted, discarding and restoring them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from annotate.kinds import KINDS
from annotate.models import (
    Behaviour,
    Caption,
    Claim,
    ClaimStatus,
    Response,
    ResponseStatus,
    Task,
    Worker,
)
from annotate.services.claims import move_places

NOT_COUNTED = dict.fromkeys(
    ["keystrokes", "pastes", "pasted_characters", "seconds_writing", "times_left"]
)


@transaction.atomic
def store_answer(
    *,
    task: Task,
    worker: Worker,
    answer: Any,
    at: datetime,
    claim: Claim | None = None,
    seconds: int | None = None,
) -> Response:
    """Keep the worker's answer; sent again before it was submitted, the later one stands.

    An answer that was submitted already is left as it is, and returned.
    """
    response, _ = Response.objects.get_or_create(
        task=task,
        worker=worker,
        defaults={"claim": claim, "stored_at": at, "seconds": seconds},
    )
    if response.status == ResponseStatus.STORED:
        if claim is not None and response.claim_id != claim.pk:
            Response.objects.filter(pk=response.pk).update(claim=claim)
            response.claim = claim
        KINDS[task.campaign.kind].store(response, answer)
    return response


def keep_behaviour(*, response: Response, device: str, counts: Mapping[str, float]) -> None:
    """Keep how the answer came about; of one that was sent again, how the later one did."""
    Behaviour.objects.update_or_create(
        response=response, defaults={"device": device, **NOT_COUNTED, **counts}
    )


@transaction.atomic
def add_collected(*, responses: Sequence[Response], texts: Sequence[str]) -> None:
    """Keep captions that were submitted elsewhere, and count them from now on: responses not saved
    yet, with the text of each. A task may so have more than it wants."""
    Response.objects.bulk_create(responses)
    Caption.objects.bulk_create(
        Caption(response=response, text=text)
        for response, text in zip(responses, texts, strict=True)
    )
    move_places(Counter({task: -n for task, n in Counter(r.task_id for r in responses).items()}))


@transaction.atomic
def confirm_submitted(*, response: Response, at: datetime) -> bool:
    """Count a stored response from now on; False if it was submitted before."""
    stored = Response.objects.filter(pk=response.pk, status=ResponseStatus.STORED)
    if not stored.update(status=ResponseStatus.SUBMITTED, submitted_at=at):
        return False
    lease = Claim.objects.filter(response=response)
    held = lease.held().update(status=ClaimStatus.USED)
    if not held:
        # Its lease was given up, so the place that it kept is taken again, perhaps below zero.
        lease.update(status=ClaimStatus.USED)
        move_places(Counter({response.task_id: -1}))
    response.status, response.submitted_at = ResponseStatus.SUBMITTED, at
    return True


def discard(*, responses: Iterable[Response]) -> list[Response]:
    """Take responses out of the count, so that their tasks want others; returns those that were
    counting until now."""
    return _move(responses, ResponseStatus.SUBMITTED, ResponseStatus.DISCARDED, places=1)


def restore(*, responses: Iterable[Response]) -> list[Response]:
    """Let discarded responses count again; returns those that were discarded until now."""
    return _move(responses, ResponseStatus.DISCARDED, ResponseStatus.SUBMITTED, places=-1)


@transaction.atomic
def _move(
    responses: Iterable[Response], old: ResponseStatus, new: ResponseStatus, *, places: int
) -> list[Response]:
    # In the order of their keys, so that two callers never wait for each other.
    moved = [
        response
        for response in sorted(responses, key=lambda response: response.pk)
        if Response.objects.filter(pk=response.pk, status=old).update(status=new)
    ]
    changes: Counter[int] = Counter()
    for response in moved:
        response.status = new
        changes[response.task_id] += places
    move_places(changes)
    return moved
