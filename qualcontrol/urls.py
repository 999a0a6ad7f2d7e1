"""Addresses of the reviewer's pages."""

from django.urls import path

from qualcontrol import views

app_name = "qualcontrol"

urlpatterns = [
    path("<slug:slug>/", views.queue, name="queue"),
    path("<slug:slug>/checks/<int:pk>/", views.judge, name="judge"),
    path("<slug:slug>/workers/", views.workers, name="workers"),
    path("<slug:slug>/workers/<str:pseudonym>/", views.worker, name="worker"),
    path("<slug:slug>/workers/<str:pseudonym>/reinstate/", views.reinstate, name="reinstate"),
    path("<slug:slug>/decisions/", views.decisions, name="decisions"),
    path("<slug:slug>/releases/", views.releases, name="releases"),
]
