"""The decision log."""

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from annotate.api.filters import Filters
from annotate.api.lookups import CampaignRows
from qualcontrol.models import Act, Decision
from qualcontrol.queries.decision_log import visible_to_reviewers


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    """An entry of the log: who did what, when and why."""

    worker = serializers.CharField(
        source="worker.pseudonym",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="whom it is about",
    )
    actor = serializers.CharField(
        source="actor.username",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="null if the campaign's policy or a command decided",
    )

    class Meta:
        model = Decision
        fields = ["id", "act", "response", "worker", "reason", "actor", "at"]


class DecisionFilter(Filters):
    """Filters of the log."""

    act = django_filters.ChoiceFilter(choices=Act.choices, label="only entries of this sort")
    worker = django_filters.CharFilter(
        "worker__pseudonym", label="only entries about the worker with this pseudonym"
    )
    response = django_filters.NumberFilter(
        "response", min_value=1, max_value=2**63 - 1, label="only entries about this response"
    )

    class Meta:
        model = Decision
        fields: list[str] = []


@extend_schema(summary="Decisions, the latest first")
class DecisionList(CampaignRows[Decision]):
    """The campaign's decision log."""

    serializer_class = DecisionSerializer
    filterset_class = DecisionFilter
    queryset = Decision.objects.all()

    def rows(self) -> QuerySet[Decision]:
        log = visible_to_reviewers(self.campaign.decisions.all())
        return log.select_related("actor", "worker").order_by("-pk")
