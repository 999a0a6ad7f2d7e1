"""A task page and the dashboard agree about a worker."""

import pytest

from annotate.models import ResponseStatus, Worker
from hits.services.claims import NothingToDo
from hits.services.hit_pages import FrameParameters, WaitsForVerdicts
from hits.services.task_pages import open_page
from qualcontrol.models import WorkerState, worker_state
from qualcontrol.services.exclusions import pause_worker
from tests.factories import (
    NOON,
    ExclusionFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    WorkerAccountFactory,
    make_campaign,
)

pytestmark = pytest.mark.django_db

REFUSALS = {
    WorkerState.EXCLUDED: NothingToDo,
    WorkerState.PAUSED: NothingToDo,
    WorkerState.WAITING: WaitsForVerdicts,
    WorkerState.ACTIVE: None,
}


@pytest.mark.parametrize(
    ("written", "status", "verdict", "kept_out", "state"),
    [
        (0, "SUBMITTED", "", "", WorkerState.ACTIVE),
        (1, "SUBMITTED", "", "", WorkerState.ACTIVE),
        (2, "SUBMITTED", "", "", WorkerState.WAITING),
        (2, "SUBMITTED", "GOOD", "", WorkerState.ACTIVE),
        (3, "SUBMITTED", "", "", WorkerState.WAITING),
        (2, "DISCARDED", "", "", WorkerState.ACTIVE),
        (2, "SUBMITTED", "", "pause", WorkerState.PAUSED),
        (2, "SUBMITTED", "", "exclusion", WorkerState.EXCLUDED),
        (0, "SUBMITTED", "", "exclusion elsewhere", WorkerState.ACTIVE),
    ],
)
def test_a_page_turns_away_whom_the_dashboard_calls_kept_out(
    written, status, verdict, kept_out, state
):
    campaign = make_campaign(tasks=9, review={"first": 1, "trial": 2})
    worker = WorkerAccountFactory(marketplace_id="AWORKER1").worker
    for number in range(written):
        response = ResponseFactory(
            task=TaskFactory(campaign=campaign), worker=worker, status=ResponseStatus(status)
        )
        SpotCheckFactory(
            response=response,
            is_first=number == 0,
            verdict=verdict,
            judged_at=NOON if verdict else None,
        )
    if kept_out == "pause":
        pause_worker(campaign=campaign, worker=worker, reason="copies", actor=None, at=NOON)
    elif kept_out:
        elsewhere = {} if "elsewhere" in kept_out else {"campaign": campaign}
        ExclusionFactory(worker=worker, **elsewhere)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=3)

    found = Worker.objects.annotate(state=worker_state(campaign)).get(pk=worker.pk)
    assert found.state == state
    assert _refusal(campaign, hit) is REFUSALS[state]


def _refusal(campaign, hit):
    frame = FrameParameters("ASSIGNMENT1", hit.hit_id, "AWORKER1", "http://127.0.0.1:8001")
    try:
        open_page(campaign=campaign, frame=frame, at=NOON)
    except (NothingToDo, WaitsForVerdicts) as error:
        return type(error)
    return None
