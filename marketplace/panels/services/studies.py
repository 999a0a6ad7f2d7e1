"""Put a study at a panel: a draft first, then published, paused, stopped or given more places."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from marketplace.errors import StudyRefused
from marketplace.models import Screening, Study
from marketplace.panels.client import prolific
from marketplace.panels.models import PanelStudy
from marketplace.panels.panel import UNPUBLISHED, CodeKind, PanelRefused, StudyAction, StudyThere
from marketplace.panels.services.amounts import cost_of
from marketplace.services import studies
from marketplace.services.studies import PROLIFIC_PARAMETERS, panel_url

MOST_PLACES = 100_000
PLANNED = "This study is at the panel already."


@dataclass(frozen=True)
class Offer:
    """The cost of a change, as shown before the operator confirms it."""

    places: int
    total: Decimal
    # Whether the total is the panel's own figure, and not computed from the settings.
    is_theirs: bool
    currency: str
    available: Decimal | None

    @property
    def is_covered(self) -> bool:
        return self.available is None or self.total <= self.available


def per_hour(*, reward: Decimal, minutes: int) -> Decimal:
    return (reward * 60 / minutes).quantize(Decimal("0.01"))


def lock_unplanned(study: Study) -> None:
    """Lock the study until the transaction ends; raises StudyRefused if it is at the panel already,
    for example because another operator has just put it there."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if PanelStudy.objects.filter(study=study).exists():
        raise StudyRefused(PLANNED)


def plan_study(*, panel_study: PanelStudy, at: datetime) -> PanelStudy:
    """Store a new plan of a study at the panel; raises StudyRefused."""
    study, least = panel_study.study, settings.PROLIFIC_LEAST_PER_HOUR
    if study.id_parameter != PROLIFIC_PARAMETERS[0]:
        raise StudyRefused(
            f"The panel sends participants' ids as {PROLIFIC_PARAMETERS[0]}, and this study takes "
            f"them as {study.id_parameter}. Create another study for the panel."
        )
    if not panel_study.description.strip():
        raise StudyRefused("Describe the study for participants.")
    reward, minutes = panel_study.reward, panel_study.minutes
    if reward <= 0 or minutes < 1 or not 1 <= panel_study.places <= MOST_PLACES:
        raise StudyRefused("A study needs a reward, at least one minute and at least one place.")
    if per_hour(reward=reward, minutes=minutes) < least:
        raise StudyRefused(
            f"{reward} for {minutes} minutes is less than {least} per hour, the least "
            "that the panel allows. Raise the reward."
        )
    _check_screen_outs(panel_study)
    panel_study.reference = f"{study.slug[:40]}-{secrets.token_hex(6)}"
    panel_study.created_at = panel_study.read_next_at = at
    try:
        with transaction.atomic():
            panel_study.save(force_insert=True)
    except IntegrityError as error:
        raise StudyRefused(PLANNED) from error
    return panel_study


def _check_screen_outs(planned: PanelStudy) -> None:
    screening = Screening.objects.filter(study=planned.study).first()
    asks = screening is not None and bool(screening.eligibility_question)
    least = settings.PROLIFIC_LEAST_SCREEN_OUT
    if not asks:
        if planned.screen_out_reward or planned.screen_out_places:
            raise StudyRefused("Enter the question on who may take part, or no screen-outs.")
        return
    if not least <= planned.screen_out_reward < planned.reward:
        raise StudyRefused(
            f"Participants who are screened out get at least {least}, and less than the reward."
        )
    if not 1 <= planned.screen_out_places <= MOST_PLACES:
        raise StudyRefused("Enter how many participants may be screened out at most.")


def codes_of(study: Study) -> dict[CodeKind, str]:
    """The study's completion codes by what they say."""
    codes = {CodeKind.COMPLETED: study.completion_code, CodeKind.NO_WORK: study.no_work_code}
    screening = Screening.objects.filter(study=study).first()
    if screening is not None:
        codes[CodeKind.NO_CONSENT] = screening.no_consent_code
        codes[CodeKind.FAILED_CHECK] = screening.failed_check_code
        codes[CodeKind.SCREENED_OUT] = screening.screened_out_code
    return {kind: code for kind, code in codes.items() if code}


def make_draft(*, panel_study: PanelStudy, at: datetime) -> None:
    """Create the draft at the panel, or find the one that an earlier request created.

    Raises PanelRefused and PanelUnclear; after either it can be called again.
    """
    if panel_study.external_id:
        return
    panel, study = prolific(), panel_study.study
    draft = panel.find_study(panel_study.reference) or panel.create_draft(
        panel_study, url=panel_url(study), codes=codes_of(study)
    )
    _note(panel_study, draft, at)


