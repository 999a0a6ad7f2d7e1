"""Word–box links as a task type: campaigns, pages and answers."""

import pytest

from annotate.kinds import KINDS, AnswerMissing, AnswerRefused, CampaignNotPossible
from annotate.kinds.campaign_files import parse_config
from annotate.models import Box, Campaign, CaptionSet, ClassRelation, RelationKind, Task
from annotate.services.campaigns import create_campaign
from hits.services.claims import claim_tasks
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    CaptionSetFactory,
    ClassFactory,
    GivenCaptionFactory,
    ImageFactory,
    LinkCampaignFactory,
    LinkTaskFactory,
    ResponseFactory,
    TaskFactory,
    TaskPageFactory,
    TeamFactory,
    WorkerFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

KIND = KINDS["correspondence"]


def link_config(**values):
    file = {"name": "links", "preset": "imageclef", "caption_set": "mine", "budget": "10.00"}
    return parse_config({**file, **values})


def task_with_boxes():
    """`A man feeds a dog in front of a red car.`, with a box for each of the three."""
    return LinkTaskFactory(boxes=["Man", "Dog", "Car"])


def box_of(task, name):
    return Box.objects.get(image=task.image, object_class__name=name).pk


def answer(task, **words):
    """The form's fields: `w4="box:1"` is what word 4 refers to."""
    return {f"word-{name[1:]}-{task.number}": value for name, value in words.items()}


def full_answer(task):
    man, dog, car = (f"box:{box_of(task, name)}" for name in ("Man", "Dog", "Car"))
    return answer(task, w1=man, w4=dog, w10=car)


def check(task, fields):
    return KIND.check(task, task.campaign.config, fields)


# Campaigns


def test_a_campaign_on_a_set_has_a_task_for_each_caption_in_its_order():
    captions = CaptionSetFactory(name="mine")
    image = BoxFactory().image
    for number in (2, 1):
        GivenCaptionFactory(caption_set=captions, image=image, number=number)

    campaign = create_campaign(config=link_config(), endpoint="local", at=NOON)

    assert campaign.material == captions
    assert list(
        campaign.tasks.order_by("number").values_list(
            "number", "subject__number", "wanted", "image"
        )
    ) == [
        (1, 1, 3, image.pk),
        (2, 2, 3, image.pk),
    ]


def test_captions_without_a_word_or_a_box_to_link_get_no_task():
    captions = CaptionSetFactory(name="mine")
    GivenCaptionFactory(caption_set=captions)
    GivenCaptionFactory(caption_set=captions, image=BoxFactory().image, text="…")

    campaign = create_campaign(config=link_config(), endpoint="local", at=NOON)

    assert not campaign.tasks.exists()


def test_of_each_image_the_first_captions_are_taken():
    captions = CaptionSetFactory(name="mine")
    one, other = (box.image for box in BoxFactory.create_batch(2))
    for number, image in enumerate([one, other, one, other, one], start=1):
        GivenCaptionFactory(caption_set=captions, image=image, number=number)

    campaign = create_campaign(
        config=link_config(correspondence={"captions_per_image": 2}), endpoint="local", at=NOON
    )

    assert list(campaign.tasks.order_by("number").values_list("number", flat=True)) == [1, 2, 3, 4]


def test_only_the_captions_of_the_first_images_are_taken():
    captions = CaptionSetFactory(name="mine")
    one, other, third = (box.image for box in BoxFactory.create_batch(3))
    for number, image in enumerate([one, other, third, one, third, other], start=1):
        GivenCaptionFactory(caption_set=captions, image=image, number=number)

    campaign = create_campaign(
        config=link_config(correspondence={"images": 2}), endpoint="local", at=NOON
    )

    assert list(campaign.tasks.order_by("number").values_list("number", flat=True)) == [1, 2, 4, 6]


def released_captions():
    campaign = CampaignFactory(config={"references": 2, "baselines": 1})
    task = TaskFactory(campaign=campaign, image=BoxFactory().image)
    for text in ("A dog runs.", "A dog sleeps.", "A dog eats."):
        ResponseFactory(task=task, text=text)
    return release_campaign(campaign=campaign, name="first", seed=1, at=NOON)


def test_a_campaign_on_a_release_links_its_references_under_their_ids():
    made = released_captions()
    references = made.images.get().captions.filter(role="REFERENCE").order_by("pk")

    campaign = create_campaign(
        config=link_config(caption_set=None, release="first"), endpoint="local", at=NOON
    )

    subjects = campaign.caption_set.captions.order_by("number").values_list("annotation_id", "text")
    assert list(subjects) == list(enumerate(references.values_list("text", flat=True)))
    assert campaign.tasks.count() == 2


