import random
from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.db import connection, transaction
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext

from annotate.kinds import KINDS
from annotate.kinds.wording import in_language
from annotate.models import Behaviour
from annotate.services import responses as response_services
from annotate.services.responses import lock_tasks
from qualcontrol.models import Assessment, Copying, CopyKey
from qualcontrol.services.flagging import FiledCaptions, assess
from tests.factories import (
    NOON,
    CampaignFactory,
    LinkResponseFactory,
    LinkTaskFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db

HARBOUR = [
    "Three sailing boats lie in a quiet harbour below a lighthouse.",
    "Several boats with white sails float in a harbour near a lighthouse.",
    "A harbour with sailing boats and a lighthouse on the shore.",
    "Small sailing boats are moored in the harbour under a lighthouse.",
]
KITCHEN = "A cook in a white apron slices onions on a wooden board in a kitchen."


@pytest.fixture
def campaign():
    return CampaignFactory()


@pytest.fixture
def write(campaign):
    """Submit a caption and assess it; `task` and `worker` are new by default."""

    def write(text, *, task=None, worker=None, **fields):
        response = ResponseFactory(
            task=task or TaskFactory(campaign=campaign),
            worker=worker or WorkerFactory(),
            text=text,
            **fields,
        )
        assess(campaign=campaign, responses=[response])
        return response

    return write


def codes_of(response):
    return Assessment.objects.get(pk=response.pk).codes.split()


def test_a_good_caption_has_no_flags_and_the_next_place_in_its_workers_work(write):
    worker = WorkerFactory()

    first, second = write(HARBOUR[0], worker=worker), write(KITCHEN, worker=worker)

    assert codes_of(first) == codes_of(second) == []
    assert [first.assessment.position, second.assessment.position] == [1, 2]


def test_a_flag_carries_its_value_the_campaigns_threshold_and_a_sentence(write):
    response = write("A cook slices onions on a wodden board in the kichen.")

    (flag,) = Assessment.objects.get(pk=response.pk).flags
    assert flag == {
        "code": "misspelled",
        "value": 2,
        "threshold": 1,
        "why": "Unknown words: “wodden”, “kichen”.",
    }


def test_earlier_captions_are_compared_anew_when_another_arrives(write, campaign):
    task = TaskFactory(campaign=campaign)

    stranger = write(KITCHEN, task=task)
    assert codes_of(stranger) == []
    for text in HARBOUR:
        write(text, task=task)

    assert codes_of(stranger) == ["names_none", "very_unlike"]
    assert all(not a.codes for a in Assessment.objects.exclude(pk=stranger.pk))


def test_assess_names_the_workers_whose_codes_came_or_changed(campaign, write):
    task = TaskFactory(campaign=campaign)
    stranger = write(KITCHEN, task=task)
    write(HARBOUR[0], task=task)
    another = ResponseFactory(task=task, text=HARBOUR[1])

    changed = assess(campaign=campaign, responses=[another])

    assert codes_of(stranger) == ["names_none", "very_unlike"]
    assert changed == {another.worker_id, stranger.worker_id}


def test_discarded_captions_are_not_compared_with(write, campaign):
    task = TaskFactory(campaign=campaign)
    spam = [write(KITCHEN, task=task) for _ in range(4)]
    honest = write(HARBOUR[0], task=task)
    assert "very_unlike" in codes_of(honest)

    response_services.discard(responses=spam)
    write(HARBOUR[1], task=task)
    write(HARBOUR[2], task=task)

    assert codes_of(honest) == []


def test_a_discarded_caption_that_arrives_is_compared_but_changes_nobody_elses_flags(
    write, campaign
):
    task = TaskFactory(campaign=campaign)
    others = [write(text, task=task) for text in HARBOUR]

    late = write(KITCHEN, task=task, status="DISCARDED")

    assert "very_unlike" in codes_of(late)
    assert all(codes_of(other) == [] for other in others)


def test_a_discarded_caption_is_compared_with_those_that_arrive_later(write, campaign):
    task = TaskFactory(campaign=campaign)
    early = write(KITCHEN, task=task, status="DISCARDED")

    for text in HARBOUR:
        write(text, task=task)

    assert "very_unlike" in codes_of(early)


def test_a_near_copy_of_another_worker_is_flagged_and_names_its_original(write):
    original = write(HARBOUR[0])

    copy = write(HARBOUR[0].replace("quiet", "calm"))

    assert codes_of(copy) == ["copies_other"]
    assert codes_of(original) == []
    assert Copying.objects.get().original == original


def test_captions_of_another_campaign_are_no_originals(write):
    write(HARBOUR[0])
    elsewhere = ResponseFactory(text=HARBOUR[0])

    assess(campaign=elsewhere.task.campaign, responses=[elsewhere])

    assert codes_of(elsewhere) == []


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("caption", {}),
        ("caption", {"language": "de"}),
        ("caption", {"instructions": {"good": [KITCHEN]}}),
        ("region", {}),
        ("region", {"language": "de"}),
    ],
)
def test_a_copy_of_an_example_that_the_page_shows_is_flagged(kind, values):
    campaign = CampaignFactory(kind=kind, config=values)
    context = KINDS[kind].instructions_context(campaign.config)
    with in_language(campaign.config.language):
        page = render_to_string(
            KINDS[kind].templates.instructions, {**context, "config": campaign.config}
        )
    shown = BeautifulSoup(page, "lxml").select_one(".examples q").text

    copy = ResponseFactory(task__campaign=campaign, text=shown)
    assess(campaign=campaign, responses=[copy])

    assert codes_of(copy) == ["copies_example"]


