"""The RequesterAnnotation of our HITs: whose they are, for whoever finds one that is not known.

An account at the marketplace may have HITs of other programs, and of other installations of this
one. So the annotation names the installation (a random name that lives in its database), the
campaign, and the token of the HIT. HITs made before carry their token alone.
"""

from dataclasses import dataclass
from typing import Self

from annotate.models import Campaign
from hits.models import Hit, Installation

SEPARATOR = ":"


@dataclass(frozen=True)
class Annotation:
    """Whose a HIT is. A campaign is meant by its name and the time it was created at, since a name
    may be used again."""

    installation: str
    campaign: str
    token: str

    @classmethod
    def of(cls, hit: Hit, installation: str) -> Self:
        return cls(installation, campaign_mark(hit.campaign), hit.token)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """What a HIT's annotation says; None for one that is not in this form."""
        parts = text.split(SEPARATOR)
        return cls(*parts) if len(parts) == 3 and all(parts) else None

    def __str__(self) -> str:
        return SEPARATOR.join([self.installation, self.campaign, self.token])


def campaign_mark(campaign: Campaign) -> str:
    """The campaign's name with its time of creation; both marks have no separator in them."""
    return f"{campaign.slug}@{campaign.created_at:%Y%m%d%H%M%S}"


def token_of(text: str) -> str:
    """The token in a HIT's annotation, of either form."""
    annotation = Annotation.read(text)
    return annotation.token if annotation else text


def installation_name() -> str:
    """The random name of this database, made at its first use; a copy has the same."""
    return Installation.objects.get_or_create(pk=Installation.ONLY)[0].name
