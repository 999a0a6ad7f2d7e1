"""HITs of this installation that its database does not have, as after restoring a backup.

Their annotations show that they belong here. HITs of other programs are never changed.
"""

from corpora.errors import DomainError
from hits.models import MOST_ASSIGNMENTS, Hit, HitStatus, HitType
from hits.mturk.annotations import campaign_mark
from hits.mturk.replies import ListedHit
from hits.queries.costs import fee_for
from hits.reconcile.run import HIT_NAME, Done, Run
from hits.services.hit_types import ensure_hit_type
from hits.services.unclaimed import Owners


class Unknown:
    """Adopts or closes listed HITs that are not among the campaign's known ones."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.owners = Owners()
        self.mark = campaign_mark(run.campaign)

    def find(self, listed: ListedHit) -> Hit | None:
        """Return the campaign's row for a listed HIT, created if it is missing.

        Return None if the HIT does not belong to this campaign, or if this fails, which is
        recorded. A HIT of this installation that no campaign claims is expired.
        """
        annotation = self.owners.annotation(listed)
        if annotation is None:
            return None
        with self.run.alone(HIT_NAME(listed.hit_id)):
            if annotation.campaign == self.mark:
                return self._known(listed, annotation.token) or self._adopt(
                    listed, annotation.token
                )
            if self.owners.is_unclaimed(listed):
                self.run.marketplace.expire_hit(listed.hit_id)
                self.run.done[Done.CLOSED] += 1
        return None

    def _known(self, listed: ListedHit, token: str) -> Hit | None:
        """Return the row of a HIT that another sync stored after this one began, or None.

        A HIT that is marked as retired or gone is marked as open, because it still exists.
        """
        hits = self.run.campaign.hits
        known = hits.filter(hit_id=listed.hit_id).first()
        if known is None:
            return hits.filter(token=token, status=HitStatus.PLANNED).first()
        given_up = Hit.objects.filter(pk=known.pk, status__in=[HitStatus.RETIRED, HitStatus.GONE])
        if given_up.update(status=HitStatus.OPEN, paid=None):
            self.run.done[Done.ADOPTED] += 1
            known.status = HitStatus.OPEN
        return known

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
        fields = {
            "campaign": campaign,
            "hit_type": self._type(listed),
            # The marketplace forgets a token after a day, so a second HIT may have the same one.
            "token": f"{token[:31]}+{listed.hit_id[:32]}" if _is_used(token) else token,
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
        found = campaign.hit_types.filter(hit_type_id=hit_type_id).first()
        if found is not None:
            return found
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


def _is_used(token: str) -> bool:
    return Hit.objects.filter(token=token).exists()
