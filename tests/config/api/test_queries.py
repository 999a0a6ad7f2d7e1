"""Each list of the API takes the same few queries for 10 rows and for 200.

`test_page_queries` counts those of the lists of a campaign's tasks, responses and workers.
"""

from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.exports.records import context_of
from annotate.models import Image, Release, SelectedImage, Selection
from background.models import Job
from tests.factories import (
    NOON,
    CampaignFactory,
    SelectionFactory,
)

pytestmark = pytest.mark.django_db
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
        Release(
            campaign=(of := campaign()),
            name=f"r{next(numbers)}",
            seed=1,
            created_at=NOON,
            context=context_of(of),
        )
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
            about=campaign(),
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
    ("/api/campaigns/", campaigns, 7),
    (f"{PILOT}releases/", releases, 5),
    ("/api/releases/", releases, 4),
    ("/api/jobs/", jobs, 4),
]


@pytest.mark.parametrize(("address", "make", "queries"), LISTS, ids=[one[0] for one in LISTS])
def test_a_list_takes_a_fixed_number_of_queries(api, address, make, queries):
    taken = []
    for many in (10, 190):
        make(many)
        with CaptureQueriesContext(connection) as captured:
            answer = api.get(address, {"limit": 100})
        taken.append(len(captured))

    assert len(answer.json()["results"]) == 100
    assert taken == [queries, queries]
