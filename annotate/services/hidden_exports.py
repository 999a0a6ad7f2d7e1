"""The log of exports of hidden captions."""

from datetime import datetime

from django.contrib.auth.models import User

from annotate.errors import DomainError
from annotate.models import HiddenExport, Release


def log_hidden_export(*, release: Release, actor: User, at: datetime) -> HiddenExport:
    """Log that this person is about to export the release's hidden captions.

    Raises DomainError if the release hides nothing.
    """
    if release.hidden is None:
        raise DomainError(f"Release {release} hides no captions. Export it without --hidden.")
    return HiddenExport.objects.create(release=release, actor=actor, at=at)
