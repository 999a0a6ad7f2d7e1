"""What *New campaign* asks about ratings: whose captions are rated."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef

from accounts.models import Team
from annotate.kinds.rating.sources import ROLES
from annotate.kinds.wizard import RESPONSES, SELECTION, Choices, StepFields, listed
from annotate.models import CaptionSet, Release, ReleasedCaption

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

    def as_value(self, cleaned: Any) -> list[Any] | None:
        found: list[dict[str, Any]] = []
        for value in cleaned or ():
            place = _Place(*value.split("|", 2))
            taken = [str(row.get("name")) for row in [*found, *self.rows.values()]]
            found.append(self.rows.get(place) or place.row(taken))
        return found


def _offered(team: Team) -> Iterator[_Place]:
    """What the team has, the latest first."""
    captions = ReleasedCaption.objects.filter(image__release=OuterRef("pk"))
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


IMAGES = StepFields(
    {
        "selection": SELECTION,
        "rating__sources": Sources(
            required=True,
            label="Sources of the captions",
            help_text="Workers rate one caption of each source, in random order and without its "
            "name. Captions of models come from a results file (import_results).",
            error_messages={
                "required": "Choose at least one source of captions.",
                "invalid_choice": "This source does not exist any more. Choose another one.",
            },
        ),
        "responses": RESPONSES,
    }
)
