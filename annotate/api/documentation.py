"""Pages that show the API's schema and send requests."""

from typing import Any

from django.contrib.auth.views import redirect_to_login
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.settings import api_settings

from annotate.pages.views import forbidden


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
