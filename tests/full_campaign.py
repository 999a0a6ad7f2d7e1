"""A campaign as it is after weeks of work: HITs, assignments, captions, flags, verdicts, payments.

SQL statements create the long tables inside the database, as in `benchmarks.campaigns`. A caption's
number decides what happened to it, so that each size of the campaign has everything in the same
proportions.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count, F, Model, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Membership, TeamRole
from annotate.models import (
    Behaviour,
    Campaign,
    Caption,
    Response,
    ResponseStatus,
    Submission,
    Task,
    Worker,
)
from annotate.services.selections import recount_all_pools
from benchmarks.campaigns import RANDOM_KEY, insert, make_campaign, numbers
from benchmarks.harness import settle_down
from hits.models import (
    Assignment,
    AssignmentStatus,
    Bonus,
    Hit,
    HitStatus,
    HitType,
    Sync,
    WorkerAccount,
)
from qualcontrol.models import (
    Act,
    Assessment,
    Decision,
    Exclusion,
    Gold,
    HeldCause,
    HeldPayment,
    Judgement,
    Pause,
    Proposal,
    SpotCheck,
    Verdict,
)
from qualcontrol.services.worker_risks import recount_worker_risks

WANTED, EACH = 11, 10
SLOTS = 9
RESPONSES_OF_A_WORKER = 400
GOLD = 2
LASTS = timedelta(days=30)
SENTENCES = (
    "Two children with red umbrellas wait beside an old stone bridge, number ",
    "A brown dog runs after a ball on wet sand near the sea, number ",
    "Three cooks in white aprons slice onions in a kitchen, number ",
    "A woman in a green coat reads a newspaper at a bus stop, number ",
)
# Which captions have what, by their number `i`.
IS_DISCARDED, IS_CHECKED, IS_FLAGGED = "i % 97 = 50", "i % 19 = 0", "i % 31 = 7"
FLAG = "too_short"


@dataclass(frozen=True)
class FullCampaign:
    """The campaign and a user of its team who may do everything."""

    campaign: Campaign
    user: User


def make_full_campaign(*, name: str, tasks: int) -> FullCampaign:
    """Make a running campaign with so many tasks, and ten captions for each of them."""
    campaign = make_campaign(name=name, images=tasks, wanted=WANTED)
    user = User.objects.create_user(f"{name}-reviewer")
    captions = tasks * EACH
    workers = _make_workers(name, max(2 * EACH, captions // RESPONSES_OF_A_WORKER))
    _add_work(campaign, workers, captions)
    _add_verdicts(campaign, user)
    _add_events(campaign, workers, user)
    settle_down()
    recount_all_pools(None)
    recount_worker_risks(campaign=campaign)
    settle_down()
    Membership.objects.create(
        user=user, team=campaign.team, role=TeamRole.RESEARCHER, joined_at=timezone.now()
    )
    return FullCampaign(campaign, user)


def _make_workers(name: str, count: int) -> list[Worker]:
    workers = Worker.objects.bulk_create([Worker() for _ in range(count)])
    WorkerAccount.objects.bulk_create(
        WorkerAccount(worker=worker, endpoint="local", marketplace_id=f"A{name}{number}")
        for number, worker in enumerate(workers)
    )
    return workers


def _add_work(campaign: Campaign, workers: list[Worker], captions: int) -> None:
    """Add HITs, assignments, responses and their captions, in turn for all tasks."""
    hit_type = HitType.objects.create(
        campaign=campaign,
        hit_type_id=f"TYPE{campaign.pk}",
        exclusion_type_id=f"EXCLUSION{campaign.pk}",
        reward=campaign.config.hit.reward,
        created_at=timezone.now() - LASTS,
    )
    hits = -(-captions // SLOTS)
    done = f"i * {SLOTS} <= {captions} * 98 / 100"  # all paid, see below
    insert(
        Hit,
        numbers(hits),
        campaign_id=str(campaign.pk),
        hit_type_id=str(hit_type.pk),
        token=f"'token-{campaign.pk}-' || i",
        hit_id=f"'HIT-{campaign.pk}-' || i",
        status=f"CASE WHEN {done} THEN '{HitStatus.RETIRED}' ELSE '{HitStatus.OPEN}' END",
        slots=str(SLOTS),
        reward="0.10",
        fee="0.02",
        planned_at=_moment(hits),
        ingested=str(SLOTS),
        settled=f"CASE WHEN {done} THEN {SLOTS} ELSE 0 END",
        paid=f"CASE WHEN {done} THEN {SLOTS} END",
    )
    first = _first(Hit, campaign=campaign)
    account = f"{_first(WorkerAccount, worker=workers[0])} + (i * 7 + i / {captions // EACH}) "
    worker = f"{workers[0].pk} + (i * 7 + i / {captions // EACH}) % {len(workers)}"
    paid = f"i <= {captions} * 98 / 100"
    submissions = Submission.objects.bulk_create(Submission() for _ in range(captions))
    insert(
        Assignment,
        numbers(captions),
        submission_id=f"{submissions[0].pk} + i - 1",
        hit_id=f"{first} + (i - 1) / {SLOTS}",
        account_id=f"{account} % {len(workers)}",
        assignment_id=f"'ASSIGNMENT-{campaign.pk}-' || i",
        status=f"CASE WHEN {paid} THEN '{AssignmentStatus.APPROVED}' "
        f"ELSE '{AssignmentStatus.SUBMITTED}' END",
        accepted_at=_moment(captions),
        submitted_at=_moment(captions),
        decided_at=f"CASE WHEN {paid} THEN {_moment(captions)} END",
    )
    _add_responses(campaign, captions, worker, submissions[0].pk)
    settle_down()  # or PostgreSQL may choose an index by which this takes hours
    counting = Response.objects.counting().filter(task=OuterRef("pk")).order_by()
    numbers_of = counting.values("task").annotate(n=Count("pk")).values("n")
    missing = F("wanted") - Coalesce(Subquery(numbers_of), 0)
    Task.objects.filter(campaign=campaign).update(answers_missing=missing, places_left=missing)


def _add_responses(campaign: Campaign, captions: int, worker: str, submission: int) -> None:
    tasks = captions // EACH
    insert(
        Response,
        numbers(captions),
        campaign_id=str(campaign.pk),
        task_id=f"{_first(Task, campaign=campaign)} + (i - 1) % {tasks}",
        worker_id=worker,
        submission_id=f"{submission} + i - 1",
        key=RANDOM_KEY[connection.vendor],
        status=f"CASE WHEN {IS_DISCARDED} THEN '{ResponseStatus.DISCARDED}' "
        f"ELSE '{ResponseStatus.SUBMITTED}' END",
        submitted_at=_moment(captions),
        seconds="30 + i % 60",
    )
    # Below, `i` is the response's place in the campaign.
    first = _first(Response, campaign=campaign)
    responses = f"(SELECT id, worker_id, id - {first} + 1 AS i FROM annotate_response "
    responses += f"WHERE id >= {first}) AS made"
    texts = " ".join(f"WHEN {n} THEN '{text}'" for n, text in enumerate(SENTENCES))
    insert(
        Caption,
        responses,
        response_id="id",
        text=f"CASE i % {len(SENTENCES)} {texts} END || i || '.'",
    )
    flags = f'[{{"code": "{FLAG}", "value": 3, "threshold": 5, "why": "It has few words."}}]'
    as_json = "CAST('{}' AS {})".format
    kind = {"postgresql": "jsonb", "sqlite": "text"}[connection.vendor]
    insert(
        Behaviour,
        responses,
        response_id="id",
        characters=as_json('{"typed": 60}', kind),
        device="'COMPUTER'",
    )
    insert(
        Assessment,
        responses,
        response_id="id",
        campaign_id=str(campaign.pk),
        worker_id="worker_id",
        position="row_number() OVER (PARTITION BY worker_id ORDER BY id)",
        flags=f"CASE WHEN {IS_FLAGGED} THEN {as_json(flags, kind)} ELSE {as_json('[]', kind)} END",
        codes=f"CASE WHEN {IS_FLAGGED} THEN '{FLAG}' ELSE '' END",
    )


def _add_verdicts(campaign: Campaign, user: User) -> None:
    """Add spot checks, of which a few at the end are open, and the decisions that judged them."""
    first = _first(Response, campaign=campaign)
    last = Response.objects.of(campaign).count()
    judged = f"i <= {last} * 94 / 100"
    source = f"(SELECT id, submitted_at, id - {first} + 1 AS i FROM annotate_response "
    source += f"WHERE id >= {first}) AS made WHERE {IS_DISCARDED} OR {IS_CHECKED}"
    bad, good = f"'{Verdict.BAD}'", f"'{Verdict.GOOD}'"
    insert(
        SpotCheck,
        source,
        campaign_id=str(campaign.pk),
        response_id="id",
        is_random={"postgresql": f"({IS_CHECKED})", "sqlite": IS_CHECKED}[connection.vendor],
        draw=f"i * 1.0 / {last}",
        drawn_at="submitted_at",
        verdict=f"CASE WHEN {IS_DISCARDED} THEN {bad} WHEN {judged} THEN {good} ELSE '' END",
        reason=f"CASE WHEN {IS_DISCARDED} THEN 'wrong' ELSE '' END",
        judged_at=f"CASE WHEN {IS_DISCARDED} OR {judged} THEN submitted_at END",
    )
    checks = f"qualcontrol_spotcheck WHERE campaign_id = {campaign.pk} AND verdict <> ''"
    insert(
        Judgement,
        checks,
        spot_check_id="id",
        reviewer_id=str(user.pk),
        verdict="verdict",
        reason="reason",
        at="judged_at",
    )
    for act, where in (
        (f"CASE verdict WHEN {bad} THEN '{Act.JUDGE_BAD}' ELSE '{Act.JUDGE_GOOD}' END", ""),
        (f"'{Act.DISCARD}'", f" AND verdict = {bad}"),
    ):
        insert(
            Decision,
            checks + where,
            campaign_id=str(campaign.pk),
            act=act,
            response_id="response_id",
            reason="reason",
            actor_id=str(user.pk),
            at="judged_at",
        )


def _add_events(campaign: Campaign, workers: list[Worker], user: User) -> None:
    """Add what is rare: exclusions, pauses, proposals, held payments, bonuses, gold, syncs."""
    at = timezone.now()
    some = len(workers) // 20 + 1
    out, paused, proposed, held = (workers[n * some : (n + 1) * some] for n in range(4))
    Exclusion.objects.bulk_create(
        Exclusion(campaign=campaign, worker=one, reason="lists", excluded_at=at) for one in out
    )
    Pause.objects.bulk_create(
        Pause(campaign=campaign, worker=one, reason="risk", paused_at=at) for one in paused
    )
    Proposal.objects.bulk_create(
        Proposal(campaign=campaign, worker=one, reason="risk", proposed_at=at) for one in proposed
    )
    Decision.objects.bulk_create(
        Decision(campaign=campaign, act=act, worker=one, reason="risk", actor=user, at=at)
        for act, group in ((Act.EXCLUDE, out), (Act.PAUSE, paused), (Act.PROPOSE, proposed))
        for one in group
    )
    waiting = Assignment.objects.of(campaign).undecided().select_related("account")
    HeldPayment.objects.bulk_create(
        HeldPayment(
            campaign=campaign,
            worker_id=one.account.worker_id,
            submission=one.submission,
            cause=HeldCause.RULES,
            why="It has too few words.",
            held_at=at,
        )
        for one in waiting.order_by("pk")[: len(held)]
    )
    paid = Assignment.objects.of(campaign).filter(status=AssignmentStatus.APPROVED)
    Bonus.objects.bulk_create(
        Bonus(
            assignment=one,
            token=f"bonus-{one.pk}",
            amount="0.50",
            fee="0.10",
            reason="Thanks.",
            planned_at=at,
            sent_at=at,
        )
        for one in paid.order_by("pk")[: len(held)]
    )
    sample = Response.objects.of(campaign).filter(~Q(spot_check=None)).order_by("pk")[:GOLD]
    Gold.objects.bulk_create(
        Gold(campaign=campaign, task_id=one.task_id, response=one, verdict="GOOD", made_at=at)
        for one in sample
    )
    Sync.objects.bulk_create(
        Sync(campaign=campaign, started_at=at, finished_at=at, seen_at=at) for _ in range(100)
    )


def _moment(count: int) -> str:
    """SQL for the time of the row `i` of so many, spread over LASTS up to now."""
    begins, seconds = timezone.now() - LASTS, LASTS.total_seconds() / count
    if connection.vendor == "sqlite":
        later = f"'+' || CAST(i * {seconds} AS integer) || ' seconds'"
        return f"strftime('%Y-%m-%d %H:%M:%S', '{begins:%Y-%m-%d %H:%M:%S}', {later})"
    return f"TIMESTAMP WITH TIME ZONE '{begins.isoformat()}' + i * INTERVAL '{seconds} seconds'"


def _first(model: type[Model], **of: object) -> int:
    """The smallest key among the rows that were made for the campaign."""
    rows = model._default_manager.filter(**of).order_by("pk")
    return int(rows.values_list("pk", flat=True)[0])
