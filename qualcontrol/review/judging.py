"""A reviewer's judgement of a response, its consequences, and requests for a second opinion.

After such a request two reviewers must agree, and a third decides if they do not, as in a campaign
with two reviewers. The reviewer who asks may be one of them, once another one has judged.

How a judgement takes effect:

1. The review page and the API call `judge_item`. An answer on gold is stored and ends here.
2. `judge` calls `keep_judgement`, and `count_and_decide` if the response now has a verdict. That
   lets the policy decide about the worker, and takes locks of its own, so it runs after the
   transaction; in a request with an idempotency key, after that of the request.
3. `keep_judgement` is one transaction. It locks the worker and the response, then the share of
   checks. `gold` and `judge_file` call it too, and let the policy decide themselves.
4. `_resolve`, under these locks, records the verdict if enough reviewers agree. `resolve_judged`
   does the same for judgements that are enough only since the campaign was edited.
5. `discard_bad`, which then locks the tasks, discards a bad response and raises the task's
   `answers_missing`. Nothing else is done to replace it: from this column, the reconciler's
   `top_up` sees at the next sync that slots are missing. `undoing` calls it when a verdict is
   changed to bad.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts.models import Membership, Right, roles_with
from annotate.models import Campaign, Response, ResponseStatus
from annotate.services.responses import lock_tasks
from corpora.errors import DomainError
from corpora.reading.entries import Entry, open_entries
from corpora.reading.files import Faults, short
from qualcontrol.models import (
    Act,
    Decision,
    Gold,
    GoldAnswer,
    Judgement,
    Reservation,
    SecondOpinion,
    SpotCheck,
    Verdict,
)
from qualcontrol.models.decisions import BY_FILE
from qualcontrol.services.discards import discard_and_log, log, not_rejected, open_rounds
from qualcontrol.services.errors import (
    JUDGED_BY_YOU,
    AlreadyJudged,
    CannotAsk,
    CannotReject,
    text_given,
)
from qualcontrol.services.exclusions import discard_excluded, to_discard
from qualcontrol.services.held_payments import end_if_judged
from qualcontrol.services.locks import locked_response
from qualcontrol.services.policies import count_and_decide, decide
from qualcontrol.services.sampling import (
    draw_missing_firsts,
    lock_check_share,
    locked_check_share,
    spot_check_of,
)
from qualcontrol.services.worker_risks import learn, note_changes


def judge_item(
    *,
    campaign: Campaign,
    key: UUID,
    verdict: Verdict | str,
    reason: str,
    reviewer: User,
    at: datetime,
) -> None:
    """Store a reviewer's judgement of the item with this key. On gold it has no other effect.
    Raises Response.DoesNotExist, AlreadyJudged, ReasonMissing."""
    gold = Gold.objects.of(campaign).with_key(key).first()
    if gold is not None:
        _answer_gold(gold, Verdict(verdict), reviewer, at)
    else:
        response = Response.objects.of(campaign).select_related("task__campaign").get(key=key)
        judge(response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=at)


@transaction.atomic
def _answer_gold(gold: Gold, verdict: Verdict, reviewer: User, at: datetime) -> None:
    _, is_new = GoldAnswer.objects.get_or_create(
        gold=gold, reviewer=reviewer, defaults={"verdict": verdict, "at": at}
    )
    if not is_new:
        raise AlreadyJudged(JUDGED_BY_YOU)


def judge(
    *,
    response: Response,
    verdict: Verdict | str,
    reason: str,
    reviewer: User | None,
    at: datetime,
) -> None:
    """Store a reviewer's judgement, then let the policy decide about the worker.

    If enough reviewers agree, it becomes the verdict, and a bad response is discarded. Payment is
    not affected. Raises AlreadyJudged, ReasonMissing.
    """
    campaign = response.task.campaign
    stands = keep_judgement(
        response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=at
    )
    if stands:
        count_and_decide(campaign=campaign, at=at)


@transaction.atomic
def keep_judgement(
    *,
    response: Response,
    verdict: Verdict | str,
    reason: str,
    reviewer: User | None,
    at: datetime,
) -> bool:
    """Store a judgement without its consequences for the worker. Returns whether the response now
    has a verdict.

    Raises AlreadyJudged, ReasonMissing.
    """
    verdict, reason = Verdict(verdict), reason.strip()
    if verdict == Verdict.BAD:
        reason = text_given(reason, "what is wrong: a bad verdict needs a reason")
    response = locked_response(response.pk)
    campaign = response.task.campaign
    lock_check_share(campaign)
    check, judgements = _unjudged(response, reviewer)
    if check is None:
        share = locked_check_share(campaign)
        check = spot_check_of(response, campaign=campaign, share=share, at=at)
        check.save(force_insert=True)
    judgements.append(
        check.judgements.create(reviewer=reviewer, verdict=verdict, reason=reason, at=at)
    )
    Reservation.objects.filter(response=response).delete()
    return _resolve(
        check=check,
        judgements=judgements,
        response=response,
        campaign=campaign,
        reviewer=reviewer,
        at=at,
    )


def _unjudged(
    response: Response, reviewer: User | None
) -> tuple[SpotCheck | None, list[Judgement]]:
    """The check and the judgements of a locked response that the reviewer may judge; raises
    AlreadyJudged."""
    # Checked first, with the message that gold items have, so that neither reveals gold.
    judgements = list(Judgement.objects.filter(spot_check__response=response))
    if any(judgement.reviewer_id == getattr(reviewer, "pk", None) for judgement in judgements):
        raise AlreadyJudged(JUDGED_BY_YOU)
    if response.status != ResponseStatus.SUBMITTED:
        raise AlreadyJudged("This response has been discarded and needs no judgement.")
    check = SpotCheck.objects.filter(response=response).first()
    if check is not None and check.verdict:
        raise AlreadyJudged("Another reviewer has judged this response.")
    return check, judgements


def _resolve(
    *,
    check: SpotCheck,
    judgements: Sequence[Judgement],
    response: Response,
    campaign: Campaign,
    reviewer: User | None,
    at: datetime,
) -> bool:
    """Record the verdict if enough reviewers agree."""
    (verdict, votes), *others = Counter(judgement.verdict for judgement in judgements).most_common()
    # A draft that wanted two judgements may want one by now.
    if votes < _needed(response, campaign) or any(votes == against for _, against in others):
        return False
    reason = next(
        (judgement.reason for judgement in judgements if judgement.verdict == verdict), ""
    )
    open_check = SpotCheck.objects.filter(pk=check.pk, verdict="")
    open_check.update(verdict=verdict, reason=reason, judged_at=at)
    # Logged only now: reviewers can read the log, and must not see an earlier judgement.
    logged: set[tuple[int | None, datetime]] = set()
    if len(judgements) > 1:
        # Those that were left when a colleague took the verdict back are in the log.
        judged = Q(act__in=[Act.JUDGE_GOOD, Act.JUDGE_BAD], response=response)
        logged = {*campaign.decisions.filter(judged).values_list("actor", "at")}
    Decision.objects.bulk_create(
        Decision(
            response=response,
            campaign=campaign,
            act=Act.JUDGE_GOOD if judgement.verdict == Verdict.GOOD else Act.JUDGE_BAD,
            reason=judgement.reason,
            actor_id=judgement.reviewer_id,
            at=judgement.at,
        )
        for judgement in judgements
        if (judgement.reviewer_id, judgement.at) not in logged
    )
    if verdict == Verdict.BAD:
        discard_bad(response, campaign, reason, reviewer, at)
        if check.is_first:
            draw_missing_firsts(campaign=campaign, worker=response.worker_id, at=at)
    open_rounds(campaign, {response.task_id})
    end_if_judged(submission=response.submission_id, at=at)
    note_changes(campaign, [response.worker_id])
    return True


def resolve_judged(*, campaign: Campaign, at: datetime) -> None:
    """Record the verdicts of responses that have enough judgements by now, as in a draft that is
    changed to want one; then let the policy decide."""
    waiting = list(SpotCheck.objects.of(campaign).half_judged().values_list("response", flat=True))
    if any([_resolve_judged(response, at) for response in waiting]):
        count_and_decide(campaign=campaign, at=at)


@transaction.atomic
def _resolve_judged(response_pk: int, at: datetime) -> bool:
    response = locked_response(response_pk)
    campaign = response.task.campaign
    lock_check_share(campaign)
    check = SpotCheck.objects.of(campaign).half_judged().filter(response=response).first()
    if check is None:
        return False
    *_, last = judgements = list(check.judgements.select_related("reviewer"))
    return _resolve(
        check=check,
        judgements=judgements,
        response=response,
        campaign=campaign,
        reviewer=last.reviewer,
        at=at,
    )


def _needed(response: Response, campaign: Campaign) -> int:
    """The number of reviewers who must agree: at least two if one has asked for a second
    opinion."""
    is_asked = SecondOpinion.objects.wanted().filter(response=response).exists()
    return max(campaign.config.review.reviewers, 2 if is_asked else 1)


def discard_bad(
    response: Response, campaign: Campaign, reason: str, reviewer: User | None, at: datetime
) -> None:
    """Discard the response, and the responses that an exclusion of its worker now discards with
    it."""
    if reviewer is None and not reason.startswith(BY_FILE):
        reason = f"{BY_FILE}: {reason}"
    if campaign.exclusions.in_force().filter(worker=response.worker).exists():
        # All at once and in order: the response's task may come after those of the others.
        others = to_discard(campaign, [response.worker]).values_list("task_id", flat=True)
        lock_tasks([response.task_id, *others])
    discard_and_log([response], campaign=campaign, reason=reason, actor=reviewer, at=at)
    discard_excluded(campaign=campaign, worker=response.worker, actor=reviewer, at=at)


@transaction.atomic
def reject_response(*, response: Response, reason: str, actor: User | None, at: datetime) -> None:
    """Request the rejection of the response's assignment, which the next sync carries out.

    Raises ReasonMissing, and CannotReject if the response counts: responses in use are paid.
    """
    reason = text_given(reason, "a reason for the rejection: the worker will read it")
    response = locked_response(response.pk)
    if response.status != ResponseStatus.DISCARDED:
        raise CannotReject("Only discarded responses can be rejected. Work that is used is paid.")
    campaign = response.task.campaign
    if not not_rejected(Response.objects.filter(pk=response.pk), campaign).exists():
        raise CannotReject("A rejection of this response's assignment is already scheduled.")
    log([response], campaign=campaign, act=Act.REJECT, reason=reason, actor=actor, at=at)


def ask_second_opinion(
    *, campaign: Campaign, key: UUID, question: str, reviewer: User, at: datetime
) -> None:
    """Show the item with this key to other reviewers of the team, with the question.

    Gold items are accepted and shown to nobody, so that nothing tells that they are gold. Raises
    Response.DoesNotExist, AlreadyJudged, CannotAsk.
    """
    if not _others(campaign, reviewer):
        raise CannotAsk(
            "Nobody else in the team can review. Invite another reviewer, or judge the response "
            "yourself."
        )
    made = SecondOpinion(
        campaign=campaign, key=key, asked_by=reviewer, asked_at=at, question=question.strip()[:300]
    )
    gold = Gold.objects.of(campaign).with_key(key)
    try:
        with transaction.atomic():
            if (gold_item := gold.first()) is not None:
                if GoldAnswer.objects.filter(gold=gold_item, reviewer=reviewer).exists():
                    raise AlreadyJudged(JUDGED_BY_YOU)
            else:
                made.response = _open_response(campaign, key, reviewer)
            made.save(force_insert=True)
    except IntegrityError as error:
        raise CannotAsk("A second opinion on this response is asked for already.") from error


def _others(campaign: Campaign, reviewer: User) -> bool:
    """Whether the campaign's team has another member who can review."""
    members = Membership.objects.current().filter(team=campaign.team, user__is_active=True)
    return members.filter(role__in=roles_with(Right.REVIEW)).exclude(user=reviewer).exists()