def test_a_caption_set_of_another_team_does_not_keep_the_release_from_its_own():
    released_captions()
    CaptionSetFactory(name="first", team=TeamFactory())

    for name in ("one", "two"):
        config = link_config(name=name, caption_set=None, release="first")
        campaign = create_campaign(config=config, endpoint="local", at=NOON)

    assert campaign.caption_set.name == "first-2"
    assert CaptionSet.objects.count() == 2


def test_two_campaigns_on_one_release_share_its_captions():
    released_captions()

    for name in ("one", "two"):
        create_campaign(
            config=link_config(name=name, caption_set=None, release="first"),
            endpoint="local",
            at=NOON,
        )

    assert CaptionSet.objects.get().language == "en"
    assert Task.objects.filter(subject__isnull=False).count() == 4


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"caption_set": "nowhere"}, "caption_set: there is no caption set"),
        ({"caption_set": None, "release": "nowhere"}, "release: there is no release"),
        ({"caption_set": None, "selection": "images"}, "selection: this task type links words"),
    ],
)
def test_a_campaign_without_captions_says_so(named, message):
    with pytest.raises(CampaignNotPossible, match=message):
        create_campaign(config=link_config(**named), endpoint="local", at=NOON)

    assert not Campaign.objects.exists()


def test_a_campaign_of_captions_wants_no_captions():
    CaptionSetFactory(name="mine")

    with pytest.raises(CampaignNotPossible, match="selection: a caption campaign needs"):
        create_campaign(config=link_config(preset=None, kind="caption"), endpoint="local", at=NOON)


# The page


def shown(task, **fields):
    return KIND.context(task, task.campaign.config, fields)


def test_the_page_has_the_caption_in_pieces_with_its_words():
    task = task_with_boxes()

    page = shown(task)

    assert "".join(piece["text"] for piece in page["pieces"]) == task.subject.text
    assert [word["text"] for word in page["words"] if word["is_suggested"]] == [
        "man",
        "dog",
        "car",
    ]
    assert {word["value"] for word in page["words"]} == {""}


def test_the_page_has_the_answer_so_far():
    task = task_with_boxes()
    field = f"word-4-{task.number}"

    words = shown(task, **{field: "box:7 box:9"})["words"]

    assert (words[4]["field"], words[4]["box_values"]) == (field, ["box:7", "box:9"])


def test_boxes_are_numbered_by_name_and_then_from_left_to_right():
    task = LinkTaskFactory(boxes=["Dog", "cat", "Dog", "Ant"])

    boxes = shown(task)["boxes"]

    assert [(box["number"], box["label"]) for box in boxes] == [
        (1, "Ant"),
        (2, "cat"),
        (3, "Dog"),
        (4, "Dog"),
    ]
    assert boxes[2]["left"] < boxes[3]["left"]


def test_boxes_that_nobody_verified_are_not_shown():
    task = LinkTaskFactory(boxes=["Dog"])
    BoxFactory(image=task.image, confidence=0)

    assert len(shown(task)["boxes"]) == 1


def test_a_box_of_a_group_says_so():
    task = LinkTaskFactory()
    BoxFactory(image=task.image, is_group=True)

    assert [box["is_group"] for box in shown(task)["boxes"]] == [True]


@pytest.mark.parametrize(("parts", "names"), [(False, ["Dog"]), (True, ["Dog", "Arm"])])
def test_parts_are_shown_only_if_the_campaign_says_so_and_come_last(parts, names):
    campaign = LinkCampaignFactory(config={"correspondence": {"parts": parts}})
    task = LinkTaskFactory(campaign=campaign, boxes=["Dog"])
    arm = ClassFactory(name="Arm")
    ClassRelation.objects.create(parent=ClassFactory(), child=arm, kind=RelationKind.PART)
    BoxFactory(image=task.image, object_class=arm)

    assert [box["label"] for box in shown(task)["boxes"]] == names


def test_the_page_takes_the_same_queries_however_many_boxes(django_assert_num_queries):
    few = LinkTaskFactory(boxes=["Dog"])
    many = LinkTaskFactory(boxes=["Dog", "Cat", "Ant", "Car", "Man"])

    for task in (few, many):
        with django_assert_num_queries(3):  # the task, the hidden classes, the boxes
            shown(Task.objects.with_subject().get(pk=task.pk))


