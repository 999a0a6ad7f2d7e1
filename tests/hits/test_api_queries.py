"""Each list of the API takes the same few queries for 10 rows and for 1,000."""

from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import (
    Caption,
    Image,
    Job,
    Release,
    Response,
    SelectedImage,
    Selection,
    Task,
    Worker,
)
from hits.models import Assignment, Bonus, Hit, WorkerAccount
from qualcontrol.models import Act, Assessment, Decision, SpotCheck
from tests.factories import (
    NOON,
    CampaignFactory,
    HitTypeFactory,
    SelectionFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.long]
numbers = count(1)


def images(many):
    """Images in the selection `scenes`, which they join."""
    selection = Selection.objects.filter(name="scenes").first() or SelectionFactory(name="scenes")
    made = Image.objects.bulk_create(
        Image(source="COCO", key=f"i{next(numbers)}", split="s") for _ in range(many)
    )
    SelectedImage.objects.bulk_create(
        SelectedImage(selection=selection, image=image, position=next(numbers)) for image in made
    )
    return made


def campaign():
    return CampaignFactory._meta.model.objects.filter(slug="pilot").first() or CampaignFactory(
        slug="pilot"
    )


def responses(many):
    """Responses of as many workers, each with a task, a check, flags, a decision and a bonus."""
    tasks = Task.objects.bulk_create(
        Task(
            campaign=campaign(),
            image=image,
            number=next(numbers),
            wanted=1,
            answers_missing=0,
            places_left=0,
        )
        for image in images(many)
    )
    workers = Worker.objects.bulk_create(Worker() for _ in range(many))
    made = Response.objects.bulk_create(
        Response(task=task, worker=worker, submitted_at=NOON)
        for task, worker in zip(tasks, workers, strict=True)
    )
    Caption.objects.bulk_create(Caption(response=one, text="A dog runs.") for one in made)
    SpotCheck.objects.bulk_create(
        SpotCheck(response=one, campaign=campaign(), drawn_at=NOON) for one in made
    )
    Assessment.objects.bulk_create(
        Assessment(response=one, campaign=campaign(), worker=one.worker, position=1) for one in made
    )
    Decision.objects.bulk_create(
        Decision(campaign=campaign(), act=Act.PAUSE, worker=worker, at=NOON) for worker in workers
    )
    _bonuses(workers)


def _bonuses(workers):
    hit_type = campaign().hit_types.first() or HitTypeFactory(campaign=campaign())
    hits = Hit.objects.bulk_create(
        Hit(
            campaign=campaign(),
            hit_type=hit_type,
            token=f"t{next(numbers)}",
            hit_id=f"h{next(numbers)}",
            status="OPEN",
            slots=1,
            reward="0.10",
            fee="0.02",
            planned_at=NOON,
        )
        for _ in workers
    )
    accounts = WorkerAccount.objects.bulk_create(
        WorkerAccount(worker=worker, endpoint="local", marketplace_id=f"A{next(numbers)}")
        for worker in workers
    )
    assignments = Assignment.objects.bulk_create(
        Assignment(
            hit=hit,
            account=account,
            assignment_id=f"a{next(numbers)}",
            status="APPROVED",
            submitted_at=NOON,
            decided_at=NOON,
        )
        for hit, account in zip(hits, accounts, strict=True)
    )
    Bonus.objects.bulk_create(
        Bonus(
            assignment=one,
            token=f"b{next(numbers)}",
            amount="0.50",
            fee="0.10",
            reason="Thanks.",
            planned_at=NOON,
            sent_at=NOON,
        )
        for one in assignments
    )


def campaigns(many):
    like = campaign()
    made = [
        CampaignFactory.build(
            team=like.team,
            slug=f"c{next(numbers)}",
            selection=like.selection,
            config_json=like.config_json,
        )
        for _ in range(many)
    ]
    type(like).objects.bulk_create(made)


def releases(many):
    Release.objects.bulk_create(
        Release(campaign=campaign(), name=f"r{next(numbers)}", seed=1, created_at=NOON)
        for _ in range(many)
    )


def selections(many):
    Selection.objects.bulk_create(
        Selection(
            team=campaign().team, name=f"s{next(numbers)}", split="s", count=1, created_at=NOON
        )
        for _ in range(many)
    )


def jobs(many):
    Job.objects.bulk_create(
        Job(
            kind="release",
            title="Release",
            team=campaign().team,
            campaign=campaign(),
            fingerprint=f"f{next(numbers)}",
            asked_at=NOON,
            due_at=NOON,
        )
        for _ in range(many)
    )


PILOT = "/api/campaigns/pilot/"
LISTS = [
    ("/api/images/", images, 3),
    ("/api/selections/", selections, 3),
    ("/api/selections/scenes/images/", images, 4),
    ("/api/campaigns/", campaigns, 9),
    (f"{PILOT}tasks/", responses, 5),
    (f"{PILOT}responses/", responses, 5),
    (f"{PILOT}spot-checks/", responses, 5),
    (f"{PILOT}workers/", responses, 14),
    (f"{PILOT}bonuses/", responses, 5),
    (f"{PILOT}decisions/", responses, 5),
    (f"{PILOT}releases/", releases, 5),
    ("/api/releases/", releases, 4),
    ("/api/jobs/", jobs, 3),
]


@pytest.mark.parametrize(("address", "make", "queries"), LISTS, ids=[one[0] for one in LISTS])
def test_a_list_takes_a_fixed_number_of_queries(api, address, make, queries):
    taken = []
    for many in (10, 990):
        make(many)
        with CaptureQueriesContext(connection) as captured:
            answer = api.get(address, {"limit": 500})
        taken.append(len(captured))

    assert len(answer.json()["results"]) == 500
    assert taken == [queries, queries]
