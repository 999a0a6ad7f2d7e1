"""URLs of challenges in the API."""

from django.urls import path

from leaderboard.api import challenges

CHALLENGE = "challenges/<slug:name>/"
SUBMISSIONS = f"{CHALLENGE}submissions/"

urlpatterns = [
    path("challenges/", challenges.ChallengeList.as_view(), name="api-challenge-list"),
    path(CHALLENGE, challenges.ChallengeDetail.as_view(), name="api-challenge-detail"),
    path(f"{CHALLENGE}images/", challenges.ImageList.as_view(), name="api-challenge-images"),
    path(SUBMISSIONS, challenges.Submissions.as_view(), name="api-challenge-submissions"),
    path(
        f"{SUBMISSIONS}<int:pk>/",
        challenges.SubmissionDetail.as_view(),
        name="api-challenge-submission",
    ),
    path(f"{CHALLENGE}board/", challenges.BoardView.as_view(), name="api-challenge-board"),
]
