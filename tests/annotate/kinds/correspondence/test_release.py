"""Releases of word–box links and their files."""

import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.exports.provenance import collection_of
from annotate.kinds import KINDS
from annotate.models import Box, ReleasedAnswer
from annotate.services.responses import discard
from corpora.content_selection.files import read_boxes, read_gold, read_mentions
from qualcontrol.services.releasing import ReleaseRefused, release_campaign
from tests.factories import (
    NOON,
    GivenCaptionFactory,
    LinkCampaignFactory,
    LinkResponseFactory,
    LinkTaskFactory,
    UserFactory,
    WorkerFactory,
)

pytestmark = pytest.mark.django_db

SENTENCE = "A man feeds a dog in front of a red car."


def linked_campaign(tasks=1, **config):
    """A campaign with all links: two workers agree, and the third links the dog to the man's
    box."""
    campaign = LinkCampaignFactory(config=config)
    workers = WorkerFactory.create_batch(3)
    for _ in range(tasks):
        task = LinkTaskFactory(campaign=campaign, boxes=["Man", "Dog", "Car"])
        man, dog, car = (box(task, name) for name in ("Man", "Dog", "Car"))
        good = {"1": [man], "4": [dog], "10": [car], "6": "not-visual"}
        for worker, words in zip(workers, [good, good, good | {"4": [man]}], strict=True):
            LinkResponseFactory(task=task, worker=worker, words=words)
    return campaign


def box(task, name):
    return Box.objects.get(image=task.image, object_class__name=name).pk


def release(campaign, name="links", seed=7, **options):
    return release_campaign(campaign=campaign, name=name, seed=seed, at=NOON, **options)


def files_of(made, folder):
    KINDS["correspondence"].write(made, folder)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# Releases


def entry_of(made):
    """The only caption in `correspondences.json`."""
    text = "".join(made.files.filter(name="correspondences.json").values_list("text", flat=True))
    (entry,) = json.loads(text)["captions"]
    return entry


def names_of(made):
    """Class names of boxes by their ids in exports."""
    text = "".join(made.files.filter(name="boxes.json").values_list("text", flat=True))
    return {key: found["label"] for key, found in json.loads(text)["boxes"].items()}


def test_a_release_says_where_the_captions_came_from():
    made = release(linked_campaign())

    assert "captions imported from a file" in dict(collection_of(made))["caption set"]


def test_a_release_keeps_what_each_worker_linked():
    made = release(linked_campaign())
    names = names_of(made)

    said = [answer["words"] for answer in entry_of(made)["answers"]]

    assert [[names[box] for box in words["4"]] for words in said] == [["Dog"], ["Dog"], ["Man"]]
    assert said[0]["6"] == "not-visual"


def test_a_release_keeps_the_caption_its_words_and_its_boxes():
    made = release(linked_campaign())
    entry, key = entry_of(made), made.images.get().record["open_images_id"]

    assert entry["caption"] == SENTENCE
    assert entry["tokens"][4] == {"text": "dog", "start": 14, "end": 17}
    assert names_of(made) == {f"{key}-1": "Car", f"{key}-2": "Dog", f"{key}-3": "Man"}


def test_links_have_the_support_of_those_who_made_them():
    entry = entry_of(release(linked_campaign()))

    (link,) = entry["links"]["4"]
    assert (link["box"].rsplit("-")[-1], link["support"]) == ("2", 0.6667)
    assert entry["kinds"] == {"6": {"kind": "not-visual", "support": 1.0}}
    assert entry["undecided"] == []


def test_agreement_is_kept_for_each_caption_and_for_the_release():
    made = release(linked_campaign(tasks=2))

    assert made.images.first().record["agreement"]["overlap"] == pytest.approx(0.7778, abs=1e-4)
    assert 0.5 < made.figures["alpha"] < 1
    assert made.figures["aggregation"] == "dawid-skene"


