"""The jobs of this app: publish a campaign, sync one."""

from decimal import Decimal

from django.utils import timezone

from annotate.models import Campaign, CampaignStatus
from background.jobs.work import (
    JobFailed,
    JobInterrupted,
    JobKind,
    JobPostponed,
    Result,
    Work,
    register,
)
from corpora.wording import counted
from hits.models import Sync
from hits.mturk.connection import MarketplaceError
from hits.reconcile.reconciler import SyncBusy, reconcile, result_in_words
from hits.reconcile.run import PAYS_FOR
from hits.services.lifecycle import AMOUNTS, ChangedTerms, Terms, publish
from hits.services.syncs import PUBLISH, SYNC


def publish_campaign(work: Work) -> Result:
    """Publish the campaign, unless an earlier attempt has, and create its HITs.

    It is tried again if the marketplace fails: nothing else would publish the campaign.
    """
    try:
        return _publish(work)
    except MarketplaceError as error:
        if error.may_pass:
            raise JobInterrupted(str(error)) from error
        raise


def _publish(work: Work) -> Result:
    campaign = work.about(Campaign)
    if campaign.status != CampaignStatus.RUNNING:
        work.step("Checking the budget and the account at the marketplace")
        terms = work.arguments["terms"]
        try:
            publish(
                campaign=campaign,
                actor=work.job.asked_by,
                at=timezone.now(),
                confirmed=work.arguments["confirmed"],
                seen=Terms(**terms | {name: Decimal(terms[name]) for name in AMOUNTS}),
            )
        except ChangedTerms as error:
            # Without the amounts: who sees no money sees jobs, too.
            raise JobFailed(
                f"{campaign} was changed meanwhile: its work, cost or budget is another now. Look "
                "at them, and publish it again if you want to."
            ) from error
        work.log(f"{campaign} is running.")
    return sync_campaign(work)


def sync_campaign(work: Work) -> Result:
    """Sync the campaign once. The rest is left to the next sync, because new HITs and the syncs of
    other campaigns must not wait for thousands of payments."""
    campaign = work.about(Campaign)
    try:
        sync = reconcile(campaign, job=work, pays_for=PAYS_FOR)
    except SyncBusy as error:
        raise JobPostponed(f"{error} This one follows.") from error
    for line in [*sync.notes.splitlines(), *sync.error.splitlines()]:
        work.log(line)
    return Result(_summary(sync), url=campaign.get_absolute_url())


def _summary(sync: Sync) -> str:
    summary = f"{result_in_words(sync)}."
    if sync.has_more_to_pay:
        summary += " Further payments are due: the next sync makes them."
    if sync.problems:
        problems = counted(sync.problems, "problem")
        summary += f" {problems}: the log names them, and the next sync tries again."
    return summary


register(
    JobKind(
        name=PUBLISH,
        label="Publish",
        work=publish_campaign,
        title=lambda _arguments, campaign: f"Publish {campaign}",
        joins_running=False,
    )
)
register(
    JobKind(
        name=SYNC,
        label="Sync",
        work=sync_campaign,
        title=lambda _arguments, campaign: f"Sync {campaign}",
        is_repeatable=True,
        joins_running=False,
    )
)
