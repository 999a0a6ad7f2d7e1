"""HITs with this database's own annotation that no published campaign of it claims."""

from functools import cached_property

from annotate.models import Campaign, CampaignStatus
from hits.models import Installation
from hits.mturk.annotations import Annotation, campaign_mark, installation_name
from hits.mturk.client import Marketplace
from hits.mturk.replies import ListedHit


class Owners:
    """Tells whose a HIT is by its annotation."""

    @cached_property
    def installation(self) -> str:
        return installation_name()

    @cached_property
    def published(self) -> set[str]:
        """The marks of the campaigns that may have HITs."""
        campaigns = Campaign.objects.exclude(status=CampaignStatus.DRAFT)
        return {campaign_mark(each) for each in campaigns.only("slug", "created_at")}

    def annotation(self, listed: ListedHit) -> Annotation | None:
        """What the HIT's annotation says; None if another program or installation made it."""
        annotation = Annotation.read(listed.annotation)
        is_ours = annotation is not None and annotation.installation == self.installation
        return annotation if is_ours else None

    def is_unclaimed(self, listed: ListedHit) -> bool:
        """Whether the HIT takes workers for a campaign that this database does not have, or has as
        a draft: it was made after the backup that this database was restored from."""
        annotation = self.annotation(listed)
        return (
            annotation is not None
            and not listed.is_closed
            and annotation.campaign not in self.published
        )


def close_unclaimed(marketplace: Marketplace) -> int:
    """Expire the unclaimed HITs of the account; how many there were. What was submitted to them is
    paid by the marketplace's auto-approval. Raises MarketplaceError."""
    if not Installation.objects.exists():
        return 0  # This database never made a HIT.
    owners, closed = Owners(), 0
    for listed in marketplace.hits():
        if owners.is_unclaimed(listed):
            marketplace.expire_hit(listed.hit_id)
            closed += 1
    return closed
