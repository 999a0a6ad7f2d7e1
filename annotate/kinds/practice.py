"""The practice of new workers: its images, and how answers are marked.

A new worker rates captions, or writes one for each image, and reads at once what is good or bad and
why. Marks are a text with `1` for each right answer and `0` for each other one, in the order of the
questions.
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.core.signing import BadSignature, Signer
from django.db.models import Q

from annotate.campaign_file import CampaignConfig, GradedCaption
from annotate.kinds import KINDS, CampaignNotPossible
from annotate.kinds.wording import translated
from annotate.models import Campaign, Image, ImageSource, Task
from annotate.queries.images import names_of_images
from corpora.datasets.image_names import image_names
from corpora.language.text import Problem, normalise, problems

# The field of an answer with the signed marks.
FIELD = "practice"


class Question(NamedTuple):
    """An image with the caption that is rated, or with all captions that are read afterwards."""

    image: Image
    captions: Sequence[GradedCaption]


class Marked(NamedTuple):
    """An answer to a question, whether it is right, and the rules that a written one breaks."""

    answer: str
    is_right: bool
    problems: Sequence[Problem] = ()


def practice_images(config: CampaignConfig, campaign: Campaign) -> dict[str, Image]:
    """The images of the practice by their names in the file, of a campaign that has its tasks.

    Raises CampaignNotPossible.
    """
    named = dict.fromkeys(caption.image for caption in config.practice.captions)
    if not named:
        return {}
    if not KINDS[campaign.kind].takes_text:
        raise CampaignNotPossible("practice: only tasks in which people write captions have it.")
    # By indexes, as a split can have millions of images.
    names = [name for text in named for name in image_names(text)]
    is_named = Q(source__in=ImageSource.values, key__in=names)
    if campaign.selection:
        is_named |= Q(source=ImageSource.OWN, split=campaign.selection.split)
    images = Image.objects.of_team(campaign.team).filter(is_named)
    images_found = names_of_images(images, names)
    keys = {text: images_found.find(text) for text in named}
    if unknown := [text for text, key in keys.items() if key is None]:
        raise CampaignNotPossible(f"practice.captions: there is no image {unknown[0]!r}.")
    if campaign.pk:
        shown = Task.objects.filter(campaign=campaign, image__in=keys.values())
        if task := shown.select_related("image").first():
            raise CampaignNotPossible(
                f"practice.captions: the image {task.image.shown_name!r} is also one of those that "
                "the campaign collects captions of. Take another one for the practice."
            )
    rows = Image.objects.in_bulk([key for key in keys.values() if key is not None])
    return {text: rows[key] for text, key in keys.items() if key is not None}


def question(campaign: Campaign, number: int) -> Question:
    """The question with this number, from 0."""
    captions = campaign.config.practice.items[number]
    images = campaign.practice_images.all()
    key = names_of_images(images).find(captions[0].image)
    return Question(next(image for image in images if image.pk == key), captions)


def marked(config: CampaignConfig, asked: Question, answer: str) -> Marked:
    """The answer to a question: `good` or `bad`, or a caption, which is right if it keeps the
    campaign's rules."""
    if config.practice.way == "rate":
        return Marked(answer, (answer == "good") == asked.captions[0].good)
    faults = problems(answer, rules=config.captions, language=config.language)
    return Marked(normalise(answer), not faults, translated(faults))


def is_passed(config: CampaignConfig, marks: str) -> bool:
    """Whether a worker with these marks may work."""
    return marks.count("1") >= config.practice.least_right


def signed_marks(campaign: Campaign, worker_id: str, marks: str) -> str:
    """The marks in a form that is of use only to the worker with this id of the marketplace."""
    return _signer(campaign, worker_id).sign(marks)


def read_marks(campaign: Campaign, worker_id: str, signed: str) -> str:
    """The marks, or an empty text if they are not this worker's, or not of this practice."""
    try:
        marks = _signer(campaign, worker_id).unsign(signed)
    except BadSignature:
        return ""
    return marks if len(marks) == len(campaign.config.practice.items) else ""


def _signer(campaign: Campaign, worker_id: str) -> Signer:
    return Signer(salt=f"annotate.practice/{campaign.pk}/{worker_id}")
