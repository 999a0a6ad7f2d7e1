"""Publish, pause and finish campaigns, and change published ones: the budget, the reward of new
HITs, and the share of spot checks.

Each change is decided on under the campaign's lock, which the reconciler takes to plan HITs, and is
written to the decision log in the same transaction. `actor` is None for a command.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import ValidationError

from annotate.campaign_file import CampaignConfig
from annotate.models import Campaign, CampaignDraft, CampaignStatus, Response, ResponseStatus
from annotate.services.bulk import wait_for_imports
from annotate.services.drafts import use_draft
from background.jobs.requests import request_job
from background.models import Job
from corpora.errors import DomainError
from corpora.wording import counted
from hits.models import HitType
from hits.mturk.client import marketplace_of
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import estimate, slot_cost
from hits.services.syncs import PUBLISH
from qualcontrol.models import Act, Decision, HeldPayment, SpotCheck, Verdict
from qualcontrol.review.judging import resolve_judged
from qualcontrol.services.exclusions import discard_by_file
from qualcontrol.services.flagging import flag_again
from qualcontrol.services.policies import decide
from qualcontrol.services.sampling import (
    draw_spot_checks,
    firsts_of,
    locked_sample,
    wanted_firsts,
    without_first,
)
from qualcontrol.services.worker_risks import recount_worker_risks
from shared.database.transactions import batches

PUBLISHABLE = {CampaignStatus.DRAFT: Act.PUBLISH, CampaignStatus.PAUSED: Act.CONTINUE}
MOVES = [Act.PUBLISH, Act.CONTINUE, Act.HALT, Act.FINISH]
# The largest budget in dollars: eight digits before the point.
MOST_BUDGET = Decimal(10**8 - 1)
# Responses that are looked at together for the larger random sample.
AT_ONCE = 1000
# The fields of `Terms` that are amounts of dollars.
AMOUNTS = ("reward", "cost", "budget")


class NotConfirmed(DomainError):
    """Publishing spends real money and was not confirmed."""


class CannotMove(DomainError):
    """The campaign's status, funds or held payments do not allow the change."""


class ChangedMeanwhile(DomainError):
    """The campaign was changed after the page was loaded."""


class ChangedTerms(ChangedMeanwhile):
    """The work, its cost or the budget is no longer what somebody agreed to."""


class BadAmount(DomainError):
    """The amount cannot be added to the budget."""


class BadChange(DomainError):
    """The new value is not possible."""


class Terms(NamedTuple):
    """The work and the cost that the publisher agrees to, and the state from which the campaign is
    published."""

    responses: int
    reward: Decimal
    cost: Decimal  # the estimate's total
    budget: Decimal
    status: str
    last_move: int | None  # see `last_move_of`


def terms_of(campaign: Campaign) -> Terms:
    """The terms on which the campaign would be published now."""
    work = estimate(campaign)
    last_move = last_move_of(campaign)
    return Terms(
        work.responses, work.reward, work.total, campaign.budget, campaign.status, last_move
    )


def last_move_of(campaign: Campaign) -> int | None:
    """The entry of the decision log about the latest change of status; None for a new draft."""
    moves = campaign.decisions.filter(act__in=MOVES).order_by("-pk")
    return moves.values_list("pk", flat=True).first()


def publish(
    *,
    campaign: Campaign,
    actor: User | None,
    at: datetime,
    confirmed: bool = False,
    seen: Terms | None = None,
) -> None:
    """Set a draft or paused campaign to running, so that the next sync creates its HITs.

    `seen` are the terms that the caller has agreed to; by default those of this moment. Raises
    NotConfirmed, which states the cost, if the marketplace spends real money and the caller has not
    `confirmed`; ChangedMeanwhile, CannotMove, WrongEndpoint or MarketplaceError.
    """
    read = Campaign.objects.get(pk=campaign.pk)
    seen = seen or terms_of(read)
    cost = _check_publication(campaign.pk, confirmed, seen)
    if marketplace_of(campaign).balance() < cost:
        raise CannotMove(
            "The marketplace account's balance does not cover one assignment. Add funds there "
            "first."
        )
    if read.status == CampaignStatus.DRAFT:
        # `save_draft` may have been killed after it stored the file.
        _follow_file(read, at)
    with transaction.atomic():
        # An import changes nothing that a published campaign shows. It must not overlook this one.
        wait_for_imports()
        Campaign.objects.locked(campaign.pk)
        _check_publication(campaign.pk, confirmed, seen)
        _move(campaign, PUBLISHABLE, CampaignStatus.RUNNING, actor, at)


