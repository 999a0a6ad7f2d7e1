"""What our commands share: errors in one line, and finding things by name."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.config import CampaignFileError
from annotate.errors import DomainError
from annotate.models import Campaign, Release


class DomainCommand(BaseCommand):
    """A command whose domain errors end it with their sentence and exit status 1."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except (DomainError, CampaignFileError) as error:
            raise CommandError(str(error)) from error


def campaign_named(slug: str) -> Campaign:
    """The campaign; raises CommandError with the names there are."""
    return _named(Campaign, "slug", slug, "campaign")


def release_named(name: str) -> Release:
    """The release; raises CommandError with the names there are."""
    return _named(Release, "name", name, "release")


def _named(model: Any, field: str, value: str, noun: str) -> Any:
    found = model.objects.filter(**{field: value}).first()
    if found is None:
        names = ", ".join(model.objects.values_list(field, flat=True)[:20]) or "there is none yet"
        raise CommandError(f"No {noun} is called {value!r} ({names}).")
    return found
