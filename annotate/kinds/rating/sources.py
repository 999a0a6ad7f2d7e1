"""The captions to rate by image, in random order, without their sources; and fields for these."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q

from accounts.models import Team
from annotate.kinds.base import CampaignNotPossible
from annotate.kinds.rating.answers import Rating, Source
from annotate.kinds.steps import RESPONSES, SELECTION, Choices, StepFields, listed
from annotate.models import CaptionSet, GivenCaption, Release, ReleasedCaption, Role, Task
from annotate.queries.releases import not_withdrawn
from corpora.language.languages import ENDINGS, ENGLISH, language_of
from corpora.language.text import normalise

ROLES = {"references": Role.REFERENCE, "baseline": Role.BASELINE}

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
        raise CampaignNotPossible(f"{rules.key}.sources: name at least one source of captions.")
    given = {
        source.name: _captions(source, images, team, language, rules.key)
        for source in rules.sources
    }
    shared = [image for image in images if all(image in captions for captions in given.values())]
    if not shared:
        raise CampaignNotPossible(
            f"{rules.key}.sources: no image of the selection has a caption of every source."
        )
    return given, shared


def _wanted(rules: Rating) -> int:
    return rules.images or 2**31


def _captions(
    source: Source, images: Iterable[int], team: Team, language: str, key: str
) -> Captions:
    """The source's captions of these images; raises CampaignNotPossible if it has none, or
    describes regions."""
    where = f"release {source.release!r}" if source.release else f"set {source.caption_set!r}"
    releases = Release.objects.of_team(team)
    if releases.filter(
        Q(name=source.release) if source.release else Q(caption_set__name=source.caption_set)
    ).describe_regions():
        raise CampaignNotPossible(
            f"{key}.sources: the {where} describes regions of the images. Workers judge captions "
            "of whole images."
        )
    wanted, captions = set(images), defaultdict[int, list[str]](list)
    for image, text in _rows(source, team, language):
        if image in wanted:
            captions[image].append(text)
    if not captions:
        raise CampaignNotPossible(
            f"{key}.sources: the {where} has no captions of the selection's images. Of a release "
            f"of several languages, only those in the campaign's language are used ({language})."
        )
    return dict(captions)


def _rows(source: Source, team: Team, language: str) -> Iterable[tuple[int, str]]:
    if source.release is not None:
        released = ReleasedCaption.objects.filter(
            image__release__in=Release.objects.of_team(team).filter(name=source.release),
            role=ROLES[source.role],
            # Captions have a language in releases of several languages only.
            language__in=["", language],
            response__withdrawn_at=None,
        )
        return released.order_by("pk").values_list("image__task__image", "text").iterator()
    sets = CaptionSet.objects.of_team(team).filter(name=source.caption_set)
    given = not_withdrawn(GivenCaption.objects.filter(caption_set__in=sets))
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
            # Captions from elsewhere may have blanks that a browser does not show.
            plain = normalise(text)
            shown = in_same_form(plain, full_stop) if rules.same_form else plain
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
    text = text.strip().rstrip(ENDINGS).rstrip()
    ending = "" if text.endswith(OTHER_ENDINGS) else full_stop
    return f"{text[:1].upper()}{text[1:]}{ending}"


# The characters that the name of a source can have, and its length.
NOT_IN_NAMES, MOST_IN_NAME = re.compile(r"[^\w.-]+"), 40


class _Place(NamedTuple):
    """Where captions are, as an option of the form has it."""

    place: str  # `release` or `caption_set`
    role: str
    source: str

    @classmethod
    def of(cls, row: dict[str, Any]) -> "_Place":
        place = "caption_set" if row.get("caption_set") else "release"
        return cls(place, str(row.get("role", "references")), str(row.get(place, "")))

    @property
    def value(self) -> str:
        return "|".join(self)

    @property
    def label(self) -> str:
        if self.place == "caption_set":
            return f"{self.source}: imported captions"
        what = "human baseline" if self.role == "baseline" else "references"
        return f"{self.source}: {what} of the release"

    def row(self, taken: Sequence[str]) -> dict[str, Any]:
        """The place as the file has it, with a name that is not taken."""
        name = f"{self.source}-baseline" if self.role == "baseline" else self.source
        name = NOT_IN_NAMES.sub("-", name)[:MOST_IN_NAME] or "source"
        number = 2
        while name in taken:
            name, number = f"{name[: MOST_IN_NAME - 4]}-{number}", number + 1
        role = {"role": self.role} if self.role != "references" else {}
        return {"name": name, self.place: self.source, **role}


class Sources(Choices):
    """Sources of captions to rate: releases of the team, and sets of imported captions.

    A source that the draft has keeps its name and its number of captions of each image, which are
    in the file alone.
    """

    def begin(self, value: Any, team: Team) -> None:
        rows = [row for row in listed(value) if isinstance(row, dict)]
        self.rows = {_Place.of(row): row for row in rows}
        places = dict.fromkeys([*_offered(team), *self.rows])
        self.choices = [(place.value, place.label) for place in places]

    def as_text(self, value: Any) -> list[str]:
        return [_Place.of(row).value for row in listed(value) if isinstance(row, dict)]

    def as_value(self, cleaned: Any) -> list[Any]:
        sources: list[dict[str, Any]] = []
        for value in cleaned or ():
            place = _Place(*value.split("|", 2))
            taken = [str(row.get("name")) for row in [*sources, *self.rows.values()]]
            sources.append(self.rows.get(place) or place.row(taken))
        return sources


def _offered(team: Team) -> Iterator[_Place]:
    """The team's sources, the latest first."""
    whole = ReleasedCaption.objects.filter(image__task__serial=0)
    captions = whole.filter(image__release=OuterRef("pk"))
    releases = Release.objects.of_team(team).annotate(
        **{f"has_{role}": Exists(captions.filter(role=ROLES[role])) for role in ROLES}
    )
    for release in releases.order_by("-created_at", "-pk"):
        for role in ROLES:
            if getattr(release, f"has_{role}"):
                yield _Place("release", role, release.name)
    # The references of a release may also be a set of their own.
    sets = CaptionSet.objects.of_team(team).filter(release=None)
    for name in sets.order_by("-created_at", "-pk").values_list("name", flat=True):
        yield _Place("caption_set", "references", name)


def images_step(kind: str) -> StepFields:
    """The step *Images* of a kind whose section has `sources`."""
    return StepFields(
        {
            "selection": SELECTION,
            f"{kind}__sources": Sources(
                required=True,
                label="Sources of the captions",
                help_text="Workers see one caption of each source that they judge, in random order "
                "and without its name. Captions of models come from a results file "
                "(import_results).",
                error_messages={
                    "required": "Choose at least one source of captions.",
                    "invalid_choice": "This source does not exist any more. Choose another one.",
                },
            ),
            "responses": RESPONSES,
        }
    )