def ask_to_publish(
    *,
    campaign: Campaign,
    actor: User | None,
    at: datetime,
    confirmed: bool = False,
    seen: Terms | None = None,
) -> Job:
    """Request the job that publishes the campaign and creates its HITs, and return it.

    Raises what `publish` raises, as far as it can be known without asking the marketplace, and
    JobRefused. The job publishes on the terms of this request only.
    """
    seen = seen or terms_of(Campaign.objects.get(pk=campaign.pk))
    _check_publication(campaign.pk, confirmed, seen)
    marketplace_of(campaign)
    amounts = {name: str(getattr(seen, name)) for name in AMOUNTS}
    arguments = {"confirmed": confirmed, "terms": seen._asdict() | amounts}
    return request_job(kind=PUBLISH, arguments=arguments, user=actor, at=at, about=campaign)


def _check_publication(pk: int, confirmed: bool, seen: Terms) -> Decimal:
    """Raise an error if the campaign cannot be published on these terms as it is now; otherwise
    return the cost of one assignment."""
    campaign = Campaign.objects.get(pk=pk)
    now, cost = terms_of(campaign), slot_cost(campaign.config)
    if campaign.status not in PUBLISHABLE:
        raise _cannot_become(campaign, campaign.status, CampaignStatus.RUNNING)
    if (now.status, now.last_move) != (seen.status, seen.last_move):
        raise ChangedMeanwhile(
            f"{campaign} is {campaign.status.lower()} meanwhile. Publish it again if you want to."
        )
    # While it is paused, workers finish what they have begun, so that less is left.
    is_less = now.responses <= seen.responses and now.cost <= seen.cost
    if campaign.status == CampaignStatus.PAUSED and is_less:
        seen = seen._replace(responses=now.responses, cost=now.cost)
    if now != seen:
        raise ChangedTerms(
            f"{campaign} was changed meanwhile: it asks for {counted(now.responses, 'response')} "
            f"at a reward of ${now.reward:,.2f} now, costs about ${now.cost:,.2f} and has a budget "
            f"of ${now.budget:,.2f}. Look at this, and publish it again if you want to."
        )
    if endpoint_of(campaign.endpoint).spends_money and not confirmed:
        raise NotConfirmed(
            f"{campaign} uses the production marketplace and costs about ${now.cost} "
            f"(budget ${campaign.budget}). Confirm that you want to spend real money."
        )
    if campaign.budget < cost:
        raise CannotMove(
            f"The budget of ${campaign.budget} does not cover one assignment (${cost} with fee). "
            "Add to it with `add_to_budget`."
        )
    return cost


def pause(*, campaign: Campaign, actor: User | None, at: datetime) -> None:
    """Set a running campaign to paused. Raises CannotMove.

    The next sync closes its HITs to new workers. Workers who have accepted one may finish it and
    are paid.
    """
    _move(campaign, {CampaignStatus.RUNNING: Act.HALT}, CampaignStatus.PAUSED, actor, at)


def finish(*, campaign: Campaign, actor: User | None, at: datetime) -> None:
    """Set a running or paused campaign to finished: no more HITs, but submissions are settled.

    Raises CannotMove, also if the campaign has held payments, because nobody may look at it again.
    A payment that is held after this call is shown on the campaign's page.
    """
    if number := HeldPayment.objects.of(campaign).open().count():
        raise CannotMove(
            counted(
                number,
                "held payment needs a decision first.",
                "held payments need a decision first.",
            )
        )
    acts = {CampaignStatus.RUNNING: Act.FINISH, CampaignStatus.PAUSED: Act.FINISH}
    _move(campaign, acts, CampaignStatus.FINISHED, actor, at)


@transaction.atomic
def add_to_budget(
    *,
    campaign: Campaign,
    amount: Decimal,
    actor: User | None,
    at: datetime,
    reason: str = "",
    seen: Decimal | None = None,
) -> None:
    """Add an amount in dollars to the budget; the next sync creates HITs for it.

    `seen` is the budget that the person saw, so that a form posted twice adds once. Raises
    CannotMove for a finished campaign, ChangedMeanwhile, BadAmount and BadChange.
    """
    is_possible = amount.is_finite() and 0 < amount <= MOST_BUDGET
    if not (is_possible and amount == round(amount, 2)):
        raise BadAmount(f"The amount must be more than $0 and at most ${MOST_BUDGET:,}, in cents.")
    locked = _unfinished(campaign)
    before = locked.budget
    if seen not in (None, before):
        raise ChangedMeanwhile(f"The budget was already changed to ${before:,.2f} meanwhile.")
    if before + amount > MOST_BUDGET:
        raise BadAmount(f"A budget can be at most ${MOST_BUDGET:,}.")
    locked.budget = campaign.budget = before + amount
    locked.save(update_fields=["budget"])
    # A draft that is edited has the budget of its file.
    _with_file(locked, lambda file: file.update(budget=str(locked.budget)))
    _log(campaign, Act.BUDGET, f"${before:,.2f} to ${campaign.budget:,.2f}", reason, actor, at)


