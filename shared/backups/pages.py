"""The page on which operators see when the site was backed up, and how to restore it."""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.views.generic import TemplateView

from shared.backups.models import BackupRun

SHOWN = 10
# Backups are to be made daily; the time of day may vary.
LATE = timedelta(hours=30)


class BackupsView(TemplateView):
    """The latest backups. Each site names its template and its commands, and lets operators in."""

    backup = restore = ""

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        # Not by their times: a clock that was ahead would stay the latest.
        runs = BackupRun.objects.order_by("-pk")
        good = runs.filter(error="").first()
        return {
            **super().get_context_data(**given),
            "runs": runs[:SHOWN],
            "good": good,
            "is_late": good is not None and abs(timezone.now() - good.ended_at) > LATE,
            "backup": self.backup,
            "restore": self.restore,
        }