def forget_draft(*, panel_study: PanelStudy) -> bool:
    """Let another draft be created in place of one that is no longer at the panel. Returns False if
    the study was published."""
    drafts = PanelStudy.objects.filter(external_id=panel_study.external_id, status=UNPUBLISHED)
    return bool(drafts.filter(pk=panel_study.pk).update(external_id="", status=""))


def discard_plan(*, panel_study: PanelStudy) -> None:
    """Delete a plan that has no draft at the panel, and its questions to participants, so that the
    study can be planned anew; raises StudyRefused, PanelRefused and PanelUnclear."""
    has_draft = StudyRefused(
        "The panel has a draft of this plan. Delete it there, then discard the plan."
    )
    if panel_study.external_id or prolific().find_study(panel_study.reference):
        raise has_draft
    with transaction.atomic():
        study = Study.objects.select_for_update(no_key=True).get(pk=panel_study.study_id)
        if study.participations.exists():
            raise StudyRefused("Somebody has joined this study already. Create another study.")
        # Decided again: another request may have created the draft.
        if not PanelStudy.objects.filter(pk=panel_study.pk, external_id="").delete()[0]:
            raise has_draft
        studies.ask_nothing(study=study)


def offer(*, panel_study: PanelStudy, places: int) -> Offer:
    """The cost of this many places, and the panel's balance; raises PanelUnclear, PanelRefused.

    Before the study is published, the cost includes the most screen-outs.
    """
    panel = prolific()
    currency, available = panel.balance() if settings.PROLIFIC_WORKSPACE else ("", None)
    parts = [(panel_study.reward, places)]
    if panel_study.screen_out_places and panel_study.status == UNPUBLISHED:
        parts.append((panel_study.screen_out_reward, panel_study.screen_out_places))
    try:
        total = sum((panel.cost(reward=reward, places=n) for reward, n in parts), Decimal(0))
        is_theirs = True
    except PanelRefused:
        total = sum((cost_of(reward=reward, places=n).total for reward, n in parts), Decimal(0))
        is_theirs = False
    return Offer(places, total, is_theirs, currency, available)


def publish(*, panel_study: PanelStudy, confirmed: Decimal, at: datetime) -> None:
    """Publish the draft at the total that the operator has seen.

    Raises StudyRefused if the total has changed or the balance does not cover it.
    """
    if not panel_study.external_id:
        raise StudyRefused("There is no draft at the panel yet. Create it first.")
    panel = prolific()
    now = panel.study(panel_study.external_id)
    if now.status == UNPUBLISHED:
        _check(offer(panel_study=panel_study, places=panel_study.places), confirmed)
        now = panel.transition(panel_study.external_id, StudyAction.PUBLISH)
    _note(panel_study, now, at)


def _check(offer: Offer, confirmed: Decimal) -> None:
    if offer.total != confirmed:
        raise StudyRefused(f"The cost is {offer.total} now. Look at it, and confirm it again.")
    if not offer.is_covered:
        raise StudyRefused(
            f"The panel's balance of {offer.available} does not cover {offer.total}. Add money "
            "on the panel's site."
        )


def change_status(*, panel_study: PanelStudy, action: StudyAction, at: datetime) -> None:
    """Pause, start again or stop the study; raises PanelRefused and PanelUnclear."""
    if action == StudyAction.PUBLISH or not panel_study.external_id:
        raise StudyRefused("Publish the study first.")
    _note(panel_study, prolific().transition(panel_study.external_id, action), at)


def add_places(*, panel_study: PanelStudy, places: int, confirmed: Decimal, at: datetime) -> None:
    """Raise the number of places to `places`, at the cost that the operator has seen."""
    if not panel_study.places < places <= MOST_PLACES:
        raise StudyRefused(f"Enter more places than the {panel_study.places} that there are.")
    if not panel_study.external_id:
        raise StudyRefused("There is no draft at the panel yet. Create it first.")
    _check(offer(panel_study=panel_study, places=places - panel_study.places), confirmed)
    # The number of all places, not of new ones: a repeated request adds none.
    _note(panel_study, prolific().set_places(panel_study.external_id, places), at)


def _note(panel_study: PanelStudy, draft: StudyThere, at: datetime) -> None:
    values: dict[str, Any] = {
        "external_id": draft.id,
        "status": draft.status,
        "read_next_at": at,
    }
    # Of two drafts that were made at the same time, the first stays the study's.
    mine = PanelStudy.objects.filter(pk=panel_study.pk, external_id=panel_study.external_id)
    if not panel_study.external_id:
        values["created_at"] = at
    if draft.places:
        values["places"] = draft.places
    mine.update(problem="", **values)
    try:
        panel_study.refresh_from_db()
    except PanelStudy.DoesNotExist as error:
        raise StudyRefused(
            f"The plan was discarded meanwhile. Delete its draft {draft.id} at the panel."
        ) from error