def _open_response(campaign: Campaign, key: UUID, reviewer: User) -> Response:
    """The locked response, which the reviewer leaves to others now."""
    response = locked_response(Response.objects.of(campaign).get(key=key).pk)
    _unjudged(response, reviewer)
    Reservation.objects.filter(response=response, reviewer=reviewer).delete()
    return response


@transaction.atomic
def withdraw_question(*, campaign: Campaign, key: UUID, at: datetime) -> None:
    """Withdraw the request for a second opinion: one verdict is enough again.

    Requests about gold items are withdrawn, too, so that nothing tells that they are gold. Raises
    Response.DoesNotExist, and CannotAsk if there is none, or if somebody has judged since.
    """
    asked = SecondOpinion.objects.of(campaign).wanted().filter(key=key)
    if not Gold.objects.of(campaign).with_key(key).exists():
        response = locked_response(Response.objects.of(campaign).get(key=key).pk)
        if Judgement.objects.filter(spot_check__response=response).exists():
            raise CannotAsk(
                "A reviewer has judged this response meanwhile. The next judgement is needed now."
            )
    if not asked.update(withdrawn_at=at):
        raise CannotAsk("No second opinion on this response is asked for.")


MOST_IN_A_REASON = 300
COLUMNS = ("response", "verdict")
NUMBER = re.compile(r"[0-9]{1,19}")