def test_one_sentence_used_again_and_again_is_flagged_from_the_fourth_time_on(write):
    worker = WorkerFactory()

    written = [
        write(f"A nice photo of many {what} things in a pleasant {where} place.", worker=worker)
        for what, where in [
            ("small", "quiet"),
            ("round", "sunny"),
            ("large", "windy"),
            ("yellow", "silent"),
        ]
    ]

    assert ["repeats" in codes_of(response) for response in written] == [False, False, False, True]


def test_an_account_that_keeps_copying_one_other_at_the_same_time_is_flagged(write):
    leader, follower = WorkerFactory(), WorkerFactory()

    copies = []
    for text in [*HARBOUR[:2], KITCHEN]:
        write(text, worker=leader)
        copies.append(write(text, worker=follower))

    assert ["twin_account" in codes_of(copy) for copy in copies] == [False, False, True]


def test_copies_of_many_accounts_are_not_called_twins(write):
    follower = WorkerFactory()

    for text in [*HARBOUR[:2], KITCHEN]:
        write(text)
        last = write(text, worker=follower)

    assert "twin_account" not in codes_of(last)


def test_conduct_is_flagged_where_it_was_counted(campaign):
    response = ResponseFactory(task__campaign=campaign, text=KITCHEN, seconds=4)
    Behaviour.objects.create(response=response, characters={"pasted": 500}, times_left=9)

    assess(campaign=campaign, responses=[response])

    assert codes_of(response) == ["hasty", "left_page", "pasted"]


def test_assessing_again_changes_nothing(write, campaign):
    task = TaskFactory(campaign=campaign)
    responses = [write(text, task=task) for text in [*HARBOUR, KITCHEN]]
    before = list(Assessment.objects.order_by("pk").values())

    changed = assess(campaign=campaign, responses=responses)

    assert changed == set()
    assert list(Assessment.objects.order_by("pk").values()) == before


def test_a_key_takes_no_more_captions_than_it_holds(write):
    for _ in range(12):
        write(KITCHEN)

    assert CopyKey.objects.count() == 5 * 8


def test_the_queries_for_a_response_do_not_grow_with_the_campaign(
    write, campaign, django_assert_max_num_queries
):
    task, worker = TaskFactory(campaign=campaign), WorkerFactory()
    for number in range(20):
        write(f"Number {number} of many trams waits at a stop beside the river.", worker=worker)
    for text in HARBOUR:
        write(text, task=task)
    response = ResponseFactory(task=task, worker=worker, text=KITCHEN)

    with django_assert_max_num_queries(14):
        assess(campaign=campaign, responses=[response])


