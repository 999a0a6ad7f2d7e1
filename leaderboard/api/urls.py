"""URLs of the evaluation server's API, under /api/challenges/."""

from django.urls import path

from leaderboard.api import views

urlpatterns = [
    path("", views.ChallengeList.as_view(), name="api-challenge-list"),
    path("<slug:name>/", views.ChallengeDetail.as_view(), name="api-challenge-detail"),
    path("<slug:name>/images/", views.ImageList.as_view(), name="api-challenge-images"),
    path("<slug:name>/submissions/", views.Submissions.as_view(), name="api-challenge-submissions"),
    path(
        "<slug:name>/submissions/<int:pk>/",
        views.SubmissionDetail.as_view(),
        name="api-challenge-submission",
    ),
    path("<slug:name>/board/", views.BoardView.as_view(), name="api-challenge-board"),
]
