"""HITs with this installation's annotation that belong to none of its published campaigns."""

from functools import cached_property

from django.conf import settings

from annotate.models import Campaign, CampaignStatus
from hits.models import Installation
from hits.mturk.annotations import Annotation, campaign_mark, installation_name
from hits.mturk.client import Marketplace
from hits.mturk.endpoints import endpoint_of
from hits.mturk.replies import ListedHit
from hits.queries.settled import published


class Owners:
    """Finds the campaign of a HIT by the HIT's annotation."""

    @cached_property
    def installation(self) -> str:
        return installation_name()

    @cached_property
    def published(self) -> set[str]:
        """The marks of the campaigns that may have HITs."""
        campaigns = Campaign.objects.exclude(status=CampaignStatus.DRAFT)
        return {campaign_mark(each) for each in campaigns.only("slug", "created_at")}

    def annotation(self, listed: ListedHit) -> Annotation | None:
        """Return the HIT's annotation; None if another program or installation created the HIT."""
        annotation = Annotation.read(listed.annotation)
        is_ours = annotation is not None and annotation.installation == self.installation
        return annotation if is_ours else None

    def is_unclaimed(self, listed: ListedHit) -> bool:
        """Return whether the HIT is open, but its campaign is missing here or is a draft.

        Such a HIT was created after the backup from which this database was restored.
        """
        annotation = self.annotation(listed)
        return (
            annotation is not None
            and not listed.is_closed
            and annotation.campaign not in self.published
        )


def close_without_campaigns() -> int:
    """Close the unclaimed HITs if no campaign is published; return their number.

    Raises DomainError. Such HITs exist after an early backup was restored. Otherwise the sync of
    any campaign closes them.
    """
    if published().exists():
        return 0
    return close_unclaimed(Marketplace(endpoint_of(settings.MTURK_ENDPOINT)))


def close_unclaimed(marketplace: Marketplace) -> int:
    """Expire the unclaimed HITs of the account and return their number. Raises MarketplaceError.

    The marketplace's automatic approval pays their submissions.
    """
    if not Installation.objects.exists():
        return 0  # This database has never created a HIT.
    owners, closed = Owners(), 0
    for listed in marketplace.hits():
        if owners.is_unclaimed(listed):
            marketplace.expire_hit(listed.hit_id)
            closed += 1
    return closed
