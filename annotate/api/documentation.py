"""The API's schema, and pages that show it and send requests."""

import threading
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http.response import HttpResponseBase
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.settings import api_settings

from annotate.pages.views import forbidden

# drf-spectacular keeps the view that it describes in an object that all threads share.
_describing = threading.Lock()


class SchemaView(SpectacularAPIView):
    """The API's schema. A process makes it for one request at a time."""

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with _describing:
            return super().dispatch(*args, **kwargs)


class DocumentationView(SpectacularSwaggerSplitView):
    """The API's documentation, made from its schema. All its files come from this site."""

    permission_classes: Any = api_settings.DEFAULT_PERMISSION_CLASSES
    url_name = "api-schema"
    template_name = "annotate/api_documentation.html"

    def handle_exception(self, error: Exception) -> Any:
        """Answer like the other pages, because people open this one."""
        if isinstance(error, NotAuthenticated):
            return redirect_to_login(self.request.get_full_path())
        if isinstance(error, PermissionDenied):
            return forbidden(self.request._request)
        return super().handle_exception(error)
