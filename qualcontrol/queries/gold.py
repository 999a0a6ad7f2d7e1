"""Gold items as their lists show them."""

from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotate.kinds import KINDS
from annotate.models import Campaign
from qualcontrol.models import Gold, GoldAnswer


def gold_known_to(user: User, campaign: Campaign) -> QuerySet[Gold]:
    """The gold items that the user made or has judged, the latest first. The queue may still show
    the others to the user."""
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    judged = GoldAnswer.objects.filter(gold=OuterRef("pk"), reviewer=user)
    known = campaign.gold.filter(Q(made_by=user) | Exists(judged))
    return (
        known.select_related("task__image", "response", *content)
        .annotate(
            judged=Count("answers"),
            right=Count("answers", filter=Q(answers__verdict=F("verdict"))),
        )
        .order_by("-pk")
    )
