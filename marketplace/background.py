"""The threads that run beside the web server in each process, and can run in several at once."""

from functools import partial

from django.conf import settings

from marketplace import clock
from marketplace.extensions import Step, extensions
from marketplace.pages.people.links import send_invitations
from marketplace.services import rehearsals
from marketplace.services.notifications import deliver
from marketplace.services.retention import forget
from marketplace.services.sweep import sweep_by_the_clock
from shared.repeater import Repeater


def repeaters() -> list[Repeater]:
    """The threads of one process, not started."""
    # In separate threads, so that a requester's slow queue does not delay the sweep.
    added = [step for each in extensions() for step in each.steps]
    steps: list[Step] = [sweep_by_the_clock, deliver, send_invitations, *added]
    return [
        *(_repeated(step, every=settings.SWEEP_SECONDS) for step in steps),
        _repeated(forget, every=settings.RETENTION_SECONDS),
    ]


def _repeated(step: Step, *, every: float) -> Repeater:
    return Repeater(step.__name__, partial(_do, step), every=every)


def _do(step: Step) -> int:
    rehearsals.follow()
    return step(at=clock.now())