@transaction.atomic
def _move(
    campaign: Campaign,
    acts: Mapping[CampaignStatus, Act],
    new: CampaignStatus,
    actor: User | None,
    at: datetime,
) -> None:
    """Change the status, and log the act that `acts` names for the current one."""
    current = CampaignStatus(Campaign.objects.locked(campaign.pk).status)
    if current not in acts:
        raise _cannot_become(campaign, current, new)
    Campaign.objects.filter(pk=campaign.pk).update(status=new)
    Decision.objects.create(campaign=campaign, act=acts[current], actor=actor, at=at)
    campaign.status = new


def _cannot_become(campaign: Campaign, current: str, new: CampaignStatus) -> CannotMove:
    return CannotMove(f"{campaign} is {current.lower()} and cannot become {new.lower()}.")


@transaction.atomic
def change_reward(
    *, campaign: Campaign, reward: Decimal, seen: Decimal, reason: str, actor: User, at: datetime
) -> Campaign:
    """Set the reward of new HITs. The next syncs replace the HITs that nobody has taken.

    `seen` is the reward that the person saw. Accepted assignments keep the reward at which they
    were accepted. Raises CannotMove, ChangedMeanwhile or BadChange.
    """
    locked = _unfinished(campaign)
    before = locked.config.hit.reward
    if before != seen:
        raise ChangedMeanwhile(f"The reward was already changed to ${before} meanwhile.")
    if not reward.is_finite() or reward == before:
        raise BadChange(f"The reward is ${before} already. Enter another amount.")
    # Until now, a type without a known reward had the campaign's.
    HitType.objects.filter(campaign=locked, reward=None).update(reward=before)
    changed = _with_file(locked, lambda file: file["hit"].update(reward=str(reward)))
    after = changed.config.hit.reward
    _log(changed, Act.REWARD, f"${before} to ${after}", reason, actor, at)
    return changed


@transaction.atomic
def raise_review_share(
    *, campaign: Campaign, share: float, seen: float, reason: str, actor: User, at: datetime
) -> Campaign:
    """Raise the share of the random sample, and draw the checks that it adds.

    The order of the sample depends on the seed only, so it stays a random sample of all responses.
    Raises CannotMove, ChangedMeanwhile or BadChange.
    """
    locked = _unfinished(campaign)
    before = locked.config.review.share
    if before != seen:
        raise ChangedMeanwhile(f"The share was already changed to {before * 100:g}% meanwhile.")
    if not before < share <= 1:
        raise BadChange(
            f"The share can only be raised: enter more than {before * 100:g}%, and at most 100%."
        )
    locked_sample(locked)
    changed = _with_file(locked, lambda file: file["review"].update(share=share))
    _draw_by_file(changed, at)
    _log(changed, Act.SHARE, f"{before * 100:g}% to {share * 100:g}%", reason, actor, at)
    return changed


def save_draft(*, draft: CampaignDraft, endpoint: str, at: datetime) -> Campaign:
    """Create the draft's campaign, or change it; responses that were imported into it get the
    checks and flags of the changed file, the verdicts, and what follows from them for their
    workers. Raises what `use_draft` raises."""
    campaign = _save_draft(draft, endpoint, at)
    begun, now = draft.begun_from, campaign.config_json
    is_followed = begun and (begun["review"], _of_flags(begun)) != (now["review"], _of_flags(now))
    # Afterwards, because it locks workers, who are locked before the sample.
    if campaign.status == CampaignStatus.DRAFT and is_followed:
        _follow_file(campaign, at)
    return campaign


def _follow_file(campaign: Campaign, at: datetime) -> None:
    """Let a draft's file decide on the responses that were imported into it. Safe to repeat."""
    resolve_judged(campaign=campaign, at=at)
    discard_by_file(campaign=campaign, at=at)
    recount_worker_risks(campaign=campaign)
    decide(campaign=campaign, at=at)


