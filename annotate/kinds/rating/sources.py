"""The captions to rate by image, in random order, without their sources."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotate.kinds.base import CampaignNotPossible
from annotate.kinds.rating.rules import Rating, Source
from annotate.models import GivenCaption, ReleasedCaption, Role, Task

ROLES = {"references": Role.REFERENCE, "baseline": Role.BASELINE}

# Captions of each image by its primary key.
Captions = Mapping[int, Sequence[str]]


def captions_to_rate(
    rules: Rating, images: Sequence[int], seed: int
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Each image for which every source has a caption, with its captions in random order.

    Images are in the order of `images`. A caption has its `text` and, in `sources`, the text of
    each source. Raises CampaignNotPossible.
    """
    if not rules.sources:
        raise CampaignNotPossible("rating.sources: name at least one source of captions.")
    given = {source.name: _captions(source, images) for source in rules.sources}
    shared = [image for image in images if all(image in found for found in given.values())]
    if not shared:
        raise CampaignNotPossible(
            "rating.sources: no image of the selection has a caption of every source."
        )
    drawn = set(random.Random(f"{seed}/images").sample(shared, min(_wanted(rules), len(shared))))
    for image in shared:
        if image in drawn:
            yield image, _mixed(rules, given, image, random.Random(f"{seed}/{image}"))


def _wanted(rules: Rating) -> int:
    return rules.images or 2**31


def _captions(source: Source, images: Iterable[int]) -> Captions:
    """The source's captions of these images; raises CampaignNotPossible if it has none."""
    wanted, found = set(images), defaultdict[int, list[str]](list)
    for image, text in _rows(source):
        if image in wanted:
            found[image].append(text)
    if not found:
        where = f"release {source.release!r}" if source.release else f"set {source.caption_set!r}"
        raise CampaignNotPossible(
            f"rating.sources: the {where} has no captions of the selection's images."
        )
    return dict(found)


def _rows(source: Source) -> Iterable[tuple[int, str]]:
    if source.release is not None:
        released = ReleasedCaption.objects.filter(
            image__release__name=source.release, role=ROLES[source.role]
        )
        return released.order_by("pk").values_list("image__task__image", "text").iterator()
    given = GivenCaption.objects.filter(caption_set__name=source.caption_set)
    return given.order_by("number").values_list("image", "text").iterator()


def _mixed(
    rules: Rating, given: Mapping[str, Captions], image: int, rng: random.Random
) -> list[dict[str, Any]]:
    """The captions of an image in random order. The same text by several sources is rated once."""
    by_text: dict[str, dict[str, str]] = defaultdict(dict)
    for source in rules.sources:
        texts = given[source.name][image]
        for text in rng.sample(texts, min(source.per_image, len(texts))):
            by_text[in_same_form(text) if rules.same_form else text].setdefault(source.name, text)
    captions = [{"text": text, "sources": sources} for text, sources in by_text.items()]
    rng.shuffle(captions)
    return captions


def captions_of(task: Task) -> list[dict[str, Any]]:
    """The captions of a task in the order of its page."""
    payload: dict[str, list[dict[str, Any]]] = task.payload or {}
    return payload["captions"]


def in_same_form(text: str) -> str:
    """The text with a capital letter and a full stop, so that neither reveals its source."""
    text = text.strip().rstrip(".").rstrip()
    ending = "" if text.endswith(("!", "?", "…")) else "."
    return f"{text[:1].upper()}{text[1:]}{ending}"
