"""Given captions that workers rate before they write their own.

Crossmodal-3600 was collected so, in order that writers in all languages have the same idea of a
good caption (Thapliyal et al. 2022). The ratings of a response are stored beside its caption, in
the form of `annotate.kinds.rating.answers`: `{"1": {"quality": 4}}`.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotate.kinds.base import CampaignNotPossible
from annotate.kinds.rating.answers import Question, field_name, parse
from annotate.kinds.rating.kind import shown_question
from annotate.models import Campaign, Release, Task
from annotate.queries.releases import not_withdrawn
from corpora.language.text import gettext_noop

# The keys of a task's payload with the captions to rate, and with their language if it is known.
RATE_FIRST, LANGUAGE = "rate_first", "rate_first_language"
# The words are ours. The last label is not a step of the scale.
QUALITY = Question(
    name="quality",
    text=gettext_noop("How good is this description of the image?"),
    labels=(
        gettext_noop("bad"),
        gettext_noop("medium"),
        gettext_noop("good"),
        gettext_noop("excellent"),
        gettext_noop("cannot tell"),
    ),
)
CANNOT_TELL = len(QUALITY.labels)
UNRATED = gettext_noop("Please rate the given descriptions of this image first.")

Ratings = Mapping[str, Mapping[str, int]]


def captions_to_rate(campaign: Campaign, images: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The part of a task's payload with the captions to rate, by image; drawn with the campaign's
    seed. An image of which the set has no caption is not there.

    Raises CampaignNotPossible if the team has no such set, or if the set describes regions.
    """
    rules, team = campaign.config.captions, campaign.team
    if not rules.rate_first:
        return {}
    given_set = team.caption_sets.filter(name=rules.rate_first).first()
    if given_set is None:
        raise CampaignNotPossible(
            f"captions.rate_first: there is no caption set {rules.rate_first!r}."
        )
    if Release.objects.filter(caption_set=given_set).describe_regions():
        raise CampaignNotPossible(
            f"captions.rate_first: caption set {rules.rate_first!r} describes regions of the "
            "images. Workers rate captions of whole images."
        )
    language = {LANGUAGE: given_set.language} if given_set.language else {}
    given: dict[int, list[str]] = {}
    rows = not_withdrawn(given_set.captions.filter(image__in=images)).order_by("number")
    for image, text in rows.values_list("image_id", "text"):
        given.setdefault(image, []).append(text)
    payloads = {}
    for image, texts in given.items():
        rng = random.Random(f"{campaign.config.seed}/{image}")
        most = min(rules.rate_first_captions, len(texts))
        payloads[image] = {RATE_FIRST: rng.sample(texts, most), **language}
    return payloads


def given_captions(task: Task) -> list[str]:
    return list((task.payload or {}).get(RATE_FIRST, ()))


def rating_fields(task: Task) -> list[str]:
    numbers = range(1, len(given_captions(task)) + 1)
    return [field_name(QUALITY.name, number, task.number) for number in numbers]


def shown(task: Task, fields: Mapping[str, str]) -> list[dict[str, Any]]:
    """The captions for the page, each with its language and its question."""
    language = (task.payload or {}).get(LANGUAGE, "")
    return [
        {
            "text": text,
            "language": language,
            "questions": [shown_question(task, number, QUALITY, fields)],
        }
        for number, text in enumerate(given_captions(task), start=1)
    ]


def ratings_in(task: Task, fields: Mapping[str, str]) -> Ratings:
    """The ratings in the fields, without missing and invalid ones."""
    captions = len(given_captions(task))
    return parse(
        fields, captions=captions, task=task.number, scales={QUALITY.name: len(QUALITY.labels)}
    )


def fields_of(task: Task, ratings: Ratings) -> dict[str, str]:
    names = rating_fields(task)
    return {names[int(number) - 1]: str(given[QUALITY.name]) for number, given in ratings.items()}


def rated(task: Task, ratings: Ratings | None) -> Iterator[dict[str, Any]]:
    """Each caption that has a rating: its `text`, the `rating` from 1 to 4, None if the worker
    cannot tell, and its `label`."""
    for number, text in enumerate(given_captions(task), start=1):
        if given := (ratings or {}).get(str(number)):
            value = given[QUALITY.name]
            rating = None if value == CANNOT_TELL else value
            yield {"text": text, "rating": rating, "label": QUALITY.labels[value - 1]}