@transaction.atomic
def _save_draft(draft: CampaignDraft, endpoint: str, at: datetime) -> Campaign:
    if draft.campaign is not None:
        locked_sample(Campaign.objects.locked(draft.campaign.pk))
    campaign = use_draft(draft=draft, endpoint=endpoint, at=at)
    if campaign.status == CampaignStatus.DRAFT:
        _drop_firsts(campaign)
        _add_firsts(campaign)
        _draw_by_file(campaign, at)
        if draft.begun_from and _of_flags(draft.begun_from) != _of_flags(campaign.config_json):
            flag_again(campaign=campaign)
    return campaign


def _of_flags(file: Mapping[str, Any]) -> list[Any]:
    """The values of a campaign file that flags depend on."""
    sections = ("captions", "instructions", "flags")
    return [file["hit"]["images"], *(file[section] for section in sections)]


def _drop_firsts(campaign: Campaign) -> None:
    """Limit each worker's first responses to those that the file wants; judged ones stay. Discarded
    ones are drawn anew if they count again."""
    firsts = list(firsts_of(campaign).order_by("response").values_list("pk", "response__worker"))
    wanted, seen = wanted_firsts(campaign, {worker for _, worker in firsts}), Counter[int]()
    discarded = SpotCheck.objects.of(campaign).filter(
        is_first=True, verdict="", response__status=ResponseStatus.DISCARDED
    )
    beyond = list(discarded.values_list("pk", flat=True))
    for pk, worker in firsts:
        seen[worker] += 1
        if seen[worker] > wanted[worker]:
            beyond.append(pk)
    for batch in batches(beyond):
        theirs = SpotCheck.objects.filter(pk__in=batch, verdict="", judgements=None)
        theirs.filter(is_random=False).delete()
        SpotCheck.objects.filter(pk__in=batch, verdict="").update(is_first=False)


def _add_firsts(campaign: Campaign) -> None:
    """Require as first ones the checks that a worker's next responses have for another reason, if
    the file wants more; otherwise later responses without a check would be drawn in their place."""
    seen, early = Counter(firsts_of(campaign).values_list("response__worker", flat=True)), []
    columns = ("worker", "spot_check", "spot_check__verdict")
    rows = list(without_first(campaign).order_by("pk").values_list(*columns))
    wanted = wanted_firsts(campaign, {worker for worker, *_ in rows})
    for worker, check, verdict in rows:
        if seen[worker] < wanted[worker]:
            seen[worker] += 1
            if verdict == Verdict.BAD and campaign.config.review.trial:
                wanted[worker] = campaign.config.review.trial
            if check is not None:
                early.append(check)
    for batch in batches(early):
        SpotCheck.objects.filter(pk__in=batch).update(is_first=True)


def _draw_by_file(campaign: Campaign, at: datetime) -> None:
    """Draw the checks of the campaign's file. The caller has called `locked_sample`."""
    share, checks = campaign.config.review.share, SpotCheck.objects.of(campaign)
    checks.filter(is_random=False, draw__lt=share).update(is_random=True)
    beyond = checks.filter(is_random=True, draw__gte=share)
    beyond.filter(is_first=False, verdict="", judgements=None).delete()
    beyond.update(is_random=False)
    counting = Response.objects.of(campaign).counting().filter(spot_check=None).order_by("pk")
    last = 0
    while batch := list(counting.filter(pk__gt=last)[:AT_ONCE]):
        draw_spot_checks(campaign=campaign, responses=batch, at=at)
        last = batch[-1].pk


def _unfinished(campaign: Campaign) -> Campaign:
    locked = Campaign.objects.locked(campaign.pk)
    if locked.status == CampaignStatus.FINISHED:
        raise CannotMove(f"{locked} is finished and cannot be changed any more.")
    return locked


def _with_file(campaign: Campaign, change: Callable[[dict[str, Any]], None]) -> Campaign:
    """Store a change of the campaign's file; return the campaign with it. Raises BadChange."""
    change(campaign.config_json)
    try:
        config = CampaignConfig.model_validate(campaign.config_json)
    except ValidationError as error:
        raise BadChange("This value is not possible in a campaign file.") from error
    campaign.config_json = config.model_dump(mode="json")
    campaign.save(update_fields=["config_json"])
    return Campaign.objects.get(pk=campaign.pk)  # without the cached file


def _log(
    campaign: Campaign, act: Act, change: str, reason: str, actor: User | None, at: datetime
) -> None:
    """Log a changed value; `change` is the old and the new one, such as "$0.10 to $0.12"."""
    text = f"From {change}. {reason.strip()}".strip()[:1024]
    Decision.objects.create(campaign=campaign, act=act, reason=text, actor=actor, at=at)
