"""The captions to rate by image, in random order, without their sources."""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from accounts.models import Team
from annotate.kinds.base import CampaignNotPossible
from annotate.kinds.rating.answers import Rating, Source
from annotate.models import CaptionSet, GivenCaption, Release, ReleasedCaption, Role, Task
from corpora.language.languages import ENGLISH, language_of

ROLES = {"references": Role.REFERENCE, "baseline": Role.BASELINE}

FULL_STOPS = ".。"
OTHER_ENDINGS = ("!", "?", "…", "！", "？", "؟")

# Captions of each image by its primary key.
Captions = Mapping[int, Sequence[str]]


def captions_to_rate(
    rules: Rating, images: Sequence[int], seed: int, team: Team, language: str = ENGLISH
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Each image for which every source has a caption, with its captions in random order.

    Sources are the team's own. Images are in the order of `images`. A caption has its `text` and,
    in `sources`, the text of each source. Of a release of several languages, the captions in
    `language`, a BCP 47 tag, are used. Raises CampaignNotPossible.
    """
    given, shared = _shared(rules, images, team, language)
    drawn = set(random.Random(f"{seed}/images").sample(shared, min(_wanted(rules), len(shared))))
    for image in shared:
        if image in drawn:
            rng = random.Random(f"{seed}/{image}")
            yield image, _mixed(rules, given, image, rng, language_of(language).full_stop)


def number_to_rate(rules: Rating, images: Sequence[int], team: Team, language: str) -> int:
    """The number of images that `captions_to_rate` yields; raises CampaignNotPossible."""
    return min(_wanted(rules), len(_shared(rules, images, team, language)[1]))


def _shared(
    rules: Rating, images: Sequence[int], team: Team, language: str
) -> tuple[dict[str, Captions], list[int]]:
    """The captions of each source, and the images for which every source has one; raises
    CampaignNotPossible if there are none."""
    if not rules.sources:
        raise CampaignNotPossible("rating.sources: name at least one source of captions.")
    given = {source.name: _captions(source, images, team, language) for source in rules.sources}
    shared = [image for image in images if all(image in found for found in given.values())]
    if not shared:
        raise CampaignNotPossible(
            "rating.sources: no image of the selection has a caption of every source."
        )
    return given, shared


def _wanted(rules: Rating) -> int:
    return rules.images or 2**31


def _captions(source: Source, images: Iterable[int], team: Team, language: str) -> Captions:
    """The source's captions of these images; raises CampaignNotPossible if it has none."""
    wanted, found = set(images), defaultdict[int, list[str]](list)
    for image, text in _rows(source, team, language):
        if image in wanted:
            found[image].append(text)
    if not found:
        where = f"release {source.release!r}" if source.release else f"set {source.caption_set!r}"
        raise CampaignNotPossible(
            f"rating.sources: the {where} has no captions of the selection's images. Of a release "
            f"of several languages, only those in the campaign's language are used ({language})."
        )
    return dict(found)


def _rows(source: Source, team: Team, language: str) -> Iterable[tuple[int, str]]:
    if source.release is not None:
        released = ReleasedCaption.objects.filter(
            image__release__in=Release.objects.of_team(team).filter(name=source.release),
            role=ROLES[source.role],
            # Captions have a language in releases of several languages only.
            language__in=["", language],
        )
        return released.order_by("pk").values_list("image__task__image", "text").iterator()
    sets = CaptionSet.objects.of_team(team).filter(name=source.caption_set)
    given = GivenCaption.objects.filter(caption_set__in=sets)
    return given.order_by("number").values_list("image", "text").iterator()


def _mixed(
    rules: Rating,
    given: Mapping[str, Captions],
    image: int,
    rng: random.Random,
    full_stop: str,
) -> list[dict[str, Any]]:
    """The captions of an image in random order. The same text by several sources is rated once."""
    by_text: dict[str, dict[str, str]] = defaultdict(dict)
    for source in rules.sources:
        texts = given[source.name][image]
        for text in rng.sample(texts, min(source.per_image, len(texts))):
            shown = in_same_form(text, full_stop) if rules.same_form else text
            by_text[shown].setdefault(source.name, text)
    captions = [{"text": text, "sources": sources} for text, sources in by_text.items()]
    rng.shuffle(captions)
    return captions


def captions_of(task: Task) -> list[dict[str, Any]]:
    """The captions of a task in the order of its page."""
    payload: dict[str, list[dict[str, Any]]] = task.payload or {}
    return payload["captions"]


def in_same_form(text: str, full_stop: str = ".") -> str:
    """The text with a capital letter and the full stop of its language, so that neither reveals its
    source."""
    text = text.strip().rstrip(FULL_STOPS).rstrip()
    ending = "" if text.endswith(OTHER_ENDINGS) else full_stop
    return f"{text[:1].upper()}{text[1:]}{ending}"