@dataclass
class Batch:
    """The result so far for a file's entries, which are named by their lines."""

    good: int = 0
    bad: int = 0
    judged_before: Faults = field(default_factory=Faults)
    faults: Faults = field(default_factory=Faults)
    acts: int = 0
    # The last line that is finished, and whether the whole file is.
    line: int = 0
    is_complete: bool = False

    @property
    def judged(self) -> int:
        return self.good + self.bad


def judge_file(
    *,
    campaign: Campaign,
    path: Path,
    reviewer: str | None,
    at: datetime,
    name: str | None,
    batch: Batch,
) -> None:
    """Store the verdicts of a file whose entries have `response`, `verdict` and optionally
    `reason`, then let the policy decide. Entries that are not verdicts are noted in `batch` and
    skipped.

    `batch` is updated with each entry. `name` is what errors call the file. `reviewer` is a user's
    name; if there is no such user, one is created that cannot sign in.

    Raises MalformedFile, before any verdict is stored, if the file cannot be read to its end. If
    something else stops the call, the policy still decides on the verdicts that were stored.
    """
    with open_entries(path, name=name) as file:
        if file.columns is not None:
            file.require(COLUMNS)
        for _ in file.rows:
            pass
    judge = _user(reviewer)
    try:
        with open_entries(path, name=name) as file:
            for entry in file.rows:
                _judge(campaign, entry, judge, at, batch)
        batch.is_complete = True
    finally:
        if batch.judged:
            learn(campaign=campaign)
            batch.acts = decide(campaign=campaign, at=at)