# Answers


def test_an_answer_has_each_words_boxes_or_its_kind():
    task = task_with_boxes()
    man, dog = box_of(task, "Man"), box_of(task, "Dog")
    fields = full_answer(task) | answer(
        task, w1=f"box:{man} box:{dog}", w2="scene", w10="not-boxed"
    )

    assert check(task, fields) == {
        "1": [man, dog],
        "2": "scene",
        "4": [dog],
        "10": "not-boxed",
    }


def test_without_its_script_the_page_takes_a_second_box_from_its_own_field():
    task = task_with_boxes()
    man, dog = box_of(task, "Man"), box_of(task, "Dog")
    fields = full_answer(task) | {f"also-1-{task.number}": f"box:{dog}"}

    assert check(task, fields)["1"] == [man, dog]


def test_a_second_box_does_not_outweigh_a_kind():
    task = task_with_boxes()
    fields = full_answer(task) | answer(task, w2="scene")
    fields[f"also-2-{task.number}"] = f"box:{box_of(task, 'Dog')}"

    assert check(task, fields)["2"] == "scene"


def problem_of(task, fields):
    with pytest.raises(AnswerRefused) as caught:
        check(task, fields)
    (problem,) = caught.value.problems
    return problem


def test_every_suggested_word_must_be_answered():
    task = task_with_boxes()
    fields = answer(task, w1=f"box:{box_of(task, 'Man')}", w4="not-boxed")

    problem = problem_of(task, fields)

    assert problem.code == "unanswered"
    assert "“car”" in problem.message
    assert "“dog”" not in problem.message


def test_an_answer_without_a_word_is_refused():
    task = LinkTaskFactory(boxes=["Umbrella"])

    assert problem_of(task, {}).code == "empty"


@pytest.mark.parametrize("value", ["box:0", "box:x", "dog", "scene scene"])
def test_a_number_without_a_box_is_refused(value):
    task = task_with_boxes()

    assert problem_of(task, full_answer(task) | answer(task, w2=value)).code == "strange"


def test_a_box_of_another_image_is_refused():
    task, other = task_with_boxes(), BoxFactory()

    assert (
        problem_of(task, full_answer(task) | answer(task, w2=f"box:{other.pk}")).code == "strange"
    )


def test_the_marketplaces_copy_is_read_as_far_as_it_goes():
    task, other = task_with_boxes(), BoxFactory()
    dog = box_of(task, "Dog")
    fields = answer(task, w1="rubbish", w2=f"box:{other.pk}", w4=f"box:{dog} box:{other.pk}")

    assert KIND.read(task, fields | {"word-99-1": "scene"}) == {"4": [dog]}


def test_an_answer_that_says_nothing_of_the_caption_is_missing():
    task = task_with_boxes()

    with pytest.raises(AnswerMissing):
        KIND.read(task, {"caption-1": "A dog.", f"word-1-{task.number}": ""})


def test_the_fields_of_an_answer_read_back_the_same():
    task = task_with_boxes()
    words = check(task, full_answer(task) | answer(task, w0="not-visual"))

    fields = KIND.fields_of(task, words)

    assert len(fields) == 4
    assert KIND.read(task, fields) == words


def test_reading_takes_one_query(django_assert_num_queries):
    task = task_with_boxes()
    fields = full_answer(task)
    task = Task.objects.with_subject().get(pk=task.pk)

    with django_assert_num_queries(1):
        KIND.read(task, fields)


# Agreement


def test_agreement_is_the_mean_overlap_with_the_others():
    shares = KIND.agreements({7: {"1": [1]}, 8: {"1": [1]}, 9: {"1": [2]}}, link_config())

    assert shares == {7: 0.5, 8: 0.5, 9: 0.0}


def test_a_worker_who_answered_alone_has_no_agreement():
    assert KIND.agreements({7: {"1": [1]}}, link_config()) == {}


# Claims


def test_a_worker_may_link_several_captions_of_one_image():
    campaign = LinkCampaignFactory()
    image = ImageFactory()
    for subject in GivenCaptionFactory.create_batch(
        2, caption_set=campaign.caption_set, image=image
    ):
        LinkTaskFactory(campaign=campaign, subject=subject)

    page = TaskPageFactory(hit__hit_type__campaign=campaign)
    tasks = claim_tasks(campaign=campaign, worker=WorkerFactory(), page=page, count=5)

    assert len({task.subject_id for task in tasks}) == 2
