"""URLs of the page on which a user chooses notices."""

from django.urls import path

from background.pages import notices

app_name = "notices"

urlpatterns = [path("", notices.notices, name="notices")]
