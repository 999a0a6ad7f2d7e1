"""Collect a campaign's answers: workers and reviewer take turns until the campaign is complete."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils import timezone
from tqdm import tqdm

from annotate.errors import DomainError
from annotate.models import Campaign
from annotate.services.campaigns import progress
from annotate.services.releases import missing
from hits.reconcile.reconciler import reconcile
from hits.services.lifecycle import publish
from qualcontrol.queries.quality_report import quality_report
from simulation.reviewer import review
from simulation.stages.clock import Clock
from simulation.workers.crowd import Crowd, Member, Outcome, Plan

# Limit against an endless loop; runs have needed less than half as many.
MOST_ROUNDS = 12


class CampaignStuck(DomainError):
    """The campaign could not be completed."""


@dataclass(frozen=True)
class Collection:
    """A campaign with its simulated workers and reviewer; `verb` describes what the workers do."""

    campaign: Campaign
    crowd: Sequence[Member]
    reviewer: User
    seed: int
    clock: Clock
    verb: str

    def publish(self) -> None:
        with self.clock("Publish") as notes:
            publish(campaign=self.campaign, actor=None, at=timezone.now())
            notes.append(f"{reconcile(self.campaign).hits_created} HITs at the marketplace")

    def collect(self) -> None:
        """Let workers and reviewer take turns until all answers are there; raises CampaignStuck."""
        for number in range(1, MOST_ROUNDS + 1):
            with self.clock(f"Workers {self.verb}, round {number}") as notes:
                outcome = self._work(self._most(number))
                notes.append(work_summary(outcome))
            with self.clock(f"Read and review, round {number}") as notes:
                opened = self._review(notes)
            if not missing(self.campaign):
                return
            # Without submissions, go on only if the sync created HITs for places that had been
            # claimed without a response.
            if not outcome.total and not opened:
                break
        lines = ["Answers are still missing:", *missing(self.campaign)]
        raise CampaignStuck("\n".join(lines))

    def _most(self, number: int) -> int | None:
        """Limit of the first round, so that careless workers are found early."""
        wanted, images = progress(self.campaign).wanted, self.campaign.config.hit.images
        return max(1, wanted // images // 2) if number == 1 else None

    def _work(self, most: int | None) -> Outcome:
        group = self.campaign.hit_types.get().hit_type_id
        plan = Plan(group=group, seed=self.seed, most_assignments=most)
        with tqdm(total=most, unit=" HITs", disable=None, leave=False) as bar:
            return Crowd(self.crowd, plan, bar.update).work()

    def _review(self, notes: list[str]) -> int:
        """Ingest and judge submissions; return the number of new HITs."""
        ingested = reconcile(self.campaign)
        done = review(campaign=self.campaign, reviewer=self.reviewer, at=timezone.now())
        replaced = reconcile(self.campaign)
        opened = ingested.hits_created + replaced.hits_created
        notes.append(
            f"{ingested.ingested} read, {ingested.approved + replaced.approved} paid, "
            f"{done.judged} checked, {done.bad} bad, {done.excluded} excluded, "
            f"{opened} HITs opened"
        )
        return opened


def work_summary(outcome: Outcome) -> str:
    """One line about what the workers did, including errors."""
    errors = "".join(f", {n} × {error}" for error, n in outcome.errors.most_common(3))
    return (
        f"{outcome.total} HITs by {len(outcome.submitted)} workers, "
        f"{outcome.corrected} answers corrected, {outcome.returned} HITs returned{errors}"
    )


def quality_summary(campaign: Campaign) -> str:
    """One line about the results of quality control."""
    found = quality_report(campaign)
    excluded = campaign.exclusions.in_force().count()
    estimate = found.estimate
    return (
        f"{found.good + found.bad} checks found {found.bad} bad, {excluded} excluded; of "
        f"{found.kept} answers kept {estimate.share:.1%} are bad ({estimate.low:.1%} to "
        f"{estimate.high:.1%})"
    )
