"""URLs of the evaluation server's pages."""

from django.urls import path

from leaderboard.pages import challenges, management

app_name = "leaderboard"

urlpatterns = [
    path("", challenges.challenges, name="challenges"),
    path("new/", management.new, name="new"),
    path("sign-up/", challenges.sign_up, name="sign_up"),
    path("<slug:name>/", challenges.challenge, name="challenge"),
    path("<slug:name>/images.json", challenges.images, name="images"),
    path("<slug:name>/board/", challenges.board, name="board"),
    path("<slug:name>/manage/", management.manage, name="manage"),
    path("<slug:name>/manage/board/", management.publish, name="publish"),
    path("<slug:name>/manage/closing/", management.closing, name="closing"),
    path("<slug:name>/manage/limits/", management.limits, name="limits"),
    path("<slug:name>/manage/submissions.csv", management.table, name="csv"),
    path("<slug:name>/manage/<int:pk>/withdraw/", management.withdraw, name="withdraw"),
    path("<slug:name>/manage/<int:pk>/score/", management.score_again, name="score_again"),
]
