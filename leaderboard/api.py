"""The API of the evaluation server: challenges, submissions and boards."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.access import WithinScope
from accounts.api.strict import APIView, ListAPIView, RetrieveAPIView, validated
from annotate.api.lookups import account_of
from leaderboard.access import may_see_board, visible_to
from leaderboard.models import Challenge, Submission, Track
from leaderboard.queries import allowance_of, board_of, figures_of, image_list
from leaderboard.services.submissions import submit
from leaderboard.tasks import ask_for_scores


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

    rank = serializers.IntegerField(
        allow_null=True,
        help_text="equal figures have one rank; null for the human baseline, and without a figure",
    )
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


def challenge_for(request: Request, name: str) -> Challenge:
    """The challenge, if the user may see it; raises Http404."""
    return get_object_or_404(visible_to(request.user, timezone.now()), name=name)


class ChallengeList(ListAPIView[Challenge]):
    """Challenges, latest first."""

    permission_classes = [WithinScope]
    serializer_class = ChallengeSerializer

    def get_queryset(self) -> Any:
        return visible_to(self.request.user, timezone.now()).order_by("-opens_at", "-pk")


class ChallengeDetail(RetrieveAPIView[Challenge]):
    """A challenge, with the user's limits."""

    permission_classes = [WithinScope]
    serializer_class = ChallengeDetailSerializer
    lookup_field = "name"

    def get_queryset(self) -> Any:
        return visible_to(self.request.user, timezone.now())

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "at": timezone.now()}


class ImageList(APIView):
    """The images of a challenge, without captions."""

    permission_classes = [WithinScope]

    @extend_schema(
        operation_id="challenges_images", responses={(200, "application/json"): OpenApiTypes.OBJECT}
    )
    def get(self, request: Request, name: str) -> Response:
        """All images with their ids, sizes and addresses."""
        return Response({"images": list(image_list(challenge_for(request, name)))})


class OwnSubmissions(GenericAPIView[Submission]):
    """The user's own submissions to a challenge."""

    permission_classes = [WithinScope]
    serializer_class = SubmissionSerializer

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return Submission.objects.none()
        challenge = challenge_for(self.request, self.kwargs["name"])
        return Submission.objects.of(self.request.user).filter(challenge=challenge)  # type: ignore[arg-type]


class Submissions(OwnSubmissions, ListAPIView[Submission]):
    """The user's own submissions to a challenge, latest first; POST makes another one."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="challenges_submit",
        request={"multipart/form-data": UploadSerializer},
        responses={201: SubmissionSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        """Submit a results file. A file with a mistake gets status 409 and does not count."""
        challenge = challenge_for(request, name)
        given = validated(UploadSerializer, request)
        submission = submit(
            challenge=challenge, submitter=account_of(request), at=timezone.now(), **given
        )
        ask_for_scores()
        return Response(SubmissionSerializer(submission).data, status=status.HTTP_201_CREATED)


class SubmissionDetail(OwnSubmissions, RetrieveAPIView[Submission]):
    """One of the user's own submissions."""


class BoardView(APIView):
    """The board of a challenge."""

    permission_classes = [WithinScope]

    @extend_schema(
        operation_id="challenges_board",
        parameters=[OpenApiParameter("track", str, enum=Track.values)],
        responses=RowSerializer(many=True),
    )
    def get(self, request: Request, name: str) -> Response:
        """The rows of one track, the best first. Status 404 while the board is private."""
        challenge = challenge_for(request, name)
        if not may_see_board(request.user, challenge):
            raise Http404("This board is private.")
        asked = request.query_params.get("track")
        if asked not in (None, *Track.values):
            raise ValidationError({"track": [f"Use one of {', '.join(Track.values)}."]})
        track = Track(asked or Track.PLAIN)
        return Response(RowSerializer(board_of(challenge, track=track).rows, many=True).data)


CHALLENGE = "challenges/<slug:name>/"
SUBMISSIONS = f"{CHALLENGE}submissions/"

urlpatterns = [
    path("challenges/", ChallengeList.as_view(), name="api-challenge-list"),
    path(CHALLENGE, ChallengeDetail.as_view(), name="api-challenge-detail"),
    path(f"{CHALLENGE}images/", ImageList.as_view(), name="api-challenge-images"),
    path(SUBMISSIONS, Submissions.as_view(), name="api-challenge-submissions"),
    path(f"{SUBMISSIONS}<int:pk>/", SubmissionDetail.as_view(), name="api-challenge-submission"),
    path(f"{CHALLENGE}board/", BoardView.as_view(), name="api-challenge-board"),
]
