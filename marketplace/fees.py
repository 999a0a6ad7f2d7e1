"""The fees of payments, in exact decimals. Does not use Django."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True)
class FeeSchedule:
    share: Decimal
    large_hit_share: Decimal
    large_hit_assignments: int
    least: Decimal
    masters_share: Decimal = Decimal(0)

    def for_assignment(
        self, reward: Decimal, *, max_assignments: int, wants_masters: bool = False
    ) -> Decimal:
        """The fee for one assignment of a HIT in dollars; 0 if the reward is 0."""
        share = self.share
        if max_assignments >= self.large_hit_assignments:
            share += self.large_hit_share
        if wants_masters:
            share += self.masters_share
        return self._fee(reward, share)

    def for_bonus(self, amount: Decimal) -> Decimal:
        """The fee for one bonus in dollars."""
        return self._fee(amount, self.share)

    def _fee(self, amount: Decimal, share: Decimal) -> Decimal:
        if amount == 0:
            return Decimal("0.00")
        return max((amount * share).quantize(CENT, ROUND_HALF_UP), self.least)