def test_every_caption_has_as_many_answers_as_wanted_by_different_workers():
    made = release(linked_campaign(tasks=3))

    for image in made.images.all():
        answers = image.answers.select_related("response")
        assert len({answer.response.worker_id for answer in answers}) == 3
        assert len({answer.worker_number for answer in answers}) == 3


def test_a_caption_that_lacks_an_answer_is_named():
    campaign = linked_campaign()
    task = campaign.tasks.get()
    discard(responses=task.responses.all()[:1])

    with pytest.raises(ReleaseRefused, match="caption .* of image .* has 2 of 3 responses"):
        release(campaign)


def test_a_later_discard_does_not_change_a_release(tmp_path):
    campaign = linked_campaign()
    made = release(campaign)
    before = files_of(made, tmp_path / "before")

    discard(responses=campaign.tasks.get().responses.all())
    Box.objects.update(x_max=0.9)

    assert files_of(made, tmp_path / "after") == before


def test_a_box_that_is_no_longer_shown_is_in_no_answer_of_a_release():
    campaign = linked_campaign()
    Box.objects.filter(object_class__name="Dog").update(confidence=0)

    made = release(campaign)

    assert set(names_of(made).values()) == {"Car", "Man"}
    assert "4" not in entry_of(made)["answers"][0]["words"]


@pytest.mark.parametrize("repeated", ["worker_number", "response"])
def test_the_database_keeps_a_caption_to_one_answer_of_a_worker(repeated):
    made = release(linked_campaign())
    one, other = made.images.get().answers.all()[:2]
    setattr(other, repeated, getattr(one, repeated))

    with pytest.raises(IntegrityError), transaction.atomic():
        other.save()

    assert ReleasedAnswer.objects.count() == 3


# Files


def test_the_same_release_gives_the_same_bytes_twice(tmp_path):
    made = release(linked_campaign(tasks=3))

    first, again = files_of(made, tmp_path / "one"), files_of(made, tmp_path / "two")

    assert first == again
    assert set(first) > {
        "correspondences.json",
        "boxes.json",
        "gold.json",
        "mentions.json",
        "brackets.txt",
    }
    assert len([name for name in first if name.startswith("sentences/")]) == 3


def test_links_join_to_the_boxes_in_pixels_and_fractions(tmp_path):
    files = files_of(release(linked_campaign()), tmp_path)

    boxes = json.loads(files["boxes.json"])
    (caption,) = json.loads(files["correspondences.json"])["captions"]
    (link,) = caption["links"]["4"]
    dog = boxes["boxes"][link["box"]]

    assert dog["image_id"] == caption["image_id"]
    assert (dog["label"], dog["fractions"]) == ("Dog", [0.1, 0.2, 0.2, 0.8])
    assert dog["bbox"] == [102.4, 153.6, 102.4, 460.8]  # of 1024 x 768
    assert boxes["images"][dog["image_id"]]["width"] == 1024


def test_tokens_have_offsets_into_the_caption(tmp_path):
    (caption,) = json.loads(files_of(release(linked_campaign()), tmp_path)["correspondences.json"])[
        "captions"
    ]

    assert [caption["caption"][token["start"] : token["end"]] for token in caption["tokens"]] == [
        token["text"] for token in caption["tokens"]
    ]


def test_sentences_have_their_links_in_brackets_and_as_entities(tmp_path):
    campaign = linked_campaign()
    image = campaign.tasks.get().image.key
    files = files_of(release(campaign), tmp_path)

    bracketed = files["brackets.txt"].decode().split("\t")[1]
    entities = files[f"sentences/{image}.txt"].decode()

    assert bracketed == "A [man]3 feeds a [dog]2 in front of a red [car]1.\n"
    assert entities == (
        "A [/EN#3/man man] feeds a [/EN#2/dog dog] in [/EN#0/not-visual front] of a red "
        "[/EN#1/car car].\n"
    )


