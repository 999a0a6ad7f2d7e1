"""What this app adds to the marketplace."""

from django.urls import path

from marketplace.extensions import Extension, register
from marketplace.panels import arrivals, operator_pages
from marketplace.panels.services import amounts, rounds, submissions

register(
    Extension(
        urls=[path("panels/prolific/hook", arrivals.prolific_hook, name="prolific_hook")],
        operator_urls=[
            path("studies/<slug:slug>/panel", operator_pages.study_at_panel, name="study_at_panel"),
            path(
                "studies/<slug:slug>/panel/study",
                operator_pages.panel_study_action,
                name="panel_study_action",
            ),
            path(
                "studies/<slug:slug>/panel/submissions/<int:pk>",
                operator_pages.panel_submission_action,
                name="panel_submission_action",
            ),
            path(
                "studies/<slug:slug>/panel/batches/<int:pk>",
                operator_pages.panel_batch_action,
                name="panel_batch_action",
            ),
        ],
        steps=[rounds.follow],
        check_arrival=arrivals.check_arrival,
        credits=amounts.credits_by_panel,
        obstacle_to_erasure=amounts.obstacle_to_erasure,
        undecided=amounts.undecided,
        data_of=submissions.data_of,
    )
)
