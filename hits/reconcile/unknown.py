"""HITs of this installation that its database does not have, usually after restoring a backup.

Their annotations show that they belong here. HITs of other programs are never changed.
"""

from functools import cached_property

from django.conf import settings

from corpora.errors import DomainError
from hits.models import MOST_ASSIGNMENTS, Hit, HitStatus, HitType, Installation
from hits.mturk.client import Marketplace
from hits.mturk.endpoints import endpoint_of
from hits.mturk.hit_texts import Annotation, campaign_mark, installation_name
from hits.mturk.replies import ListedHit
from hits.queries.costs import fee_for
from hits.queries.settled import published
from hits.reconcile.hit_types import ensure_hit_type
from hits.reconcile.run import Done, Run, hit_name


class UnknownHits:
    """Adopts or closes listed HITs that are not among the campaign's known ones."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.owners = Owners()
        self.mark = campaign_mark(run.campaign)

    def find(self, listed: ListedHit) -> Hit | None:
        """The campaign's row for a listed HIT, created if it is missing.

        Return None if the HIT does not belong to this campaign, or if this fails, which is
        recorded. A HIT of this installation that no campaign claims is expired.
        """
        annotation = self.owners.annotation(listed)
        if annotation is None:
            return None
        with self.run.alone(hit_name(listed.hit_id)):
            if annotation.campaign == self.mark:
                token = annotation.token
                return self._known(listed, token) or self._adopt(listed, token)
            if self.owners.is_unclaimed(listed):
                self.run.marketplace.expire_hit(listed.hit_id)
                self.run.done[Done.CLOSED] += 1
        return None

    def _known(self, listed: ListedHit, token: str) -> Hit | None:
        """The row of a HIT that another sync stored after this one began, or None.

        A HIT that is marked as retired or gone is marked as open, because it still exists.
        """
        hits = self.run.campaign.hits
        hit = hits.filter(hit_id=listed.hit_id).first()
        if hit is None:
            return hits.filter(token=token, status=HitStatus.PLANNED).first()
        given_up = Hit.objects.filter(pk=hit.pk, status__in=[HitStatus.RETIRED, HitStatus.GONE])
        if given_up.update(status=HitStatus.OPEN, paid=None):
            self.run.done[Done.ADOPTED] += 1
            hit.status = HitStatus.OPEN
        return hit

    def _adopt(self, listed: ListedHit, token: str) -> Hit:
        """Create a row for a HIT without one. All its slots count as free until it is read.

        Raises DomainError if the HIT has more assignments than this site ever requests.
        """
        if not 1 <= listed.max_assignments <= MOST_ASSIGNMENTS:
            raise DomainError(
                f"It has {listed.max_assignments} assignments; the HITs of this site "
                "never have so many."
            )
        campaign, config = self.run.campaign, self.run.campaign.config
        reward = config.hit.reward if listed.reward is None else listed.reward
        is_used = Hit.objects.filter(token=token).exists()
        fields = {
            "campaign": campaign,
            "hit_type": self._type(listed),
            # The marketplace forgets a token after a day, so a second HIT may have the same one.
            "token": f"{token[:31]}+{listed.hit_id[:32]}" if is_used else token,
            "status": HitStatus.OPEN,
            "slots": listed.max_assignments,
            "available": listed.max_assignments,
            "reward": reward,
            "fee": fee_for(reward, listed.max_assignments, masters=config.workers.masters),
            "planned_at": listed.created_at or self.run.at,
            "expires_at": listed.expires_at,
        }
        hit, is_new = Hit.objects.get_or_create(hit_id=listed.hit_id, defaults=fields)
        self.run.done[Done.ADOPTED] += is_new
        return hit

    def _type(self, listed: ListedHit) -> HitType:
        campaign, hit_type_id = self.run.campaign, listed.hit_type_id
        if not hit_type_id or not campaign.hit_types.exists():
            own = ensure_hit_type(campaign, self.run.marketplace, at=self.run.at)
            if hit_type_id in (None, own.hit_type_id):
                return own
        hit_type = campaign.hit_types.filter(hit_type_id=hit_type_id).first()
        if hit_type is not None:
            return hit_type
        exclusion_type_id = campaign.hit_types.earliest("pk").exclusion_type_id
        return HitType.objects.get_or_create(
            campaign=campaign,
            hit_type_id=hit_type_id,
            defaults={
                "exclusion_type_id": exclusion_type_id,
                "reward": listed.reward,
                "created_at": self.run.at,
            },
        )[0]


class Owners:
    """Finds the campaign of a HIT by the HIT's annotation."""

    def __init__(self) -> None:
        self.published: set[str] = set()

    @cached_property
    def installation(self) -> str:
        return installation_name()

    def annotation(self, listed: ListedHit) -> Annotation | None:
        """The HIT's annotation; None if another program or installation created the HIT."""
        annotation = Annotation.read(listed.annotation)
        is_ours = annotation is not None and annotation.installation == self.installation
        return annotation if is_ours else None

    def is_unclaimed(self, listed: ListedHit) -> bool:
        """Whether the HIT is open, but its campaign is missing here or is a draft.

        Such a HIT was created after the backup from which this database was restored.
        """
        annotation = self.annotation(listed)
        if annotation is None or listed.is_closed:
            return False
        if annotation.campaign not in self.published:
            # One may have been published during the listing.
            campaigns = published().only("slug", "created_at")
            self.published = {campaign_mark(campaign) for campaign in campaigns}
        return annotation.campaign not in self.published


def close_without_campaigns() -> int:
    """Close the unclaimed HITs if no campaign is published; return their number.

    Raises DomainError. Such HITs exist after an early backup was restored. Otherwise the sync of
    any campaign closes them. The marketplace's automatic approval pays their submissions.
    """
    if published().exists() or not Installation.objects.exists():
        return 0  # Without an installation, this database has never created a HIT.
    marketplace = Marketplace(endpoint_of(settings.MTURK_ENDPOINT))
    owners, closed = Owners(), 0
    for listed in marketplace.hits():
        if owners.is_unclaimed(listed):
            marketplace.expire_hit(listed.hit_id)
            closed += 1
    return closed
