"""The site's URLs. The API and the list of HITs share the root and differ by HTTP method."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from marketplace.api import hooks
from marketplace.api.dispatch import api
from marketplace.extensions import extensions
from marketplace.pages import (
    accounts,
    frames,
    hits,
    people,
    problems,
    qualifications,
    statements,
    studies,
)
from shared.health import check_database, check_migrations, healthz, readiness
from shared.metrics import metrics


@csrf_exempt
def root(request: HttpRequest) -> HttpResponseBase:
    """Handle API calls on POST, and show the list of HITs on GET."""
    if request.method in ("GET", "HEAD"):
        return hits.groups(request)
    if request.method == "POST":
        return api(request)
    return problems.wrong_method(request, ["GET", "HEAD", "POST"])


readyz = readiness({"database": check_database, "migrations": check_migrations})

handler400 = "marketplace.pages.problems.bad_request"
handler404 = "marketplace.pages.problems.not_found"
handler500 = "marketplace.pages.problems.server_error"

urlpatterns = [
    path("", root, name="groups"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("sign-in", accounts.sign_in, name="sign_in"),
    path("sign-in/<str:token>", accounts.sign_in_by_link, name="sign_in_by_link"),
    path("sign-out", accounts.sign_out, name="sign_out"),
    path("sign-up", accounts.sign_up, name="sign_up"),
    path("invitations/<str:token>", accounts.invitation, name="invitation"),
    path("sso", accounts.sso, name="sso"),
    path("profile", accounts.profile, name="profile"),
    path("profile/country", accounts.set_country, name="set_country"),
    path("profile/adult", accounts.set_adult, name="set_adult"),
    path("profile/password", accounts.set_password, name="set_password"),
    path("profile/sign-out", accounts.sign_out_everywhere, name="sign_out_everywhere"),
    path("join/<slug:slug>", studies.join, name="join"),
    path("studies/<slug:slug>", studies.detail, name="study"),
    path("studies/<slug:slug>/next", studies.go_on, name="study_next"),
    path("studies/<slug:slug>/attention", studies.answer_attention_check, name="study_attention"),
    path("studies/<slug:slug>/screening", studies.screen, name="study_screening"),
    path("studies/<slug:slug>/complete", studies.complete, name="study_complete"),
    path("groups/<str:hit_type_id>/preview", hits.preview, name="preview"),
    path("groups/<str:hit_type_id>/accept", hits.accept, name="accept"),
    path("assignments/<str:assignment_id>", hits.assignment, name="assignment"),
    path("assignments/<str:assignment_id>/return", hits.give_back, name="return"),
    path("frames/<str:hit_id>", frames.question, name="question_frame"),
    # Amazon's URLs of a group or a search, as clients print them.
    path("mturk/preview", hits.group_link, name="group_link"),
    path("mturk/previewandaccept", hits.group_link, name="group_link_accept"),
    path("projects", hits.search_link, name="projects"),
    path("projects/<str:group_id>/tasks", hits.group_link, name="project"),
    path("projects/<str:group_id>/tasks/accept_random", hits.group_link, name="project_accept"),
    path("mturk/externalSubmit", frames.external_submit, name="external_submit"),
    path("test/clock", hooks.set_clock, name="set_clock"),
    path("test/faults", hooks.set_faults, name="set_faults"),
    path("test/settings", hooks.set_settings, name="set_settings"),
    path("test/requesters", hooks.make_requester, name="make_requester"),
    path("test/workers", hooks.make_worker, name="make_worker"),
    path("people/", include("marketplace.api.people")),
    path("queue", hits.queue, name="queue"),
    path("qualifications/<str:public_id>", qualifications.detail, name="qualification"),
    path("qualifications/<str:public_id>/request", qualifications.ask, name="ask"),
    path("qualifications/<str:public_id>/test", qualifications.hand_in, name="hand_in"),
    path("auto-accept", hits.auto_accept, name="auto_accept"),
    path("earnings", statements.earnings, name="earnings"),
    path("earnings/<int:year>-<int:month>", statements.statement, name="statement"),
    path("earnings/<int:year>-<int:month>.csv", statements.statement_csv, name="statement_csv"),
    path("messages", hits.worker_messages, name="messages"),
    path("welcome/<str:token>", people.welcome, name="people_welcome"),
    path("stop-mail/<str:token>", people.stop_mail, name="people_stop_mail"),
    path("home", people.home, name="people_home"),
    path("home/groups/<int:pk>/agreement", people.agree, name="people_agree"),
    path("home/groups/<int:pk>/withdrawal", people.withdraw, name="people_withdraw"),
    path("home/next/<int:pk>", people.next_task, name="people_next"),
    path("home/tasks/<str:assignment_id>", people.task, name="people_task"),
    path("home/tasks/<str:assignment_id>/return", people.give_back, name="people_return"),
    path("home/done", people.done, name="people_done"),
    path("home/messages", people.letters, name="people_messages"),
    path("home/account", people.account, name="people_account"),
    path("operator/", include("marketplace.operator.urls")),
    *(pattern for extension in extensions() for pattern in extension.urls),
]
