"""Migrations keep the rows of earlier versions, on the way back and on the way on.

Most of the time goes into moving from version to version, so the rows of all cases move together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.apps.registry import Apps
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from annotate.kinds.caption.export import write_captions
from annotate.models import Claim, Release, Response
from annotate.queries.release_domains import NotRecorded, domains_of_release
from annotate.selection.domains import preset
from annotate.services.campaigns import recount_places
from annotate.services.releases import freeze
from hits.models import Assignment, TaskPage
from qualcontrol.models import (
    Decision,
    Gold,
    HeldCause,
    HeldPayment,
    Judgement,
    SpotCheck,
    WorkerRisk,
)
from qualcontrol.review.gold import seed_gold
from tests.factories import (
    NOON,
    AssignmentFactory,
    BoxFactory,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    TaskPageFactory,
    UserFactory,
    WorkerAccountFactory,
    WorkerFactory,
)
from tests.migrations import step_by_step

Version = list[tuple[str, str]]


class Case:
    """Rows that one migration must keep."""

    # The earlier version, before that migration.
    version: Version
    is_visited_on_the_way_on = False

    def prepare(self) -> None:
        """Make rows in the latest version."""

    def in_earlier_version(self, models: Apps) -> None:
        """Look at the rows, or make rows, in the earlier version."""

    def on_the_way_on(self, models: Apps) -> None:
        """Make rows in the earlier version again, if still earlier ones do not keep them."""

    def check(self) -> None:
        """Look at the rows in the latest version again."""


class ResponsesWithoutCampaigns(Case):
    version = [("annotate", "0035_failures")]

    def prepare(self):
        self.responses = [ResponseFactory(), ResponseFactory()]

    def in_earlier_version(self, models):
        names = [field.name for field in models.get_model("annotate", "Response")._meta.fields]
        assert "campaign" not in names

    def check(self):
        found = Response.objects.in_bulk([response.pk for response in self.responses])
        for response in self.responses:
            assert found[response.pk].campaign == response.task.campaign
        assert len({response.campaign_id for response in found.values()}) == 2


class ReleaseWithoutFacts(Case):
    """A release from before authors, boxes and campaigns were recorded."""

    version = [("annotate", "0013_priming_by_response")]

    def prepare(self):
        campaign = CampaignFactory(config={"references": 1})
        image = BoxFactory(object_class__name="Dog", image__author="Ada").image
        task = TaskFactory(campaign=campaign, image=image, number=1)
        ResponseFactory.create_batch(2, task=task)
        self.release = freeze(campaign=campaign, name="older", seed=1, at=NOON)
        self.files = exported(self.release)

    def check(self):
        """It keeps its bytes, and gets no facts that it did not record."""
        release = Release.objects.get(pk=self.release.pk)
        assert exported(release) == self.files
        assert (release.context, release.hidden) == (None, None)
        image = release.images.get()
        assert (image.details, image.is_hidden) == (None, False)
        assert domains_of_release(release) == {1: "in-domain"}
        with pytest.raises(NotRecorded, match="made before classes were recorded in releases"):
            domains_of_release(release, preset("nocaps-119"))


def exported(release: Release) -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in write_captions(release, Path(folder))}


class WorkerRiskIsAStanding(Case):
    version = [("qualcontrol", "0011_held_payments")]
    is_visited_on_the_way_on = True

    why = [{"sentence": "Verdicts: 3 bad, 0 good.", "effect": 4.5}]
    values = {"responses": 5, "bad": 3, "risk": 0.9, "forgiven": 3}

    def prepare(self):
        self.risk = WorkerRisk.objects.create(
            campaign=CampaignFactory(),
            worker=WorkerFactory(),
            reasons=self.why,
            expected_value=1.5,
            **self.values,
        )

    def in_earlier_version(self, models):
        old = models.get_model("qualcontrol", "Standing").objects.get(pk=self.risk.pk)
        assert (old.worth, old.because) == (1.5, self.why)

    def on_the_way_on(self, models):
        ours = {"campaign_id": self.risk.campaign_id, "worker_id": self.risk.worker_id}
        standings = models.get_model("qualcontrol", "Standing").objects
        standings.create(worth=1.5, because=self.why, **ours, **self.values)

    def check(self):
        found = WorkerRisk.objects.get(
            campaign=self.risk.campaign, worker=self.risk.worker, expected_value=1.5, **self.values
        )
        assert found.reasons == self.why


class UndecidedAnswersThatFitNoTask(Case):
    """Those without a decision are held for a person to decide."""

    version = [("hits", "0010_gone_hits_and_unknown_hits")]
    is_visited_on_the_way_on = True

    def prepare(self):
        self.waiting = AssignmentFactory(unplaced_answer="<QuestionFormAnswers/>")
        self.paid = AssignmentFactory(unplaced_answer="<x/>", status="APPROVED", decided_at=NOON)
        AssignmentFactory()

    def in_earlier_version(self, models):
        assignments = models.get_model("hits", "Assignment").objects
        assert set(assignments.values_list("unplaced_answer", flat=True)) >= {
            "<QuestionFormAnswers/>",
            "<x/>",
        }

    def on_the_way_on(self, models):
        for assignment in (self.waiting, self.paid):
            models.get_model("hits", "Assignment").objects.filter(pk=assignment.pk).update(
                unplaced_answer=assignment.unplaced_answer
            )

    def check(self):
        held = HeldPayment.objects.get()
        assert (held.assignment, held.cause) == (self.waiting, HeldCause.NO_TASK)
        assert held.campaign == self.waiting.hit.campaign
        assert held.worker == self.waiting.account.worker


BEFORE_PAGES = [("annotate", "0008_drop_tokens_without_an_end"), ("hits", "0005_hit_read_at")]


class TwoTasks(Case):
    version = BEFORE_PAGES

    def prepare(self):
        self.campaign = CampaignFactory()
        self.tasks = TaskFactory.create_batch(2, campaign=self.campaign, wanted=3)
        self.hit = HitFactory(hit_type=HitTypeFactory(campaign=self.campaign))


class ReportedResponses(TwoTasks):
    def prepare(self):
        super().prepare()
        first, second = self.tasks
        self.assignment = AssignmentFactory(hit=self.hit)
        self.counted = ResponseFactory(
            task=first,
            worker=self.assignment.account.worker,
            assignment=self.assignment,
            text="A dog.",
        )
        self.collected = ResponseFactory(task=second)
        TaskPageFactory(hit=self.hit)

    def in_earlier_version(self, models):
        claim = models.get_model("annotate", "Response").objects.get(pk=self.counted.pk).claim
        assert claim.status == "USED"
        assert [each.pk for each in claim.assignments.all()] == [self.assignment.pk]

    def check(self):
        counted = Response.objects.get(pk=self.counted.pk)
        assert counted.assignment == self.assignment
        assert counted.caption.text == "A dog."
        assert Response.objects.get(pk=self.collected.pk).assignment is None
        assert not TaskPage.objects.filter(hit=self.hit).exists()
        assert recount_places(self.campaign) == 0


class UnreportedResponses(TwoTasks):
    """What was not reported becomes a page or is deleted."""

    def prepare(self):
        super().prepare()
        self.account = WorkerAccountFactory()

    def in_earlier_version(self, models):
        def create(name: str, **values: Any) -> Any:
            return models.get_model(name).objects.create(**values)

        opened = create(
            "hits.Assignment",
            hit_id=self.hit.pk,
            account_id=self.account.pk,
            assignment_id="OPEN",
            status="OPENED",
        )
        who = {"worker_id": self.account.worker_id}
        times = {"claimed_at": NOON, "expires_at": NOON + timedelta(hours=1)}
        for task, status in zip(self.tasks, ["HELD", "RELEASED"], strict=True):
            claim = create("annotate.Claim", task_id=task.pk, status=status, **who, **times)
            opened.claims.add(claim)
            stored = create(
                "annotate.Response", task_id=task.pk, claim=claim, stored_at=NOON, **who
            )
            create("annotate.Caption", response=stored, text="A dog runs.")
            create("annotate.Behaviour", response=stored, keystrokes=7, device="PHONE")

    def check(self):
        page = TaskPage.objects.get(hit=self.hit)
        first, _ = self.tasks
        assert page.assignment_id == "OPEN"
        assert (page.marketplace_id, page.device) == (self.account.marketplace_id, "PHONE")
        assert page.fields == {f"caption-{first.number}": "A dog runs."}
        assert page.counts == {str(first.number): {"keystrokes": 7}}
        claims = Claim.objects.filter(task__campaign=self.campaign)
        assert [claim.task for claim in claims] == [first]
        assert not Response.objects.filter(task__campaign=self.campaign).exists()
        assert not Assignment.objects.filter(hit=self.hit).exists()
        assert recount_places(self.campaign) == 0


class TokensWithoutAnEnd(Case):
    """An earlier version's table of API tokens is dropped."""

    version = [("annotate", "0007_api_tokens")]

    def in_earlier_version(self, models):
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE authtoken_token (key varchar(40) PRIMARY KEY)")

    def check(self):
        assert "authtoken_token" not in connection.introspection.table_names()


