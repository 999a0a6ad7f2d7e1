"""Ask another reviewer for a second opinion on a response.

Two reviewers must then agree, and a third decides if they do not, as in a campaign with two
reviewers. The reviewer who asks may be one of them, once another one has judged.
"""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts.models import Membership, Right
from accounts.models.teams import roles_with
from annotate.models import Campaign, Response, ResponseStatus
from qualcontrol.models import Gold, GoldAnswer, Judgement, Reservation, SecondOpinion, SpotCheck
from qualcontrol.services.errors import JUDGED_BY_YOU, AlreadyJudged, CannotAsk
from qualcontrol.services.locks import locked_response


def ask_second_opinion(
    *, campaign: Campaign, key: UUID, question: str, reviewer: User, at: datetime
) -> None:
    """Show the item with this key to other reviewers of the team, with the question.

    Gold items are accepted and shown to nobody, so that nothing tells that they are gold. Raises
    Response.DoesNotExist, AlreadyJudged, CannotAsk.
    """
    if not _others(campaign, reviewer):
        raise CannotAsk(
            "Nobody else in the team can review. Invite another reviewer, or judge the response "
            "yourself."
        )
    made = SecondOpinion(
        campaign=campaign, key=key, asked_by=reviewer, asked_at=at, question=question.strip()[:300]
    )
    gold = Gold.objects.of(campaign).filter(Q(response=None, key=key) | Q(response__key=key))
    try:
        with transaction.atomic():
            if (found := gold.first()) is not None:
                if GoldAnswer.objects.filter(gold=found, reviewer=reviewer).exists():
                    raise AlreadyJudged(JUDGED_BY_YOU)
            else:
                made.response = _open_response(campaign, key, reviewer)
            made.save(force_insert=True)
    except IntegrityError as error:
        raise CannotAsk("A second opinion on this response is asked for already.") from error


def _others(campaign: Campaign, reviewer: User) -> bool:
    """Whether the campaign's team has another member who can review."""
    members = Membership.objects.current().filter(team=campaign.team, user__is_active=True)
    return members.filter(role__in=roles_with(Right.REVIEW)).exclude(user=reviewer).exists()


def _open_response(campaign: Campaign, key: UUID, reviewer: User) -> Response:
    """The locked response, which the reviewer leaves to others now."""
    response = locked_response(Response.objects.of(campaign).get(key=key).pk)
    # Checked first, with the message that gold items have, so that neither reveals gold.
    if Judgement.objects.filter(spot_check__response=response, reviewer=reviewer).exists():
        raise AlreadyJudged(JUDGED_BY_YOU)
    if response.status != ResponseStatus.SUBMITTED:
        raise AlreadyJudged("This response has been discarded and needs no judgement.")
    if SpotCheck.objects.filter(response=response).exclude(verdict="").exists():
        raise AlreadyJudged("Another reviewer has judged this response.")
    Reservation.objects.filter(response=response, reviewer=reviewer).delete()
    return response


@transaction.atomic
def withdraw_question(*, campaign: Campaign, key: UUID, at: datetime) -> None:
    """Withdraw the request for a second opinion: one verdict is enough again.

    Raises Response.DoesNotExist, and CannotAsk if there is none, or if somebody has judged since.
    """
    response = locked_response(Response.objects.of(campaign).get(key=key).pk)
    if Judgement.objects.filter(spot_check__response=response).exists():
        raise CannotAsk(
            "A reviewer has judged this response meanwhile. The next judgement is needed now."
        )
    if not SecondOpinion.objects.wanted().filter(response=response).update(withdrawn_at=at):
        raise CannotAsk("No second opinion on this response is asked for.")
