"""Invariants of a campaign and its marketplace, as plain SQL on both databases.

The SQL uses nothing of the products' code, so that an error there cannot hide itself. A statement
returns the rows that break an invariant. `broken` runs all of them, and returns a line for each
that has rows. The numbers are those of the list in `docs/internals.md`.

The statements describe an installation at rest: the last sync has ended.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import psycopg2

Row = tuple[Any, ...]
# Runs a statement of SQL, and returns its rows.
Rows = Callable[[str], list[Row]]
MOST_SHOWN = 3


@dataclass(frozen=True)
class Holds:
    """An invariant of one database: its statement returns no row."""

    number: int
    sentence: str
    sql: str


@dataclass(frozen=True)
class Covered:
    """An invariant of both databases: the second has every row of the first."""

    number: int
    sentence: str
    first: str
    second: str


# Released responses of all kinds of tasks.
RELEASED = """(SELECT image_id, response_id FROM annotate_releasedcaption
    UNION ALL SELECT image_id, response_id FROM annotate_releasedanswer)"""


SITE = (
    Holds(
        1,
        "A worker has at most one response for each task.",
        """SELECT task_id, worker_id FROM annotate_response
           GROUP BY task_id, worker_id HAVING count(*) > 1""",
    ),
    Holds(
        1,
        "A response names the campaign of its task.",
        """SELECT response.id FROM annotate_response AS response
           JOIN annotate_task AS task ON task.id = response.task_id
           WHERE response.campaign_id <> task.campaign_id""",
    ),
    Holds(
        2,
        "A released image has its references and one baseline, less those who cannot describe it, "
        "and no captions if these are as many as the quorum.",
        """SELECT id, captions, baselines, reasons FROM (
               SELECT image.id,
                      count(CASE WHEN caption.role <> 'REASON' THEN 1 END) AS captions,
                      count(CASE WHEN caption.role = 'BASELINE' THEN 1 END) AS baselines,
                      count(CASE WHEN caption.role = 'REASON' THEN 1 END) AS reasons,
                      CAST(campaign.config_json->>'references' AS integer) AS most_references,
                      CAST(campaign.config_json->>'baselines' AS integer) AS most_baselines,
                      CAST(campaign.config_json->'captions'->>'cannot_describe_quorum' AS integer)
                          AS quorum
               FROM annotate_releasedimage AS image
               JOIN annotate_release AS release ON release.id = image.release_id
               JOIN annotate_campaign AS campaign ON campaign.id = release.campaign_id
               LEFT JOIN annotate_releasedcaption AS caption ON caption.image_id = image.id
               WHERE campaign.kind = 'caption'
               GROUP BY image.id, campaign.config_json) AS counted
           WHERE captions <> CASE WHEN reasons >= quorum THEN 0
                                  ELSE most_references + most_baselines - reasons END
              OR baselines <> CASE WHEN captions < most_baselines THEN captions
                                   ELSE most_baselines END""",
    ),
    Holds(
        2,
        "The responses of a released image are by different workers.",
        f"""SELECT released.image_id FROM {RELEASED} AS released
            JOIN annotate_response AS response ON response.id = released.response_id
            GROUP BY released.image_id, response.campaign_id
            HAVING count(DISTINCT response.worker_id) <> count(*)""",
    ),
    Holds(
        2,
        "A released response has the text that was written.",
        """SELECT caption.id FROM annotate_releasedcaption AS caption
           JOIN annotate_response AS response ON response.id = caption.response_id
           JOIN annotate_caption AS written ON written.response_id = response.id
           WHERE written.text || response.cannot_describe <> caption.text""",
    ),
    Holds(
        2,
        "When it was released, a response was of the image's task, counted, and was by a worker "
        "who was not excluded. A campaign may keep what an excluded worker wrote before the first "
        "bad response.",
        f"""SELECT response.id FROM {RELEASED} AS released
            JOIN annotate_releasedimage AS image ON image.id = released.image_id
            JOIN annotate_release AS release ON release.id = image.release_id
            JOIN annotate_response AS response ON response.id = released.response_id
            WHERE response.task_id <> image.task_id
               OR (response.status <> 'SUBMITTED'
                   AND NOT EXISTS (SELECT 1 FROM qualcontrol_decision AS later
                                   WHERE later.response_id = response.id
                                     AND later.act = 'DISCARD' AND later.at >= release.created_at))
               OR EXISTS (SELECT 1 FROM qualcontrol_exclusion AS exclusion
                          WHERE exclusion.worker_id = response.worker_id
                            AND exclusion.campaign_id = release.campaign_id
                            AND exclusion.excluded_at <= release.created_at
                            AND (exclusion.lifted_at IS NULL
                                 OR exclusion.lifted_at > release.created_at))
                  AND (release.context->'campaign_file'->'review'->>'discard' = 'all'
                       OR NOT EXISTS (SELECT 1 FROM qualcontrol_decision AS judged
                                      JOIN annotate_response AS bad ON bad.id = judged.response_id
                                      WHERE judged.act = 'JUDGE_BAD'
                                        AND bad.worker_id = response.worker_id
                                        AND bad.campaign_id = response.campaign_id)
                       OR EXISTS (SELECT 1 FROM qualcontrol_assessment AS own
                                  JOIN qualcontrol_assessment AS bad
                                    ON bad.worker_id = own.worker_id
                                   AND bad.campaign_id = own.campaign_id
                                   AND bad.position <= own.position
                                  JOIN qualcontrol_spotcheck AS spot_check
                                    ON spot_check.response_id = bad.response_id
                                  WHERE own.response_id = response.id
                                    AND spot_check.verdict = 'BAD'
                                    AND spot_check.judged_at <= release.created_at))""",
    ),
    Holds(
        2,
        "The versions of a text that count are its rounds, each of which builds on the last one.",
        """SELECT version.id FROM annotate_response AS version
           JOIN annotate_task AS task ON task.id = version.task_id
           LEFT JOIN annotate_response AS base ON base.id = version.builds_on_id
           WHERE version.status = 'SUBMITTED' AND version.round IS NOT NULL
             AND (version.round > task.wanted
               OR (version.round > 1 AND (base.task_id <> version.task_id
                                          OR base.round <> version.round - 1
                                          OR base.status <> 'SUBMITTED')))""",
    ),
    Holds(
        2,
        "A released text in rounds has all rounds, and is the text of the last one.",
        """SELECT image.id FROM annotate_releasedimage AS image
           JOIN annotate_task AS task ON task.id = image.task_id
           JOIN annotate_campaign AS campaign ON campaign.id = task.campaign_id
           WHERE campaign.kind = 'refine'
             AND (task.wanted <>
                      (SELECT count(DISTINCT response.round)
                       FROM annotate_releasedanswer AS released
                       JOIN annotate_response AS response ON response.id = released.response_id
                       WHERE released.image_id = image.id)
               OR NOT EXISTS
                      (SELECT 1 FROM annotate_releasedanswer AS released
                       JOIN annotate_response AS response ON response.id = released.response_id
                       JOIN annotate_answer AS answer ON answer.response_id = response.id
                       WHERE released.image_id = image.id AND response.round = task.wanted
                         AND answer.content->>'text' = image.record->>'text'))""",
    ),
    Holds(
        2,
        "A worker who is excluded, and whose responses are all discarded, has none that counts.",
        """SELECT response.id FROM annotate_response AS response
           JOIN annotate_task AS task ON task.id = response.task_id
           JOIN annotate_campaign AS campaign ON campaign.id = task.campaign_id
           JOIN qualcontrol_exclusion AS exclusion
             ON exclusion.worker_id = response.worker_id AND exclusion.campaign_id = campaign.id
           WHERE exclusion.lifted_at IS NULL AND response.status = 'SUBMITTED'
             AND campaign.config_json->'review'->>'discard' = 'all'""",
    ),
    Holds(
        2,
        "A response that is judged bad does not count.",
        """SELECT response.id FROM annotate_response AS response
           JOIN qualcontrol_spotcheck AS spot ON spot.response_id = response.id
           WHERE spot.verdict = 'BAD' AND response.status = 'SUBMITTED'""",
    ),
    Holds(
        3,
        "A HIT that exists was asked for once, and its tokens differ.",
        "SELECT token FROM hits_hit GROUP BY token HAVING count(*) > 1",
    ),
    Holds(
        4,
        "Paid, owed, open and bonuses do not exceed the campaign's budget.",
        """SELECT campaign.slug FROM annotate_campaign AS campaign WHERE
           coalesce((SELECT sum(hit.reward + hit.fee) FROM hits_assignment AS assignment
                     JOIN hits_hit AS hit ON hit.id = assignment.hit_id
                     WHERE hit.campaign_id = campaign.id
                       AND (assignment.status IN ('APPROVED', 'SUBMITTED')
                            OR (assignment.status = 'LOST' AND hit.status = 'GONE'))), 0)
         + coalesce((SELECT sum((hit.reward + hit.fee) *
                       CASE WHEN hit.status = 'PLANNED' THEN hit.slots
                            ELSE hit.available + hit.pending END)
                     FROM hits_hit AS hit WHERE hit.campaign_id = campaign.id), 0)
         + coalesce((SELECT sum(bonus.amount + bonus.fee) FROM hits_bonus AS bonus
                     JOIN hits_assignment AS assignment
                       ON assignment.submission_id = bonus.assignment_id
                     JOIN hits_hit AS hit ON hit.id = assignment.hit_id
                     WHERE hit.campaign_id = campaign.id), 0)
         > campaign.budget + 0.001""",
    ),
    Holds(
        5,
        "Every account and assignment of a campaign is of the campaign's endpoint.",
        """SELECT assignment.submission_id FROM hits_assignment AS assignment
           JOIN hits_hit AS hit ON hit.id = assignment.hit_id
           JOIN annotate_campaign AS campaign ON campaign.id = hit.campaign_id
           JOIN hits_workeraccount AS account ON account.id = assignment.account_id
           WHERE account.endpoint <> campaign.endpoint""",
    ),
    Holds(
        6,
        "A submitted assignment has a response, a practice, or the text of its answer, which is "
        "deleted with the worker's id.",
        """SELECT assignment.submission_id FROM hits_assignment AS assignment
           JOIN hits_workeraccount AS account ON account.id = assignment.account_id
           WHERE assignment.status <> 'LOST' AND assignment.unplaced_answer = ''
             AND assignment.practice = '' AND account.id_deleted_at IS NULL
             AND NOT EXISTS (SELECT 1 FROM annotate_response AS response
                             WHERE response.submission_id = assignment.submission_id)""",
    ),
    Holds(
        6,
        "Every submission is that of an assignment.",
        """SELECT submission.id FROM annotate_submission AS submission
           LEFT JOIN hits_assignment AS assignment ON assignment.submission_id = submission.id
           WHERE assignment.submission_id IS NULL""",
    ),
    Holds(
        6,
        "A response of a caption campaign has a caption.",
        """SELECT response.id FROM annotate_response AS response
           JOIN annotate_task AS task ON task.id = response.task_id
           JOIN annotate_campaign AS campaign ON campaign.id = task.campaign_id
           WHERE campaign.kind = 'caption'
             AND NOT EXISTS (SELECT 1 FROM annotate_caption AS caption
                             WHERE caption.response_id = response.id)""",
    ),
    Holds(
        6,
        "A task's counters agree with its responses and claims.",
        """SELECT task.id FROM annotate_task AS task
           WHERE task.answers_missing <> task.wanted
                 - (SELECT count(*) FROM annotate_response AS response
                    WHERE response.task_id = task.id AND response.status = 'SUBMITTED')
              OR task.places_left <> CASE WHEN task.at_once < task.answers_missing
                                          THEN task.at_once ELSE task.answers_missing END
                 - (SELECT count(*) FROM hits_claim AS claim
                    WHERE claim.task_id = task.id AND claim.takes_place)""",
    ),
    Holds(
        6,
        "A task wants as many responses as its campaign, or as it has, if its image is closed.",
        """SELECT task.id FROM annotate_task AS task
           JOIN annotate_campaign AS campaign ON campaign.id = task.campaign_id
           JOIN annotate_response AS response ON response.task_id = task.id
           WHERE campaign.kind = 'caption' AND response.status = 'SUBMITTED'
           GROUP BY task.id, campaign.config_json
           HAVING task.wanted <> CASE
               WHEN count(CASE WHEN response.cannot_describe <> '' THEN 1 END)
                    >= CAST(campaign.config_json->'captions'->>'cannot_describe_quorum' AS integer)
               THEN count(*)
               ELSE CAST(campaign.config_json->>'references' AS integer)
                    + CAST(campaign.config_json->>'baselines' AS integer) END""",
    ),
    Holds(
        8,
        "Every worker has an assignment that the marketplace reported, or an imported response.",
        """SELECT worker.id FROM annotate_worker AS worker
           WHERE NOT EXISTS (SELECT 1 FROM hits_workeraccount AS account
                             JOIN hits_assignment AS assignment
                               ON assignment.account_id = account.id
                             WHERE account.worker_id = worker.id)
             AND NOT EXISTS (SELECT 1 FROM annotate_response AS response
                             WHERE response.worker_id = worker.id
                               AND response.imported_from_id IS NOT NULL)""",
    ),
    Holds(
        9,
        "The last decision of a person about excluding a worker is in force.",
        """SELECT said.worker_id, said.act FROM qualcontrol_decision AS said
           WHERE said.actor_id IS NOT NULL AND said.act IN ('EXCLUDE', 'REINSTATE')
             AND NOT EXISTS (SELECT 1 FROM qualcontrol_decision AS later
                             WHERE later.campaign_id = said.campaign_id
                               AND later.worker_id = said.worker_id AND later.id > said.id
                               AND later.act IN ('EXCLUDE', 'REINSTATE'))
             AND (said.act = 'EXCLUDE') <>
                 EXISTS (SELECT 1 FROM qualcontrol_exclusion AS exclusion
                         WHERE exclusion.campaign_id = said.campaign_id
                           AND exclusion.worker_id = said.worker_id
                           AND exclusion.lifted_at IS NULL)""",
    ),
    Holds(
        9,
        "The exclusion of an appeal that was granted is not in force.",
        """SELECT appeal.id FROM qualcontrol_appeal AS appeal
           JOIN qualcontrol_exclusion AS exclusion ON exclusion.id = appeal.exclusion_id
           WHERE appeal.is_granted AND exclusion.lifted_at IS NULL""",
    ),
    Holds(
        9,
        "Where a second opinion was asked for, two reviewers agree about the verdict.",
        """SELECT spot.id FROM qualcontrol_spotcheck AS spot
           JOIN qualcontrol_secondopinion AS asked ON asked.response_id = spot.response_id
           WHERE asked.withdrawn_at IS NULL AND spot.verdict <> '' AND NOT spot.is_changed
             AND (SELECT count(*) FROM qualcontrol_judgement AS judgement
                  WHERE judgement.spot_check_id = spot.id
                    AND judgement.verdict = spot.verdict) < 2""",
    ),
    Holds(
        9,
        "The policy excludes no worker again without a new bad verdict.",
        """SELECT excluded.id FROM qualcontrol_decision AS excluded
           JOIN qualcontrol_decision AS lifted
             ON lifted.campaign_id = excluded.campaign_id
            AND lifted.worker_id = excluded.worker_id AND lifted.id < excluded.id
           WHERE excluded.act = 'EXCLUDE' AND excluded.actor_id IS NULL
             AND lifted.act = 'REINSTATE'
             AND NOT EXISTS (SELECT 1 FROM qualcontrol_decision AS verdict
                             JOIN annotate_response AS response
                               ON response.id = verdict.response_id
                             WHERE verdict.act = 'JUDGE_BAD' AND verdict.id > lifted.id
                               AND verdict.id < excluded.id
                               AND response.worker_id = excluded.worker_id)""",
    ),
    Holds(
        9,
        "An assignment that a person rejected before it was paid is not paid.",
        """SELECT assignment.submission_id FROM hits_assignment AS assignment
           JOIN annotate_response AS response ON response.submission_id = assignment.submission_id
           JOIN qualcontrol_decision AS decision
             ON decision.response_id = response.id AND decision.act = 'REJECT'
           WHERE assignment.status = 'APPROVED' AND decision.at < assignment.decided_at""",
    ),
    Holds(
        9,
        "An answer that fits no task is paid only if a person says so.",
        """SELECT assignment.submission_id FROM hits_assignment AS assignment
           JOIN qualcontrol_heldpayment AS held ON held.submission_id = assignment.submission_id
           WHERE held.cause = 'NO_TASK' AND assignment.status = 'APPROVED'
             AND held.outcome NOT IN ('PAY', 'LAPSED')""",
    ),
    Holds(
        10,
        "A release that is not partial has every task of its campaign.",
        """SELECT release.name FROM annotate_release AS release
           WHERE NOT release.is_partial AND
             (SELECT count(*) FROM annotate_releasedimage AS image
              WHERE image.release_id = release.id)
             <> (SELECT count(*) FROM annotate_task AS task
                 WHERE task.campaign_id = release.campaign_id)""",
    ),
    Holds(
        10,
        "A release that is not partial was made when every required check had its verdict.",
        """SELECT release.name FROM annotate_release AS release
           JOIN qualcontrol_spotcheck AS spot ON spot.campaign_id = release.campaign_id
           JOIN annotate_response AS response ON response.id = spot.response_id
           WHERE NOT release.is_partial AND (spot.is_random OR spot.is_first)
             AND spot.verdict = '' AND response.status = 'SUBMITTED'""",
    ),
    Holds(
        11,
        "No problem is left after the last sync.",
        "SELECT subject, message FROM hits_syncproblem",
    ),
)

MARKETPLACE = (
    Holds(
        3,
        "An assignment is paid once, with one fee.",
        """SELECT assignment_id, kind FROM marketplace_transfer
           WHERE kind IN ('reward', 'fee') GROUP BY assignment_id, kind HAVING count(*) > 1""",
    ),
    Holds(
        3,
        "An approved assignment is paid its reward, and no other one is.",
        """SELECT assignment.id FROM marketplace_assignment AS assignment
           JOIN marketplace_hit AS hit ON hit.id = assignment.hit_id
           JOIN marketplace_hittype AS type ON type.id = hit.hit_type_id
           WHERE coalesce((SELECT sum(transfer.amount) FROM marketplace_transfer AS transfer
                           WHERE transfer.assignment_id = assignment.id
                             AND transfer.kind = 'reward'), 0)
              <> CASE WHEN assignment.status = 'Approved' THEN type.reward ELSE 0 END""",
    ),
    Holds(
        3,
        "A requester's balances are what the ledger says.",
        """SELECT requester.id FROM marketplace_requester AS requester
           WHERE requester.available_balance <> coalesce(
             (SELECT sum(CASE WHEN transfer.target = 'available' THEN transfer.amount ELSE 0 END)
                   - sum(CASE WHEN transfer.source = 'available' THEN transfer.amount ELSE 0 END)
              FROM marketplace_transfer AS transfer
              WHERE transfer.requester_id = requester.id), 0)
           OR requester.held_balance <> coalesce(
             (SELECT sum(CASE WHEN transfer.target = 'held' THEN transfer.amount ELSE 0 END)
                   - sum(CASE WHEN transfer.source = 'held' THEN transfer.amount ELSE 0 END)
              FROM marketplace_transfer AS transfer
              WHERE transfer.requester_id = requester.id), 0)""",
    ),
    Holds(
        3,
        "A HIT's counts are those of its assignments.",
        """SELECT hit.id FROM marketplace_hit AS hit
           LEFT JOIN marketplace_assignment AS assignment ON assignment.hit_id = hit.id
           GROUP BY hit.id, hit.pending, hit.completed, hit.unreviewed
           HAVING hit.pending <> count(CASE WHEN assignment.status = 'Accepted' THEN 1 END)
               OR hit.unreviewed <> count(CASE WHEN assignment.status = 'Submitted' THEN 1 END)
               OR hit.completed <> count(CASE WHEN assignment.status IN ('Approved', 'Rejected')
                                              THEN 1 END)""",
    ),
)

SUBMITTED = """SELECT assignment.public_id, worker.public_id
    FROM marketplace_assignment AS assignment
    JOIN marketplace_worker AS worker ON worker.id = assignment.worker_id
    WHERE assignment.status IN ({})"""
KNOWN = """SELECT assignment.assignment_id, account.marketplace_id
    FROM hits_assignment AS assignment
    JOIN hits_workeraccount AS account ON account.id = assignment.account_id
    WHERE assignment.status IN ({})"""
DECIDED_THERE, DECIDED_HERE = "'Approved', 'Rejected'", "'APPROVED', 'REJECTED'"

# The marketplace has no row that the site does not have.
MARKETPLACE_IN_SITE = (
    Covered(
        3,
        "The marketplace has no HIT, and no slot of a HIT, that the database did not ask for.",
        "SELECT public_id, max_assignments FROM marketplace_hit",
        "SELECT hit_id, slots FROM hits_hit WHERE hit_id IS NOT NULL",
    ),
    Covered(
        3,
        "The marketplace paid no assignment that the database does not know as approved.",
        SUBMITTED.format("'Approved'"),
        KNOWN.format("'APPROVED'"),
    ),
    Covered(
        3,
        "The marketplace paid no bonus that the database did not plan, and none twice.",
        """SELECT assignment.public_id, bonus.amount, count(*)
           FROM marketplace_bonuspayment AS bonus
           JOIN marketplace_assignment AS assignment ON assignment.id = bonus.assignment_id
           GROUP BY assignment.public_id, bonus.amount""",
        """SELECT assignment.assignment_id, CAST(round(bonus.amount * 100) AS integer), count(*)
           FROM hits_bonus AS bonus
           JOIN hits_assignment AS assignment
             ON assignment.submission_id = bonus.assignment_id
           GROUP BY assignment.assignment_id, bonus.amount""",
    ),
    Covered(
        6,
        "Every answer that was submitted at the marketplace is known.",
        SUBMITTED.format(f"'Submitted', {DECIDED_THERE}"),
        KNOWN.format(f"'SUBMITTED', {DECIDED_HERE}"),
    ),
)
# The site has no row that the marketplace does not have.
SITE_IN_MARKETPLACE = (
    Covered(
        8,
        "Every assignment of the database was submitted at the marketplace, by the same worker.",
        KNOWN.format(f"'SUBMITTED', {DECIDED_HERE}"),
        SUBMITTED.format(f"'Submitted', {DECIDED_THERE}"),
    ),
    Covered(
        9,
        "An assignment that is rejected here is rejected at the marketplace.",
        KNOWN.format("'REJECTED'"),
        SUBMITTED.format("'Rejected'"),
    ),
)
NUMBER = len((*SITE, *MARKETPLACE, *MARKETPLACE_IN_SITE, *SITE_IN_MARKETPLACE))


@contextmanager
def reading(database_url: str) -> Iterator[Rows]:
    """Connect to a database by its URL, `postgres://…` or `sqlite:///FILE`, to run statements."""
    parts = urlsplit(database_url)
    opened = (
        sqlite3.connect(f"file:{parts.path[1:]}?mode=ro", uri=True)
        if parts.scheme == "sqlite"
        else psycopg2.connect(database_url)
    )
    with closing(opened) as connection:

        def rows(sql: str) -> list[Row]:
            with closing(connection.cursor()) as cursor:
                cursor.execute(sql)
                rows: list[Row] = cursor.fetchall()
                return rows

        yield rows


def broken(site: Rows, marketplace: Rows | None = None) -> list[str]:
    """A line for each invariant that does not hold: its number, sentence and first rows."""
    lines = [_line(rule, rows) for rule in SITE if (rows := site(rule.sql))]
    if marketplace is None:
        return lines
    lines += [_line(rule, rows) for rule in MARKETPLACE if (rows := marketplace(rule.sql))]
    pairs = [(rule, marketplace, site) for rule in MARKETPLACE_IN_SITE]
    pairs += [(rule, site, marketplace) for rule in SITE_IN_MARKETPLACE]
    for rule, first, second in pairs:
        if missing := set(first(rule.first)) - set(second(rule.second)):
            lines.append(_line(rule, sorted(missing)))
    return lines


def broken_in(site_url: str, marketplace_url: str) -> list[str]:
    """The same, for two databases by their URLs."""
    with reading(site_url) as site, reading(marketplace_url) as marketplace:
        return broken(site, marketplace)


def _line(invariant: Holds | Covered, rows: Sequence[Row]) -> str:
    shown = ", ".join(map(str, rows[:MOST_SHOWN]))
    return f"{invariant.number}. {invariant.sentence} {len(rows)} rows break it: {shown}"