class ResponsesWithoutKeys(Case):
    version = [("annotate", "0003_correspondences")]

    def prepare(self):
        self.responses = ResponseFactory.create_batch(3)

    def check(self):
        found = Response.objects.filter(pk__in=[response.pk for response in self.responses])
        assert len(set(found.values_list("key", flat=True)) - {None}) == 3


class GoldItemsWithoutKeys(Case):
    version = [("qualcontrol", "0007_intervals_of_shares")]
    # The first versions have no gold items.
    is_visited_on_the_way_on = True

    def prepare(self):
        self.task = TaskFactory(campaign__kind="caption")
        self.values = {"text": "A purple cow drives a tram.", "reason": "wrong"}
        for _ in range(3):
            seed_gold(task=self.task, actor=UserFactory(), at=NOON, **self.values)

    def in_earlier_version(self, models):
        gold = models.get_model("qualcontrol", "Gold").objects
        assert gold.filter(task_id=self.task.pk).count() == 3

    def on_the_way_on(self, models):
        gold = models.get_model("qualcontrol", "Gold").objects
        ours = {"task_id": self.task.pk, "campaign_id": self.task.campaign_id}
        for _ in range(3):
            gold.create(verdict="BAD", made_at=NOON, **ours, **self.values)

    def check(self):
        found = Gold.objects.filter(task=self.task)
        assert len(set(found.values_list("key", flat=True)) - {None}) == 3