def test_answers_without_text_are_flagged_by_their_agreement_and_conduct():
    task = LinkTaskFactory()
    same = [LinkResponseFactory(task=task, words={"1": [1], "3": [2]}) for _ in range(3)]
    other = LinkResponseFactory(task=task, words={"1": [2], "3": [1]}, seconds=3)

    for response in [*same, other]:
        assess(campaign=task.campaign, responses=[response])

    assert codes_of(other) == ["hasty", "very_unlike"]
    assert [codes_of(response) for response in same] == [[]] * 3
    assert not CopyKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_answers_to_one_task_that_come_in_at_once_are_compared_with_each_other(campaign):
    task = TaskFactory(campaign=campaign)
    responses = [ResponseFactory(task=task, text=text) for text in [*HARBOUR, KITCHEN]]

    @transaction.atomic
    def arrive(response):
        lock_tasks([task.pk])
        assess(campaign=campaign, responses=[response])

    at_once(arrive, responses)

    assert "very_unlike" in codes_of(responses[-1])
    assert [codes_of(response) for response in responses[:-1]] == [[]] * len(HARBOUR)


TEXTS = [
    "A brown dog jumps over a low wooden fence in a garden.",
    "A brown dog jumps over a low wooden fence in the garden.",
    "Two cyclists ride past a row of parked cars on a wet street.",
    "An orange kite flies above a crowded beach at noon.",
    "dog",
    "THE DOG THE DOG THE DOG",
    "An orange kite flies above a crowded beach at noon.",
]


def write_batch(campaign, workers, tasks):
    """A caption by each worker for each image, some copied, careless or pasted."""
    responses = []
    for number, (worker, task) in enumerate((w, t) for t in tasks for w in workers):
        response = ResponseFactory(
            task=task,
            worker=worker,
            text=TEXTS[number % len(TEXTS)],
            submitted_at=NOON + timedelta(minutes=number),
            seconds=2 + number % 40,
        )
        if number % 3 == 0:
            Behaviour.objects.create(response=response, characters={"pasted": 99}, device="PHONE")
        responses.append(response)
    return responses


def outcome():
    """The stored flags, in the order of the responses."""
    first = Assessment.objects.order_by("pk").values_list("pk", flat=True)[0]
    assessments = Assessment.objects.order_by("pk")
    return (
        [(pk - first, *rest) for pk, *rest in assessments.values_list("pk", "position", "flags")],
        [pk - first for pk in Copying.objects.order_by("pk").values_list("pk", flat=True)],
        sorted(pk - first for pk in CopyKey.objects.values_list("response_id", flat=True)),
    )


def test_a_batch_has_the_flags_of_one_after_another():
    outcomes = []
    for size in (1, 7, 42):
        for model in (CopyKey, Copying, Assessment):
            model.objects.all().delete()
        campaign = CampaignFactory()
        tasks = TaskFactory.create_batch(6, campaign=campaign)
        responses = write_batch(campaign, WorkerFactory.create_batch(7), tasks)
        for start in range(0, len(responses), size):
            assess(campaign=campaign, responses=responses[start : start + size])
        outcomes.append(outcome())

    alone, *batches = outcomes
    assert batches == [alone, alone]
    assert any(flags for _, _, flags in alone[0])
    assert alone[1]


def test_the_queries_for_a_batch_do_not_grow_with_it():
    campaign, workers = CampaignFactory(), WorkerFactory.create_batch(3)
    rng = random.Random(1)
    queries = []
    for count in (2, 20):
        responses = [
            ResponseFactory(task=task, worker=worker, text=f"A {rng.randbytes(20).hex(' ')}.")
            for task in TaskFactory.create_batch(count, campaign=campaign, shows_keywords=False)
            for worker in workers
        ]
        with CaptureQueriesContext(connection) as captured:
            assess(campaign=campaign, responses=responses)
        queries.append(len(captured))

    # The second batch also reads the workers' earlier answers, and writes changed flags.
    assert queries[1] <= queries[0] + 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the plan is SQLite's")
def test_the_latest_captions_of_several_workers_are_looked_up_by_worker():
    """Otherwise the time grows with the campaign."""
    campaign, workers = CampaignFactory(), WorkerFactory.create_batch(3)
    tasks = TaskFactory.create_batch(2, campaign=campaign)
    assess(campaign=campaign, responses=write_batch(campaign, workers, tasks))

    with CaptureQueriesContext(connection) as queries:
        FiledCaptions(campaign, []).read_latest([worker.pk for worker in workers])

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[-1]['sql']}")
        plan = [row[-1] for row in cursor.fetchall()]
    searches = [step for step in plan if "qualcontrol_assessment" in step]
    assert len(searches) == len(workers), plan
    assert all("campaign_id=? AND worker_id=?" in step for step in searches), plan
