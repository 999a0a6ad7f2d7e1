import pytest

from annotate.models import Behaviour
from annotate.services import responses as response_services
from qualcontrol.models import Assessment, Copying, CopyKey
from qualcontrol.services.flagging import assess
from tests.factories import (
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
    Behaviour.objects.create(response=response, pastes=1, pasted_characters=500, times_left=9)

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

    at_once(lambda response: assess(campaign=campaign, responses=[response]), responses)

    assert "very_unlike" in codes_of(responses[-1])
    assert [codes_of(response) for response in responses[:-1]] == [[]] * len(HARBOUR)