class VerdictsWithoutJudgements(Case):
    version = [("qualcontrol", "0003_flags")]

    def prepare(self):
        self.campaign = CampaignFactory(config={"seed": 3, "review": {"share": 0.5}})
        verdict = {"verdict": "BAD", "reason": "vague"}
        self.checks = [
            SpotCheckFactory(response__task__campaign=self.campaign, judged_at=NOON, **verdict)
            for _ in range(8)
        ]
        self.reviewer = UserFactory()
        Judgement.objects.bulk_create(
            Judgement(spot_check=check, reviewer=self.reviewer, at=NOON, **verdict)
            for check in self.checks
        )

    def in_earlier_version(self, models):
        checks = models.get_model("qualcontrol", "SpotCheck").objects
        old = checks.filter(pk__in=[check.pk for check in self.checks])
        assert [check.reviewer_id for check in old] == 8 * [self.reviewer.pk]

    def check(self):
        found = Judgement.objects.values_list("spot_check", "reviewer", "verdict", "reason", "at")
        assert sorted(found) == [
            (check.pk, self.reviewer.pk, "BAD", "vague", NOON) for check in self.checks
        ]
        for check in SpotCheck.objects.filter(pk__in=[check.pk for check in self.checks]):
            assert check.campaign == self.campaign
            assert check.is_random == (check.draw < 0.5) != check.is_first


class UnguardedDecisions(Case):
    """The guard of the decision log is removed, and added again."""

    version = [("qualcontrol", "0001_initial")]

    def prepare(self):
        self.campaign, self.worker = CampaignFactory(), WorkerFactory()

    def in_earlier_version(self, models):
        decisions = models.get_model("qualcontrol", "Decision").objects
        decision = decisions.create(
            act="DISCARD", campaign_id=self.campaign.pk, worker_id=self.worker.pk, at=NOON
        )
        assert decisions.filter(pk=decision.pk).update(reason="changed while off") == 1

    def check(self):
        decision = Decision.objects.get(worker=self.worker)
        assert decision.reason == "changed while off"
        with pytest.raises(DatabaseError, match="only appended"), transaction.atomic():
            decision.delete()


# In the order of their versions, from the latest to the first.
CASES = [
    ResponsesWithoutCampaigns,
    ReleaseWithoutFacts,
    WorkerRiskIsAStanding,
    UndecidedAnswersThatFitNoTask,
    ReportedResponses,
    UnreportedResponses,
    TokensWithoutAnEnd,
    GoldItemsWithoutKeys,
    ResponsesWithoutKeys,
    VerdictsWithoutJudgements,
    UnguardedDecisions,
]


@dataclass
class Database:
    """The test database, which migrates to other versions."""

    executor: MigrationExecutor = field(default_factory=step_by_step)

    def __post_init__(self) -> None:
        self.latest = self.executor.loader.graph.leaf_nodes()

    def move(self, version: Version) -> Apps:
        """Migrate to the version; return its models."""
        self.executor.loader.build_graph()
        self.executor.migrate(version)
        return self.executor.loader.project_state(version).apps


@pytest.fixture
def database(transactional_db) -> Iterator[Database]:
    """Returns to the latest version at the end."""
    database = Database()
    yield database
    database.move(database.latest)


@pytest.mark.long
def test_the_rows_of_earlier_versions_are_kept(database):
    cases = [kind() for kind in CASES]
    for case in cases:
        case.prepare()

    for case in cases:
        case.in_earlier_version(database.move(case.version))
    for case in reversed(cases):
        if case.is_visited_on_the_way_on:
            case.on_the_way_on(database.move(case.version))
    database.move(database.latest)

    for case in cases:
        case.check()
