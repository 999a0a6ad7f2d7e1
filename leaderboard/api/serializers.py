"""What the API says of challenges, submissions and boards."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from leaderboard.models import Challenge, Submission, Track
from leaderboard.queries.allowances import allowance_of
from leaderboard.queries.boards import figures_of


class AllowanceSerializer(serializers.Serializer[Any]):
    """The limits, and how much of them the user has used."""

    per_day = serializers.IntegerField()
    in_total = serializers.IntegerField()
    used_today = serializers.IntegerField()
    used = serializers.IntegerField()
    left = serializers.IntegerField(help_text="submissions that are possible now")
    resets_at = serializers.DateTimeField(help_text="when the count of the day starts again")


class ChallengeSerializer(serializers.ModelSerializer[Challenge]):
    """A challenge with its rules."""

    tracks = serializers.SerializerMethodField()

    class Meta:
        model = Challenge
        fields = [
            "name",
            "title",
            "description",
            "tracks",
            "plain_data",
            "metrics",
            "tokeniser",
            "opens_at",
            "closes_at",
            "is_published",
        ]

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(Track.choices)))
    def get_tracks(self, challenge: Challenge) -> list[str]:
        return list(Track.values) if challenge.has_extra_track else [Track.PLAIN.value]


class ChallengeDetailSerializer(ChallengeSerializer):
    """A challenge with its rules, and the user's limits."""

    limits = serializers.SerializerMethodField()

    class Meta:
        model = Challenge
        fields = [*ChallengeSerializer.Meta.fields, "limits"]

    @extend_schema_field(AllowanceSerializer)
    def get_limits(self, challenge: Challenge) -> dict[str, Any]:
        user, at = self.context["request"].user, self.context["at"]
        return dict(AllowanceSerializer(allowance_of(challenge, user, at=at)).data)


class SubmissionSerializer(serializers.ModelSerializer[Submission]):
    """A submission with its state; `scores` has means over all images and over subsets."""

    scores = serializers.JSONField(
        read_only=True, allow_null=True, help_text="null until the submission is scored"
    )

    class Meta:
        model = Submission
        fields = [
            "id",
            "track",
            "method",
            "training_data",
            "sha256",
            "status",
            "created_at",
            "ended_at",
            "scores",
            "log",
            "withdrawn_because",
        ]


class UploadSerializer(serializers.Serializer[Any]):
    """A results file, and what its submitter says about it."""

    file = serializers.FileField(help_text="JSON, or a ZIP archive of one JSON file, up to 10 MB")
    method = serializers.CharField(max_length=100)
    track = serializers.ChoiceField(choices=Track.choices)
    training_data = serializers.CharField(max_length=2000)


class RowSerializer(serializers.Serializer[Any]):
    """A row of a board."""

    rank = serializers.IntegerField(allow_null=True, help_text="null for the human baseline")
    method = serializers.CharField(source="submission.method")
    team = serializers.CharField()
    training_data = serializers.CharField(source="submission.training_data")
    submitted_at = serializers.DateTimeField(source="submission.created_at")
    figures = serializers.SerializerMethodField(help_text="means by metric")
    subsets = serializers.SerializerMethodField(help_text="means by subset and metric")

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_figures(self, row: Any) -> dict[str, float]:
        return figures_of(row.submission)

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_subsets(self, row: Any) -> dict[str, dict[str, float]]:
        return dict(row.submission.scores["subsets"])
