"""Rounds: read a study at the panel and do what is due. Hooks make a round come sooner.

A round can end at any instruction. The next one continues from the database.
"""

import hmac
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q
from django.urls import reverse

from marketplace import clock
from marketplace.errors import DomainError, StudyRefused
from marketplace.panels.client import Prolific, prolific
from marketplace.panels.models import BatchState, PanelStudy, PanelSubmission
from marketplace.panels.panel import PanelNotFound, PanelRefused, Subscription
from marketplace.panels.services import bonuses, submissions
from marketplace.panels.services.studies import forget_draft, make_draft

logger = logging.getLogger(__name__)
# Hooks come in bursts: one reading serves those of this time.
HOOKS_GATHERED = timedelta(seconds=2)


def follow(*, at: datetime) -> int:
    """One round for each study that is due; return their number."""
    if not settings.PROLIFIC_API_TOKEN:
        return 0
    # A later time than a round sets is of a clock that was ahead.
    latest = max(at, clock.now()) + timedelta(seconds=settings.PROLIFIC_SECONDS)
    is_due = Q(read_next_at__lte=at) | Q(read_next_at__gt=latest)
    due = PanelStudy.objects.filter(is_due).exclude(external_id="")
    return sum(
        _round_if_mine(panel_study, at) for panel_study in due.order_by("read_next_at", "pk")
    )


def _round_if_mine(panel_study: PanelStudy, at: datetime) -> int:
    """Run the round unless another process has taken it."""
    # The rounds of other studies, before this one, may have taken long.
    next_at = max(at, clock.now()) + timedelta(seconds=settings.PROLIFIC_SECONDS)
    mine = PanelStudy.objects.filter(pk=panel_study.pk, read_next_at=panel_study.read_next_at)
    if not mine.update(read_next_at=next_at):
        return 0
    run_round(panel_study=panel_study, at=at)
    return 1


def run_round(*, panel_study: PanelStudy, at: datetime) -> None:
    """Read the study and its submissions, decide, and pay bonuses. Problems are stored in words."""
    unreadable: list[str] = []
    problems = _tried(lambda: unreadable.extend(_read(panel_study, at)))
    if problems:
        # Without the panel's present state there is nothing to decide on.
        _note(panel_study, problems, None)
        return
    if unreadable:
        problems = [f"Prolific's answer on submissions cannot be read: {', '.join(unreadable)}."]
    problems += [
        *_tried(lambda: submissions.act(panel_study=panel_study, panel=prolific(), at=at)),
        *_tried(lambda: _bonuses(panel_study, prolific(), at)),
    ]
    # Until all submissions can be read, some people would seem to hold no place at the panel.
    _note(panel_study, problems, None if unreadable else at)


def _read(panel_study: PanelStudy, at: datetime) -> list[str]:
    panel = prolific()
    make_draft(panel_study=panel_study, at=at)
    try:
        study = panel.study(panel_study.external_id)
    except PanelNotFound as error:
        if forget_draft(panel_study=panel_study):
            raise PanelRefused("The draft was deleted at Prolific. Create it again.") from error
        raise
    PanelStudy.objects.filter(pk=panel_study.pk).update(
        status=study.status, places=study.places or F("places")
    )
    panel_study.refresh_from_db()
    return submissions.read_back(panel_study=panel_study, panel=panel, at=at)


def _bonuses(panel_study: PanelStudy, panel: Prolific, at: datetime) -> None:
    bonuses.plan_batch(panel_study=panel_study, at=at)
    bonuses.go_on_with_batches(panel_study=panel_study, panel=panel, at=at)


def _tried(step: Callable[[], None]) -> list[str]:
    """The step's problems. They do not keep the next step from its work."""
    try:
        step()
    except DomainError as error:
        return [str(error)]
    except Exception as error:
        # Shown too, or nobody would see that nothing is paid.
        logger.exception("A step of a round failed.")
        return [f"An error of this site ({type(error).__name__}); its log has more."]
    return []


def _note(panel_study: PanelStudy, problems: list[str], read_at: datetime | None) -> None:
    values: dict[str, object] = {"problem": " ".join(problems)[:500]}
    if read_at is not None:
        values["read_at"] = read_at
    PanelStudy.objects.filter(pk=panel_study.pk).update(**values)
    if problems:
        logger.warning("A round of %s had a problem.", panel_study.reference)


def note_hook(*, resource: str, at: datetime) -> None:
    """A hook says that a study or a submission has changed, maybe one that is not known yet."""
    soon = at + HOOKS_GATHERED
    known = PanelStudy.objects.exclude(external_id="")
    submissions = PanelSubmission.objects.filter(external_id=resource)
    named = known.filter(Q(external_id=resource) | Q(pk__in=submissions.values("panel_study")))
    due = named if named.exists() else known
    due.filter(read_next_at__gt=soon).update(read_next_at=soon)


def open_questions(panel_study: PanelStudy) -> int:
    """How many submissions and batches a person has to decide."""
    return (
        panel_study.submissions.exclude(question="").count()
        + panel_study.batches.filter(state=BatchState.UNCLEAR).count()
    )


EVENTS = ("submission.status.change", "study.status.change")


def address() -> str:
    """Where hooks come in."""
    return settings.MARKETPLACE_URL + reverse("prolific_hook")


def subscriptions() -> list[Subscription]:
    """The subscriptions to this site; raises PanelRefused and PanelUnclear."""
    return [
        subscription
        for subscription in prolific().subscriptions()
        if subscription.address == address()
    ]


def has_the_panels_secret() -> bool:
    """Whether the site checks signatures with the secret that the panel signs with."""
    mine, theirs = settings.PROLIFIC_HOOK_SECRET, prolific().hook_secret()
    return bool(mine) and hmac.compare_digest(mine.encode(), theirs.encode())


def subscribe() -> list[Subscription]:
    """Subscribe to each event once; raises StudyRefused, PanelRefused and PanelUnclear.

    It can be repeated. Older subscriptions to this site are removed first: one whose confirmation
    was lost, or which the panel has disabled, looks like any other.
    """
    if not settings.PROLIFIC_WORKSPACE:
        raise StudyRefused("Set PROLIFIC_WORKSPACE, and start the marketplace again.")
    if not has_the_panels_secret():
        raise StudyRefused(
            "PROLIFIC_HOOK_SECRET is not the secret of the workspace, so hooks would be refused. "
            "Make one with marketplace_panel_hooks --new-secret."
        )
    unsubscribe()
    panel = prolific()
    return [panel.subscribe(event, address()) for event in EVENTS]


def unsubscribe() -> int:
    """Remove the subscriptions to this site; return their number."""
    panel, mine = prolific(), subscriptions()
    for subscription in mine:
        panel.unsubscribe(subscription.id)
    return len(mine)
