"""The RequesterAnnotation of our HITs: the installation and the campaign that a HIT belongs to.

An account at the marketplace may also have HITs of other programs and of other installations of
this program. The annotation therefore contains the name of the installation (a random name stored
in its database), the campaign, and the token of the HIT.
"""

from dataclasses import dataclass
from typing import Self

from annotate.models import Campaign
from hits.models import Hit, Installation

SEPARATOR = ":"


@dataclass(frozen=True)
class Annotation:
    """The installation, campaign and token of a HIT.

    The campaign is given by its name and its time of creation, since a name may be used again.
    """

    installation: str
    campaign: str
    token: str

    @classmethod
    def of(cls, hit: Hit, installation: str) -> Self:
        return cls(installation, campaign_mark(hit.campaign), hit.token)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Parse a HIT's annotation; return None if it has another form."""
        parts = text.split(SEPARATOR)
        return cls(*parts) if len(parts) == 3 and all(parts) else None

    def __str__(self) -> str:
        return SEPARATOR.join([self.installation, self.campaign, self.token])


def campaign_mark(campaign: Campaign) -> str:
    """Return the campaign's name and time of creation. They never contain SEPARATOR."""
    return f"{campaign.slug}@{campaign.created_at:%Y%m%d%H%M%S}"


def installation_name() -> str:
    """Return the random name of this database, and create it at the first call.

    A copy of the database has the same name.
    """
    return Installation.objects.get_or_create(pk=Installation.ONLY)[0].name