def _judge(
    campaign: Campaign, entry: Entry, reviewer: User | None, at: datetime, batch: Batch
) -> None:
    """Store one verdict in its own transaction, and count the result."""
    try:
        response, verdict, reason = _parse(campaign, entry)
        keep_judgement(response=response, verdict=verdict, reason=reason, reviewer=reviewer, at=at)
    except AlreadyJudged as error:
        batch.judged_before.add(entry.line, str(error))
    except DomainError as error:
        batch.faults.add(entry.line, str(error))
    else:
        batch.good += verdict == Verdict.GOOD
        batch.bad += verdict == Verdict.BAD
    batch.line = entry.line


def _parse(campaign: Campaign, entry: Entry) -> tuple[Response, Verdict, str]:
    if entry.fault:
        raise DomainError(entry.fault)
    values = entry.values
    verdict = _verdict(values.get("verdict"))
    return _response(campaign, values.get("response")), verdict, _reason(values, verdict)


def _reason(values: Mapping[str, Any], verdict: Verdict) -> str:
    reason = values.get("reason") or ""
    if not isinstance(reason, str):
        raise DomainError(f"reason is {short(reason)}, not a text")
    if verdict == Verdict.BAD:
        reason = reason.strip() or BY_FILE
    return reason[:MOST_IN_A_REASON]


def _verdict(value: Any) -> Verdict:
    try:
        return Verdict(value.strip().upper())
    except (AttributeError, ValueError) as error:
        raise DomainError(f"verdict is {short(value)}, not good or bad") from error


def _response(campaign: Campaign, value: Any) -> Response:
    """Find the response by its key, which other programs may have turned into a string."""
    if isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        value = int(value)
    # True would be accepted as 1, and SQLite has no larger integers.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise DomainError(f"response is {short(value)}, not a response's number")
    submitted = Response.objects.of(campaign)
    response = submitted.select_related("task__campaign").filter(pk=value).first()
    if response is None:
        raise DomainError(f"{campaign} has no submitted response {value}")
    return response


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    # Names that differ only in case are one name.
    user, _ = User.objects.get_or_create(
        username__iexact=name,
        defaults={"username": name, "password": make_password(None), "is_active": False},
    )
    return user
