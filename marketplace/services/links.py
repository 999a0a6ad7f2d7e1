"""Signed links of another site, each valid for one sign-in."""

from datetime import datetime

from django.db import IntegrityError, transaction

from marketplace.errors import LinkRefused
from marketplace.models import UsedLink


def use_link(*, signature: str, expires_at: datetime) -> None:
    """Record the link as used; raises LinkRefused if it was used before."""
    try:
        with transaction.atomic():
            UsedLink.objects.create(signature=signature, expires_at=expires_at)
    except IntegrityError as error:
        raise LinkRefused(
            "This link has already been used. Go back and follow a new one."
        ) from error
