"""The operators' page of the requester site's backups."""

from typing import Any

from django.conf import settings
from django.contrib.auth.mixins import UserPassesTestMixin

from shared.backups.pages import BackupsView


class BackupsPage(UserPassesTestMixin, BackupsView):
    """Shows the latest backups to operators (superusers); all others get a 403."""

    template_name = "background/backups.html"
    backup, restore = "backup", "restore"
    raise_exception = True
    permission_denied_message = "Only operators of this site see its backups."

    def test_func(self) -> bool:
        return bool(self.request.user.is_superuser)

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        # An address of Amazon's has no such page, and one that is not known may have none.
        is_local = settings.MTURK_ENDPOINT == "local"
        page = f"{settings.MARKETPLACE_URL}/operator/backups" if is_local else ""
        return super().get_context_data(marketplace=page, **given)
