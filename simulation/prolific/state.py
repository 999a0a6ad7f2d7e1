"""The stand-in's studies, submissions, bonuses and money, and the transitions that it refuses.

Amounts are whole cents. Everything is in memory, and lost when the process ends.
"""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from .hooks import EVENT_TYPES, Hooks, Subscription


def new_id() -> str:
    return secrets.token_hex(12)


def _now() -> datetime:
    return datetime.now(UTC)


class Refused(Exception):
    """The request is refused with an HTTP status and a detail."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


STUDY_MOVES = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
    ("ACTIVE", "STOP"): "COMPLETED",
    ("PAUSED", "STOP"): "COMPLETED",
    ("AWAITING REVIEW", "STOP"): "COMPLETED",
}
IN_LIST = {
    "id", "name", "internal_name", "status", "estimated_completion_time",
    "total_available_places", "reward", "date_created",
}  # fmt: skip
# Fields that can be changed after the publication, too.
ALWAYS = {"internal_name", "total_available_places"}
LONGEST_MINUTES = 24 * 60
# Submissions that hold a place.
TAKEN = {"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"}


@dataclass
class Study:
    fields: dict[str, Any]
    id: str = field(default_factory=new_id)
    status: str = "UNPUBLISHED"
    created_at: datetime = field(default_factory=_now)

    @property
    def places(self) -> int:
        return int(self.fields["total_available_places"])

    @property
    def reward(self) -> int:
        return int(self.fields["reward"])

    @property
    def screen_out(self) -> tuple[int, int]:
        """Reward of a screen-out and the most of them; zeros without such a code."""
        actions = [action for code in self.fields["completion_codes"] for action in code["actions"]]
        for action in actions:
            if action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                return int(action["fixed_screen_out_reward"]), int(action["slots"])
        return 0, 0

    def shown(self) -> dict[str, Any]:
        created = self.created_at.isoformat()
        return {**self.fields, "id": self.id, "status": self.status, "date_created": created}

    def shown_in_list(self) -> dict[str, Any]:
        """A row of "List all studies", which has fewer fields."""
        return {name: value for name, value in self.shown().items() if name in IN_LIST}


@dataclass
class Submission:
    study: Study
    participant: str
    id: str = field(default_factory=new_id)
    status: str = "ACTIVE"
    started_at: datetime = field(default_factory=_now)
    completed_at: datetime | None = None
    code: str | None = None
    return_requested: datetime | None = None
    bonuses: list[int] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        """A row of "List study submissions"."""
        return {
            "id": self.id,
            "participant_id": self.participant,
            "status": self.status,
            "started_at": self.started_at.isoformat(),
            "completed_at": self.completed_at and self.completed_at.isoformat(),
            "has_siblings": False,
            "study_code": self.code,
            "return_requested": self.return_requested and self.return_requested.isoformat(),
        }

    def shown_alone(self) -> dict[str, Any]:
        """The answer of "Retrieve a submission"."""
        return {
            "id": self.id,
            "participant": self.participant,
            "status": self.status,
            "study_id": self.study.id,
            "started_at": self.started_at.isoformat(),
            "completed_at": self.completed_at and self.completed_at.isoformat(),
            "entered_code": self.code,
            "bonus_payments": list(self.bonuses),
        }


@dataclass
class Bulk:
    """Bonuses that were set up. Paying them twice pays twice."""

    study: Study
    amounts: dict[str, int]
    fees: int
    vat: int
    id: str = field(default_factory=new_id)
    times_paid: int = 0


class World:
    """All that the stand-in keeps."""

    fee, vat = Decimal("0.3333"), Decimal("0.20")

    def __init__(self, *, balance: int = 10_000_00) -> None:
        self.balance = balance
        self.user, self.workspace, self.project = new_id(), new_id(), new_id()
        self.projects = {self.project: "Stand-in"}
        self.studies: dict[str, Study] = {}
        self.submissions: dict[str, Submission] = {}
        self.bulks: dict[str, Bulk] = {}
        self.hooks = Hooks()

    def charges(self, amount: int) -> tuple[int, int]:
        """Fee and VAT of one payment."""
        fee = (amount * self.fee).to_integral_value(ROUND_HALF_UP)
        return int(fee), int((fee * self.vat).to_integral_value(ROUND_HALF_UP))

    def cost(self, reward: int, places: int) -> int:
        return (reward + sum(self.charges(reward))) * places

    # Studies

    def create(self, fields: dict[str, Any]) -> Study:
        fields.pop("status", None)
        if (code := fields.pop("completion_code", None)) is not None:
            actions = [{"action": "MANUALLY_REVIEW"}]
            fields["completion_codes"] = [
                {"code": code, "code_type": "COMPLETED", "actions": actions}
            ]
        fields.setdefault("completion_codes", [])
        minutes = fields["estimated_completion_time"]
        least = 2 + 2 * minutes + 2 * minutes**0.5
        if fields.setdefault("maximum_allowed_time", LONGEST_MINUTES) < least:
            raise Refused(400, f"maximum_allowed_time must be at least {least:.1f}.")
        codes = [code["code"] for code in fields["completion_codes"]]
        if len(set(codes)) < len(codes):
            raise Refused(400, "completion_codes: each code must be unique within a study.")
        study = Study(fields)
        if study.screen_out[0] >= study.reward:
            raise Refused(400, "fixed_screen_out_reward must be less than the reward.")
        self.studies[study.id] = study
        return study

    def study(self, study_id: str) -> Study:
        if study_id not in self.studies:
            raise Refused(404, "There is no such study.")
        return self.studies[study_id]

    def change(self, study: Study, fields: dict[str, Any]) -> None:
        if study.status != "UNPUBLISHED" and not fields.keys() <= ALWAYS:
            raise Refused(400, f"Of a study that is {study.status} only {sorted(ALWAYS)} change.")
        places = fields.pop("total_available_places", None)
        study.fields |= fields
        if places is not None:
            self.set_places(study, int(places))

    def delete(self, study: Study) -> None:
        if study.status != "UNPUBLISHED":
            raise Refused(400, f"A study that is {study.status} cannot be deleted.")
        del self.studies[study.id]

    def move_study(self, study: Study, action: str) -> None:
        status = STUDY_MOVES.get((study.status, action))
        if status is None:
            raise Refused(400, f"A study that is {study.status} does not allow {action}.")
        if action == "PUBLISH":
            self._reserve(self.cost(study.reward, study.places) + self.cost(*study.screen_out))
        self._set_study(study, status)

    def _set_study(self, study: Study, status: str) -> None:
        study.status = status
        self.hooks.note("study.status.change", study.id, metadata={}, status=status)

    def set_places(self, study: Study, places: int) -> None:
        if study.status != "UNPUBLISHED":
            if places < study.places:
                raise Refused(400, "total_available_places can only be increased.")
            self._reserve(self.cost(study.reward, places - study.places))
            if study.status in ("COMPLETED", "AWAITING REVIEW") and places > study.places:
                self._set_study(study, "ACTIVE")
        study.fields["total_available_places"] = places

    def _reserve(self, cost: int) -> None:
        if cost > self.balance:
            raise Refused(400, "There are not enough funds in the workspace.")
        self.balance -= cost

    # Submissions

    def of_study(self, study: Study) -> list[Submission]:
        return [submission for submission in self.submissions.values() if submission.study is study]

    def take_place(self, study: Study, participant: str) -> Submission:
        """A participant takes a place, or continues the active submission."""
        for submission in self.of_study(study):
            if submission.participant == participant and submission.status in TAKEN:
                return submission
        taken = sum(submission.status in TAKEN for submission in self.of_study(study))
        if study.status != "ACTIVE" or taken >= study.places:
            raise Refused(400, "This study has no places.")
        made = Submission(study, participant)
        self.submissions[made.id] = made
        self._set(made, made.status)
        return made

    def _set(self, submission: Submission, status: str) -> None:
        submission.status = status
        self.hooks.note(
            "submission.status.change",
            submission.id,
            participant_id=submission.participant,
            status=status,
        )

    def submission(self, submission_id: str) -> Submission:
        if submission_id not in self.submissions:
            raise Refused(404, "There is no such submission.")
        return self.submissions[submission_id]

    def complete(self, submission: Submission, code: str) -> None:
        """The participant returns with a code."""
        if submission.status != "ACTIVE":
            raise Refused(400, f"This submission is {submission.status}.")
        submission.completed_at, submission.code = _now(), code
        self._set(submission, "AWAITING REVIEW")
        for completion_code in submission.study.fields["completion_codes"]:
            for action in completion_code["actions"] if completion_code["code"] == code else ():
                if action["action"] == "REQUEST_RETURN":
                    self.request_return(submission, action["return_reason"])
                elif action["action"] == "AUTOMATICALLY_APPROVE":
                    self._set(submission, "APPROVED")
                elif action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                    self._screen_out(submission)

    def _screen_out(self, submission: Submission) -> None:
        """Pay the reward of a screen-out. The place becomes free, until the most are reached."""
        self._set(submission, "SCREENED OUT")
        study = submission.study
        screened_out = sum(other.status == "SCREENED OUT" for other in self.of_study(study))
        if screened_out >= study.screen_out[1] and study.status == "ACTIVE":
            self._set_study(study, "PAUSED")

    def screen_out(
        self, study: Study, submissions: list[Submission], *, bonus: int, increase: bool
    ) -> None:
        """Screen out submissions of a study with its own screening, and pay each a bonus."""
        if not study.fields.get("is_custom_screening"):
            raise Refused(400, "The study was not created with is_custom_screening.")
        for submission in submissions:
            is_open = submission.status in ("ACTIVE", "AWAITING REVIEW")
            if submission.study is not study or not is_open:
                raise Refused(400, f"Submission {submission.id} cannot be screened out.")
        bulk = self.set_up_bonuses(study, [(submission.id, bonus) for submission in submissions])
        self.pay_bonuses(bulk.id)
        for submission in submissions:
            self._set(submission, "SCREENED OUT")
        if not increase:
            # The places that are free now stay empty.
            study.fields["total_available_places"] = study.places - len(submissions)

    def request_return(self, submission: Submission, reason: str) -> None:
        if submission.status not in ("ACTIVE", "AWAITING REVIEW"):
            raise Refused(400, f"This submission is {submission.status}.")
        submission.return_requested = submission.return_requested or _now()
        submission.messages.append(reason)

    def give_back(self, submission: Submission) -> None:
        """The participant returns the submission, which frees the place."""
        if submission.status not in ("RESERVED", "ACTIVE", "AWAITING REVIEW"):
            raise Refused(400, f"This submission is {submission.status}.")
        self._set(submission, "RETURNED")

    def approve(self, submission: Submission) -> None:
        if submission.status == "APPROVED":
            return
        if submission.status != "AWAITING REVIEW":
            raise Refused(400, f"This submission is {submission.status}.")
        self._set(submission, "APPROVED")

    def reject(self, submission: Submission, message: str) -> None:
        if submission.status == "REJECTED":
            return
        if submission.status != "AWAITING REVIEW":
            raise Refused(400, f"This submission is {submission.status}.")
        self._set(submission, "REJECTED")
        submission.messages.append(message)

    # Bonuses

    def set_up_bonuses(self, study: Study, lines: list[tuple[str, int]]) -> Bulk:
        """Bonuses for participants or submissions of the study, by the id of either."""
        # Of several submissions of a participant, the latest.
        submission_ids = {
            submission.participant: submission.id for submission in self.of_study(study)
        }
        submission_ids |= {submission.id: submission.id for submission in self.of_study(study)}
        wrong = [identifier for identifier, _ in lines if identifier not in submission_ids]
        if wrong:
            raise Refused(400, f"These have not taken part: {', '.join(wrong)}")
        charges = [self.charges(cents) for _, cents in lines]
        amounts: dict[str, int] = {}
        for identifier, cents in lines:
            amounts[submission_ids[identifier]] = amounts.get(submission_ids[identifier], 0) + cents
        made = Bulk(study, amounts, sum(f for f, _ in charges), sum(v for _, v in charges))
        self.bulks[made.id] = made
        return made

    def pay_bonuses(self, bulk_id: str) -> None:
        if bulk_id not in self.bulks:
            raise Refused(404, "There are no such bonuses.")
        bulk = self.bulks[bulk_id]
        self._reserve(sum(bulk.amounts.values()) + bulk.fees + bulk.vat)
        bulk.times_paid += 1
        for submission, cents in bulk.amounts.items():
            self.submissions[submission].bonuses.append(cents)

    # Hooks

    def make_secret(self, workspace: str) -> str:
        """Make the workspace's secret, in place of the one before."""
        self.check_workspace(workspace)
        self.hooks.secret = secrets.token_urlsafe(24)
        return self.hooks.secret

    def subscribe(self, event_type: str, target_url: str, workspace: str) -> Subscription:
        """A subscription that waits to be confirmed."""
        self.check_workspace(workspace)
        if event_type not in EVENT_TYPES:
            raise Refused(400, "event_type: this event type does not exist.")
        if not self.hooks.secret:
            raise Refused(400, "Create a secret for the workspace first.")
        made = Subscription(event_type, target_url, workspace)
        self.hooks.subscriptions[made.id] = made
        return made

    def confirm(self, subscription_id: str, secret: str) -> Subscription:
        subscription = self._subscription(subscription_id)
        if not secrets.compare_digest(secret.encode(), subscription.secret.encode()):
            raise Refused(400, "secret: this is not the subscription's secret.")
        subscription.is_confirmed = True
        return subscription

    def unsubscribe(self, subscription_id: str) -> None:
        del self.hooks.subscriptions[self._subscription(subscription_id).id]

    def _subscription(self, subscription_id: str) -> Subscription:
        if subscription_id not in self.hooks.subscriptions:
            raise Refused(404, "There is no such subscription.")
        return self.hooks.subscriptions[subscription_id]

    def check_workspace(self, workspace: str) -> None:
        if workspace != self.workspace:
            raise Refused(404, "There is no such workspace.")

    # Money

    def spent(self, study: Study) -> dict[str, int]:
        """Cents of the study by kind, in the words of the site's Spent."""
        rewards = {"APPROVED": study.reward, "SCREENED OUT": study.screen_out[0]}
        paid = [
            rewards[submission.status]
            for submission in self.of_study(study)
            if submission.status in rewards
        ]
        charges = [self.charges(reward) for reward in paid]
        bulks = [bulk for bulk in self.bulks.values() if bulk.study is study]
        return {
            "rewards": sum(paid),
            "reward_fees": sum(fee for fee, _ in charges),
            "reward_tax": sum(vat for _, vat in charges),
            "bonuses": sum(sum(bulk.amounts.values()) * bulk.times_paid for bulk in bulks),
            "bonus_fees": sum(bulk.fees * bulk.times_paid for bulk in bulks),
            "bonus_tax": sum(bulk.vat * bulk.times_paid for bulk in bulks),
        }
