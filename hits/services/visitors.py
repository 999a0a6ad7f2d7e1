"""What a task page reads about its worker."""

from typing import NamedTuple

from django.db import connection
from django.utils.translation import gettext

from annotate.models import Campaign
from corpora.errors import DomainError
from hits.services.accounts import ERASED
from hits.services.claims import NothingToDo
from hits.services.hit_pages import FrameParameters


class WaitsForVerdicts(DomainError):
    """The worker gets no new tasks until the worker's first responses are judged."""


class Visitor(NamedTuple):
    """The worker whose id a page's address has; `worker` is None if the marketplace never reported
    a submission by them."""

    worker: int | None
    # Any answer on a page of the campaign, but not a practice; forged ones, too, but they only fold
    # the instructions.
    has_written: bool
    has_submitted: bool  # this page's assignment, perhaps before their data was erased
    has_come: bool  # has submitted an assignment of the campaign
    is_excluded: bool
    is_paused: bool
    has_open_first_checks: bool  # in a campaign with a trial
    written: int  # responses to the campaign, as far as its trial counts them

    def refuse_new_task(self, campaign: Campaign) -> None:
        """Raises WaitsForVerdicts or NothingToDo if the worker may not get a task now."""
        if self.is_excluded or self.is_paused:
            raise NothingToDo(gettext("There is nothing left in this campaign for you."))
        if self.has_open_first_checks and self.written >= campaign.config.review.trial:
            raise WaitsForVerdicts(
                gettext("Your first answers are being checked. You can continue later.")
            )


_HAS_SUBMITTED = """EXISTS (
           SELECT 1 FROM hits_assignment AS assignment
           JOIN hits_hit AS hit ON hit.id = assignment.hit_id
           JOIN hits_workeraccount AS its ON its.id = assignment.account_id
           WHERE (its.marketplace_id = %(worker)s OR its.marketplace_id LIKE %(erased)s)
             AND assignment.assignment_id = %(assignment)s AND hit.hit_id = %(hit)s)"""
# With a column for each field of Visitor. In plain SQL, because each request for a task page needs
# it, and Django takes much longer to build it than the database to answer it. A test compares it
# with `qualcontrol.models.worker_state`.
_VISITOR = f"""
SELECT account.worker_id AS worker,
       EXISTS (
           SELECT 1 FROM annotate_response
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
             AND submission_id IS NOT NULL)
       OR EXISTS (
           SELECT 1 FROM hits_taskpage AS page JOIN hits_hit AS hit ON hit.id = page.hit_id
           WHERE page.marketplace_id = %(worker)s AND page.answered_at IS NOT NULL
             AND hit.campaign_id = %(campaign)s
             AND EXISTS (SELECT 1 FROM hits_claim WHERE page_id = page.id)) AS has_written,
       {_HAS_SUBMITTED} AS has_submitted,
       EXISTS (
           SELECT 1 FROM hits_assignment AS assignment
           JOIN hits_hit AS hit ON hit.id = assignment.hit_id
           WHERE assignment.account_id = account.id AND hit.campaign_id = %(campaign)s)
           AS has_come,
       EXISTS (
           SELECT 1 FROM qualcontrol_exclusion
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
             AND lifted_at IS NULL) AS is_excluded,
       EXISTS (
           SELECT 1 FROM qualcontrol_pause
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
             AND lifted_at IS NULL) AS is_paused,
       %(trial)s > 0 AND EXISTS (
           SELECT 1 FROM qualcontrol_spotcheck AS spot_check
           JOIN annotate_response AS response ON response.id = spot_check.response_id
           WHERE response.worker_id = account.worker_id AND response.status <> 'DISCARDED'
             AND spot_check.campaign_id = %(campaign)s AND spot_check.is_first
             AND spot_check.verdict = '') AS has_open_first_checks,
       (SELECT count(*) FROM (
           SELECT 1 FROM annotate_response
           WHERE worker_id = account.worker_id AND campaign_id = %(campaign)s
           LIMIT %(trial)s) AS counted) AS written
FROM (SELECT 1 AS one) AS one
LEFT JOIN hits_workeraccount AS account
    ON account.endpoint = %(endpoint)s AND account.marketplace_id = %(worker)s
"""


def visitor_of(campaign: Campaign, frame: FrameParameters) -> Visitor:
    """Read everything about the page's worker in one statement."""
    values: dict[str, int | str] = {
        "campaign": campaign.pk,
        "endpoint": campaign.endpoint,
        "trial": campaign.config.review.trial,
        **_ids(frame),
    }
    with connection.cursor() as cursor:
        cursor.execute(_VISITOR, values)
        names = [column[0] for column in cursor.description]
        return Visitor(**dict(zip(names, cursor.fetchone(), strict=True)))


def has_submitted(frame: FrameParameters) -> bool:
    """Whether the marketplace has reported the page's assignment as submitted."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_HAS_SUBMITTED}", _ids(frame))
        return bool(cursor.fetchone()[0])


def _ids(frame: FrameParameters) -> dict[str, str]:
    return {
        "worker": frame.worker_id,
        "assignment": frame.assignment_id,
        "hit": frame.hit_id,
        "erased": f"{ERASED}%",
    }