def test_gold_and_boxes_are_what_content_selection_reads(tmp_path):
    campaign = linked_campaign(tasks=2)
    KINDS["correspondence"].write(release(campaign), tmp_path)

    gold = read_gold(tmp_path / "gold.json")
    boxes = read_boxes([tmp_path / "boxes.json"])

    for task in campaign.tasks.select_related("image"):
        (description,) = gold[task.image.key]
        assert len(description) == 3
        assert description <= boxes[task.image.key].keys()


def test_mentions_are_the_linked_passages_in_the_order_of_the_words(tmp_path):
    campaign = linked_campaign()
    task = campaign.tasks.get()
    hot_dogs = GivenCaptionFactory(
        caption_set=campaign.caption_set, image=task.image, text="A hot dog beside a car"
    )
    second = LinkTaskFactory(campaign=campaign, subject=hot_dogs)
    dog, car = box(task, "Dog"), box(task, "Car")
    words = {"1": [dog], "2": [dog], "5": [car, dog]}
    LinkResponseFactory.create_batch(3, task=second, words=words)

    KINDS["correspondence"].write(release(campaign), tmp_path)

    key = task.image.key
    assert read_mentions(tmp_path / "mentions.json") == {
        key: [
            [frozenset({f"{key}-{number}"}) for number in (3, 2, 1)],
            [frozenset({f"{key}-2"}), frozenset({f"{key}-1", f"{key}-2"})],
        ]
    }


def test_an_image_of_two_captions_has_two_descriptions_and_its_boxes_once(tmp_path):
    campaign = linked_campaign()
    task = campaign.tasks.get()
    second = LinkTaskFactory(
        campaign=campaign,
        subject=GivenCaptionFactory(
            caption_set=campaign.caption_set, image=task.image, text="A parked car"
        ),
    )
    LinkResponseFactory.create_batch(3, task=second, words={"2": [box(task, "Car")]})

    files = files_of(release(campaign), tmp_path)

    key = task.image.key
    assert json.loads(files["gold.json"]) == {
        key: [[f"{key}-{n}" for n in (1, 2, 3)], [f"{key}-1"]]
    }
    assert len(json.loads(files["boxes.json"])["boxes"]) == 3
    assert files[f"sentences/{key}.txt"].decode().count("\n") == 2


def test_no_file_has_a_workers_pseudonym(tmp_path):
    campaign = linked_campaign()
    pseudonyms = campaign.tasks.get().responses.values_list("worker__pseudonym", flat=True)
    together = b"".join(files_of(release(campaign), tmp_path).values())

    assert not [name for name in pseudonyms if name.encode() in together]


def test_a_release_is_not_written_as_one_of_another_kind(tmp_path):
    release(linked_campaign())

    with pytest.raises(CommandError, match="of the task type correspondence"):
        call_command("export_captions", "links", out=tmp_path)


def test_the_command_writes_the_files_and_names_them(tmp_path, capsys):
    release(linked_campaign())

    call_command("export_correspondences", "links", out=tmp_path)

    lines = capsys.readouterr().out.splitlines()
    assert [line.rsplit("/", 1)[-1] for line in lines] == [
        "correspondences.json",
        "boxes.json",
        "gold.json",
        "mentions.json",
        "brackets.txt",
        "sentences",
        "methods.md",
    ]
    with pytest.raises(CommandError, match="There is no release"):
        call_command("export_correspondences", "nowhere", out=tmp_path)


# Pages


def test_a_releases_page_shows_its_sentences_and_its_files(client):
    made = release(linked_campaign())
    client.force_login(UserFactory())

    page = client.get(made.get_absolute_url()).content.decode()
    file = client.get(reverse("annotate:release_file", args=[made.name, "brackets.txt"]))

    assert "A <mark>[man]<sub>3</sub></mark> feeds a <mark>[dog]<sub>2</sub></mark>" in page
    assert page.count('<path class="named"') == 3
    assert "1 caption<" in page
    assert "correspondences.json" in page
    assert "captions.json" not in page
    assert b"".join(file.streaming_content).decode().endswith("[car]1.\n")
    assert file["Content-Type"].startswith("text/plain")
