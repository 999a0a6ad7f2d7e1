"""What the API says of campaigns."""

from dataclasses import asdict
from decimal import Decimal
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import Right
from accounts.pages.signed_in import rights_in
from annotate.models import Campaign, Response, ResponseStatus
from annotate.queries.progress import progress, progress_by_campaign
from hits.models import Sync
from hits.queries.costs import spends
from hits.queries.statistics import assignments_at_work, measured_pay


class SpendSerializer(serializers.Serializer[Any]):
    """Amounts in US dollars, including fees."""

    budget = serializers.DecimalField(max_digits=12, decimal_places=2)
    committed = serializers.DecimalField(max_digits=12, decimal_places=2)
    paid = serializers.DecimalField(max_digits=12, decimal_places=2)
    owed = serializers.DecimalField(max_digits=12, decimal_places=2)
    open = serializers.DecimalField(max_digits=12, decimal_places=2)
    bonuses = serializers.DecimalField(max_digits=12, decimal_places=2)
    left = serializers.DecimalField(max_digits=12, decimal_places=2)


class OverviewSerializer(serializers.Serializer[Any]):
    """Progress of a campaign in a list: numbers of tasks and responses."""

    tasks = serializers.IntegerField()
    wanted = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="responses, no more per image than wanted")


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a campaign, with all numbers."""

    tasks = serializers.IntegerField()
    complete = serializers.IntegerField()
    wanted = serializers.IntegerField()
    submitted = serializers.IntegerField()
    at_work = serializers.IntegerField(
        help_text="assignments that workers were working on at the last sync"
    )
    discarded = serializers.IntegerField()


class PaySerializer(serializers.Serializer[Any]):
    """Pay per hour at the median time of the latest responses."""

    median_seconds = serializers.FloatField()
    per_hour = serializers.DecimalField(max_digits=10, decimal_places=2)


class CampaignListSerializer(serializers.ListSerializer[Any]):
    """Computes the numbers of all campaigns on a page with a few queries."""

    def to_representation(self, data: Any) -> Any:
        campaigns = list(data)
        self.context["progress"] = progress_by_campaign(campaigns)
        self.context["spends"] = spends(campaigns)
        return super().to_representation(campaigns)


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign in a list, with its progress and costs."""

    selection = serializers.CharField(
        source="selection.name", read_only=True, allow_null=True, default=None
    )
    caption_set = serializers.CharField(
        source="caption_set.name", read_only=True, allow_null=True, default=None
    )
    progress = serializers.SerializerMethodField()
    spend = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        list_serializer_class = CampaignListSerializer
        fields = [
            "slug",
            "kind",
            "status",
            "family",
            "endpoint",
            "selection",
            "caption_set",
            "created_at",
            "progress",
            "spend",
        ]

    @extend_schema_field(OverviewSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, Any]:
        return dict(OverviewSerializer(self.context["progress"][campaign.pk]).data)

    @extend_schema_field(SpendSerializer(allow_null=True))
    def get_spend(self, campaign: Campaign) -> dict[str, Any] | None:
        if Right.SEE_MONEY not in rights_in(self.context["request"], campaign.team):
            return None
        return dict(SpendSerializer(self.context["spends"][campaign.pk]).data)


