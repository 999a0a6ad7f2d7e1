"""API views of challenges, submissions and boards, for submitters and researchers."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.api.permissions import WithinScope
from annotate.pages.signed_in import user_of
from leaderboard.api.serializers import (
    ChallengeDetailSerializer,
    ChallengeSerializer,
    RowSerializer,
    SubmissionSerializer,
    UploadSerializer,
)
from leaderboard.models import Challenge, Submission, Track
from leaderboard.pages.boards import may_see_board
from leaderboard.pages.challenges import ask_for_scores, visible_to
from leaderboard.queries.boards import board_of
from leaderboard.queries.images import image_list
from leaderboard.services.submissions import Declaration, submit
from leaderboard.uploads import read_upload


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


class Submissions(ListAPIView[Submission]):
    """The user's own submissions to a challenge, latest first; POST makes another one."""

    permission_classes = [WithinScope]
    parser_classes = [MultiPartParser]
    serializer_class = SubmissionSerializer

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return Submission.objects.none()
        challenge = challenge_for(self.request, self.kwargs["name"])
        return Submission.objects.of(self.request.user).filter(challenge=challenge)  # type: ignore[arg-type]

    @extend_schema(
        operation_id="challenges_submit",
        request={"multipart/form-data": UploadSerializer},
        responses={201: SubmissionSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        """Submit a results file. A file with a mistake gets status 409 and does not count."""
        challenge = challenge_for(request, name)
        form = UploadSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        submission = submit(
            challenge=challenge,
            submitter=user_of(request._request),
            declaration=Declaration(
                track=given["track"],
                method=given["method"],
                training_data=given["training_data"],
            ),
            upload=read_upload(given["file"]),
            at=timezone.now(),
        )
        ask_for_scores()
        return Response(SubmissionSerializer(submission).data, status=status.HTTP_201_CREATED)


class SubmissionDetail(RetrieveAPIView[Submission]):
    """One of the user's own submissions."""

    permission_classes = [WithinScope]
    serializer_class = SubmissionSerializer

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return Submission.objects.none()
        challenge = challenge_for(self.request, self.kwargs["name"])
        return Submission.objects.of(self.request.user).filter(challenge=challenge)  # type: ignore[arg-type]


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
        track = Track.EXTRA if asked == Track.EXTRA else Track.PLAIN
        return Response(RowSerializer(board_of(challenge, track=track).rows, many=True).data)
