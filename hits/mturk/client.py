"""The calls that we make to the marketplace's API.

botocore may repeat a call whose first attempt took effect. Calls that create something therefore
send a token that is already in the database. A repeated decision gets an error, and the caller
then reads the assignment's status.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import chain
from typing import Any

from django.conf import settings

from annotate.models import Campaign
from hits.mturk import replies
from hits.mturk.connection import PAGE, Connection, MarketplaceError, StrangeReply, checked, strange
from hits.mturk.endpoints import WrongEndpoint, endpoint_of
from hits.mturk.replies import CreatedHit, ListedAssignment, ListedHit, SentBonus
from shared.database.transactions import batches

log = logging.getLogger(__name__)

ALL_STATUSES = ["Submitted", "Approved", "Rejected"]


class Marketplace(Connection):
    """The API of one marketplace. Every method may raise MarketplaceError."""

    def balance(self) -> Decimal:
        return self._ask(replies.Balance, "get_account_balance").available

    def hits(self) -> Iterator[ListedHit]:
        """Yield all HITs of the account that are not deleted; see `hit_pages`."""
        return chain.from_iterable(self.hit_pages())

    def hit_pages(self) -> Iterator[list[ListedHit]]:
        """Yield all HITs of the account that are not deleted, page by page.

        HITs whose entry cannot be used are skipped. For these, `hit` raises the error.
        """
        for page in self._pages("list_hits", "HITs"):
            yield list(_readable(page))

    def assignments(
        self, hit_id: str, *, most: int | None = None
    ) -> Iterator[ListedAssignment | StrangeReply]:
        """Yield the submitted assignments of the HIT, including decided ones. If an entry cannot
        be used, yield its error instead.

        `most` is the number of assignments, if known. After that many, no further page is
        requested; otherwise there would be one more call, as the last page also has a token.
        """
        items = 0
        for page in self._pages(
            "list_assignments_for_hit",
            "Assignments",
            HITId=hit_id,
            AssignmentStatuses=ALL_STATUSES,
        ):
            for item in page:
                yield self._assignment_of(hit_id, item)
            items += len(page)
            if most is not None and items >= most:
                return

    def _assignment_of(self, hit_id: str, item: Any) -> ListedAssignment | StrangeReply:
        operation = "list_assignments_for_hit"
        try:
            listed = checked(ListedAssignment, item, operation)
        except StrangeReply as error:
            return error
        if listed.hit_id != hit_id:
            return strange(operation, "an assignment is one of another HIT")
        return listed

    def assignment(self, assignment_id: str) -> ListedAssignment:
        listed = self._ask(
            ListedAssignment, "get_assignment", "Assignment", AssignmentId=assignment_id
        )
        if listed.assignment_id != assignment_id:
            raise strange("get_assignment", "it is about another assignment")
        return listed

    def hit(self, hit_id: str) -> ListedHit:
        listed = self._ask(ListedHit, "get_hit", "HIT", HITId=hit_id)
        if listed.hit_id != hit_id:
            raise strange("get_hit", "it is about another HIT")
        return listed

    def hit_type(self, **properties: Any) -> str:
        """Create a HIT type and return its id. The same properties always give the same id."""
        return self._ask(replies.MadeHitType, "create_hit_type", **properties).hit_type_id

    def create_hit(
        self,
        *,
        hit_type_id: str,
        slots: int,
        lifetime_seconds: int,
        question: str,
        annotation: str,
        token: str,
    ) -> CreatedHit:
        """Create a HIT and return it, or return the HIT created earlier with this token."""
        try:
            return self._ask(
                CreatedHit,
                "create_hit_with_hit_type",
                "HIT",
                HITTypeId=hit_type_id,
                MaxAssignments=slots,
                LifetimeInSeconds=lifetime_seconds,
                Question=question,
                RequesterAnnotation=annotation,
                UniqueRequestToken=token,
            )
        except MarketplaceError as error:
            named = re.search(r"HIT with ID \W?([A-Z0-9]{1,64})", str(error))
            if "HitAlreadyExists" in error.code and named:
                return CreatedHit(HITId=named[1])
            raise

    def send_events(
        self, *, hit_type_id: str, queue_url: str, event_types: Sequence[str], version: str
    ) -> None:
        """Ask the marketplace to send the events of the type's HITs to an SQS queue."""
        self._call(
            "update_notification_settings",
            HITTypeId=hit_type_id,
            Notification={
                "Destination": queue_url,
                "Transport": "SQS",
                "Version": version,
                "EventTypes": list(event_types),
            },
            Active=True,
        )

    def stop_events(self, hit_type_id: str) -> None:
        """Ask the marketplace to stop sending the events of the type."""
        self._call("update_notification_settings", HITTypeId=hit_type_id, Active=False)

    def expire_hit(self, hit_id: str) -> None:
        """Close the HIT to new workers. Workers who have accepted it can finish."""
        # Any time in the past expires a HIT now. An hour allows for a clock that is ahead of the
        # marketplace's.
        past = datetime.now(UTC) - timedelta(hours=1)
        try:
            self._call("update_expiration_for_hit", HITId=hit_id, ExpireAt=past)
        except MarketplaceError as error:
            # The HIT was expired by an earlier call.
            if "idempotency" not in str(error).lower():
                raise

    def delete_hit(self, hit_id: str) -> None:
        """Delete a HIT whose assignments are all decided; do nothing if it does not exist."""
        try:
            self._call("delete_hit", HITId=hit_id)
        except MarketplaceError as error:
            if not error.says_gone:
                raise

    def approve(self, assignment_id: str) -> None:
        self._call("approve_assignment", AssignmentId=assignment_id)

    def reject(self, assignment_id: str, reason: str) -> None:
        self._call("reject_assignment", AssignmentId=assignment_id, RequesterFeedback=reason)

    def send_bonus(
        self, *, worker_id: str, assignment_id: str, amount: Decimal, reason: str, token: str
    ) -> None:
        """Pay a bonus. Further calls with the same token do nothing."""
        try:
            self._call(
                "send_bonus",
                WorkerId=worker_id,
                AssignmentId=assignment_id,
                BonusAmount=str(amount),
                Reason=reason,
                UniqueRequestToken=token,
            )
        except MarketplaceError as error:
            if "idempotency" not in str(error).lower():
                raise

    def bonuses(self, assignment_id: str) -> list[SentBonus]:
        """The bonuses that were paid for the assignment."""
        operation = "list_bonus_payments"
        pages = self._pages(operation, "BonusPayments", AssignmentId=assignment_id)
        return [checked(SentBonus, item, operation) for item in chain.from_iterable(pages)]

    def qualification_type(self, *, name: str, description: str) -> str:
        """The id of our qualification type of this name, created if there is none."""
        # Listing first would not work: a type that was just created may not be listed yet.
        try:
            return self._ask(
                replies.QualificationType,
                "create_qualification_type",
                "QualificationType",
                Name=name,
                Description=description,
                QualificationTypeStatus="Active",
            ).type_id
        except MarketplaceError as error:
            if "already created a QualificationType" not in str(error):
                raise
        operation = "list_qualification_types"
        pages = self._pages(
            operation,
            "QualificationTypes",
            Query=name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        for item in chain.from_iterable(pages):
            if isinstance(item, dict) and item.get("Name") == name:
                return checked(replies.QualificationType, item, operation).type_id
        raise MarketplaceError(
            f"The marketplace has a qualification type {name!r} but does not list it yet; "
            "sync again in a minute."
        )

    def grant(self, *, qualification_type_id: str, worker_id: str) -> None:
        """Grant the qualification to the worker without notifying them.

        Does nothing if the marketplace does not know the worker.
        """
        try:
            self._call(
                "associate_qualification_with_worker",
                QualificationTypeId=qualification_type_id,
                WorkerId=worker_id,
                IntegerValue=1,
                SendNotification=False,
            )
        except MarketplaceError as error:
            if not error.says_no_worker:
                raise

    def revoke(self, *, qualification_type_id: str, worker_id: str) -> None:
        """Revoke the worker's qualification; do nothing if the worker does not have it."""
        try:
            self._call(
                "disassociate_qualification_from_worker",
                QualificationTypeId=qualification_type_id,
                WorkerId=worker_id,
            )
        except MarketplaceError as error:
            if "QualificationDoesNotExist" not in error.code and not error.says_no_worker:
                raise

    def notify(self, *, worker_ids: Sequence[str], subject: str, text: str) -> list[str]:
        """Send a message to workers; return the ids of the workers it did not reach."""
        failed: list[str] = []
        for some in batches(worker_ids, PAGE):
            reply = self._ask(
                replies.Notified,
                "notify_workers",
                Subject=subject,
                MessageText=text,
                WorkerIds=some,
            )
            failed += [failure.worker_id for failure in reply.not_reached]
        return failed


def _readable(items: list[Any]) -> Iterator[ListedHit]:
    for item in items:
        try:
            yield checked(ListedHit, item, "list_hits")
        except StrangeReply as error:
            log.debug("A HIT is passed over: %s", error)


def marketplace_of(campaign: Campaign) -> Marketplace:
    """The campaign's marketplace; raises WrongEndpoint if MTURK_ENDPOINT is another."""
    if campaign.endpoint != settings.MTURK_ENDPOINT:
        raise WrongEndpoint(
            f"{campaign} belongs to the marketplace {campaign.endpoint!r}, but MTURK_ENDPOINT is "
            f"{settings.MTURK_ENDPOINT!r}. Nothing was sent."
        )
    return Marketplace(endpoint_of(campaign.endpoint))