class CampaignDetailSerializer(serializers.ModelSerializer[Campaign]):
    """A campaign with all its numbers and the checked campaign file."""

    selection = serializers.CharField(
        source="selection.name", read_only=True, allow_null=True, default=None
    )
    caption_set = serializers.CharField(
        source="caption_set.name", read_only=True, allow_null=True, default=None
    )
    config = serializers.SerializerMethodField(
        help_text="without the reward and the budget if your role sees no money"
    )
    hit_type = serializers.SerializerMethodField(
        help_text="id of its latest group of HITs at the marketplace; null before it is published"
    )
    progress = serializers.SerializerMethodField()
    spend = serializers.SerializerMethodField()
    pay = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = [*CampaignSerializer.Meta.fields, "hit_type", "pay", "config"]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_hit_type(self, campaign: Campaign) -> str | None:
        latest = campaign.hit_types.order_by("-pk").first()
        return latest.hit_type_id if latest else None

    @extend_schema_field(OpenApiTypes.ANY)
    def get_config(self, campaign: Campaign) -> dict[str, Any]:
        config: dict[str, Any] = campaign.config_json
        if self._sees_money(campaign):
            return config
        hit = {key: value for key, value in config["hit"].items() if key != "reward"}
        return {key: value for key, value in config.items() if key != "budget"} | {"hit": hit}

    def _sees_money(self, campaign: Campaign) -> bool:
        return Right.SEE_MONEY in rights_in(self.context["request"], campaign.team)

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, Any]:
        discarded = Response.objects.of(campaign).filter(status=ResponseStatus.DISCARDED)
        numbers = {
            **asdict(progress(campaign)),
            "at_work": assignments_at_work(campaign),
            "discarded": discarded.count(),
        }
        return dict(ProgressSerializer(numbers).data)

    @extend_schema_field(SpendSerializer(allow_null=True))
    def get_spend(self, campaign: Campaign) -> dict[str, Any] | None:
        if not self._sees_money(campaign):
            return None
        return dict(SpendSerializer(spends([campaign])[campaign.pk]).data)

    @extend_schema_field(PaySerializer(allow_null=True))
    def get_pay(self, campaign: Campaign) -> dict[str, Any] | None:
        pay = measured_pay(campaign) if self._sees_money(campaign) else None
        return dict(PaySerializer(pay).data) if pay else None


class PanelEstimateSerializer(serializers.Serializer[Any]):
    """The same rewards by Prolific, with its fee and VAT by the settings."""

    rewards = serializers.DecimalField(max_digits=12, decimal_places=2)
    fees = serializers.DecimalField(max_digits=12, decimal_places=2)
    tax = serializers.DecimalField(max_digits=12, decimal_places=2)
    total = serializers.DecimalField(max_digits=12, decimal_places=2)
    least_per_hour = serializers.DecimalField(max_digits=12, decimal_places=2)
    is_paid_enough = serializers.BooleanField(
        help_text="whether dollars_per_hour reaches Prolific's minimum"
    )


class EstimateSerializer(serializers.Serializer[Any]):
    """What the missing responses cost, in US dollars, if none is discarded."""

    tasks = serializers.IntegerField()
    responses = serializers.IntegerField(help_text="that are still missing")
    assignments = serializers.IntegerField()
    hits = serializers.IntegerField()
    reward = serializers.DecimalField(max_digits=12, decimal_places=2)
    fee = serializers.DecimalField(max_digits=12, decimal_places=2)
    rewards = serializers.DecimalField(max_digits=12, decimal_places=2)
    fees = serializers.DecimalField(max_digits=12, decimal_places=2)
    total = serializers.DecimalField(max_digits=12, decimal_places=2)
    hours_of_work = serializers.FloatField()
    dollars_per_hour = serializers.DecimalField(max_digits=12, decimal_places=2)
    prolific = PanelEstimateSerializer(
        allow_null=True, help_text="null for campaigns of your own people"
    )


class PublicationSerializer(serializers.Serializer[Any]):
    """A confirmation, which marketplaces that spend real money need, and what it is about."""

    confirmed = serializers.BooleanField(default=False)
    cost = serializers.DecimalField(
        max_digits=12,
        decimal_places=2,
        required=False,
        help_text="the estimate's `total` that you have seen; with another, nothing is published",
    )
    budget = serializers.DecimalField(
        max_digits=12,
        decimal_places=2,
        required=False,
        help_text="the budget that you have seen; with another, nothing is published",
    )


class AmountSerializer(serializers.Serializer[Any]):
    """An amount to add to a budget."""

    amount = serializers.DecimalField(
        max_digits=10, decimal_places=2, min_value=Decimal("0.01"), help_text="US dollars"
    )


class SyncSerializer(serializers.ModelSerializer[Sync]):
    """A run of the reconciler: its counts, and its first error."""

    class Meta:
        model = Sync
        fields = [
            "started_at",
            "finished_at",
            "ingested",
            "approved",
            "rejected",
            "hits_created",
            "hits_retired",
            "problems",
            "error",
        ]


class SyncStateSerializer(serializers.Serializer[Any]):
    """Whether a sync was requested and has not ended, and the latest sync."""

    is_waiting = serializers.BooleanField()
    last = SyncSerializer(allow_null=True)
