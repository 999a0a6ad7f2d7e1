"""Make releases of a campaign."""

from typing import Any

from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from accounts.api.strict import validated
from annotate.api.jobs import JobDetailSerializer, accepted, begin
from annotate.api.lookups import CampaignRows
from annotate.api.releases import ReleaseSerializer
from annotate.exports.records import HidingRefused, rule_of
from annotate.models import Release
from corpora.selection.domains import DEFAULT_PRESET, PRESETS
from qualcontrol.services.releasing import ReleaseRefused, missing, name_refusal


class NewReleaseSerializer(serializers.Serializer[Any]):
    """A release to make."""

    name = serializers.SlugField(max_length=100)
    seed = serializers.IntegerField(
        required=False,
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="draws the responses and the baselines; default: the campaign's seed",
    )
    partial = serializers.BooleanField(  # type: ignore[assignment]
        default=False, help_text="omit incomplete images, and ignore open checks"
    )
    in_all_languages = serializers.BooleanField(
        default=False, help_text="one release with the campaigns of the other languages"
    )
    domains = serializers.ChoiceField(
        choices=sorted(PRESETS), default=DEFAULT_PRESET, help_text="which classes are in-domain"
    )
    hidden_splits = serializers.ListField(
        child=serializers.CharField(max_length=64),
        default=list,
        max_length=100,
        help_text="hide the captions of these splits",
    )
    hidden_share = serializers.FloatField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=1,
        help_text="or of this share of the images, drawn with the seed",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        splits, share = given.pop("hidden_splits"), given.pop("hidden_share")
        try:
            hidden = rule_of(splits=splits, share=share)
        except HidingRefused as error:
            raise serializers.ValidationError({"hidden_share": [str(error)]}) from error
        return {**given, "hidden": hidden}


@extend_schema_view(get=extend_schema(summary="Releases of a campaign, the latest first"))
class CampaignReleases(CampaignRows[Release]):
    """The campaign's releases, the latest first."""

    serializer_class = ReleaseSerializer
    queryset = Release.objects.all()

    def rows(self) -> QuerySet[Release]:
        rows = Release.objects.of_campaign(self.campaign).select_related("campaign")
        return rows.annotate(image_count=Count("images")).order_by("-created_at", "-pk")

    @extend_schema(
        summary="Make a release",
        request=NewReleaseSerializer,
        responses={202: JobDetailSerializer},
    )
    @idempotent
    def post(self, request: Request, **_: str) -> Response:
        """Make a release in the background: a job. Refused while responses or verdicts are
        missing, unless the release is partial."""
        campaign = self.campaign
        given = {"seed": campaign.config.seed, **validated(NewReleaseSerializer, request)}
        if Release.objects.filter(name=given["name"]).exists():
            raise ReleaseRefused(name_refusal(given["name"], campaign.team))
        if not given["partial"] and (
            lacking := missing(campaign, in_all_languages=given["in_all_languages"])
        ):
            raise ReleaseRefused(f"The campaign is not complete: {'; '.join(lacking)}.")
        return accepted(begin(request, kind="release", arguments=given, about=campaign))
