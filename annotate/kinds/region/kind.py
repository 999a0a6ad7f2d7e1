"""Captions of regions as a task type: a sentence or a paragraph for a box of an image."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Literal

from django import forms
from django.utils.translation import gettext
from pydantic import Field, model_validator

from accounts.models import Team
from annotate.campaign_file import CampaignConfig, KindSection, Share
from annotate.exports.files import Files
from annotate.kinds.base import CampaignNotPossible, TaskKind, Templates, new_task
from annotate.kinds.caption.kind import CaptionKind, contexts_of, primed_tasks
from annotate.kinds.caption.release import freeze
from annotate.kinds.caption.steps import INSTRUCTIONS, PRACTICE_FIELDS
from annotate.kinds.freezing import Drawn
from annotate.kinds.region.export import REGION_FILES, own_files, tables
from annotate.kinds.steps import (
    SELECTION,
    Choice,
    Choices,
    Lines,
    Percent,
    StepFields,
    Whole,
    Yes,
)
from annotate.models import Campaign, Release, ReleasedImage, Response, Selection, Task
from annotate.queries.images import NumberedBox, numbered_boxes
from annotate.queries.keywords import Keywords, english_keywords, names_in, stored_keywords
from corpora.language.languages import is_english
from corpora.language.text import gettext_noop


def _sizes(values: dict[str, Any], _team: Team) -> Iterator[tuple[str, str]]:
    least, most = values.get("region__least_size"), values.get("region__most_size")
    if least is not None and most is not None and least > most:
        yield "region__most_size", f"Enter at least {least * 100:g}, the smallest size."


IMAGES = StepFields(
    {
        "selection": SELECTION,
        "region__classes": Lines(
            label="Classes of the boxes",
            help_text="One name on each line, such as Dog. Empty: boxes of all classes.",
        ),
        "region__least_size": Percent(
            label="Smallest size, in per cent", help_text="Of the image's area."
        ),
        "region__most_size": Percent(label="Largest size, in per cent"),
        "region__parts": Yes(label="Also parts, such as faces and wheels"),
        "region__depictions": Choice(
            label="Drawings and the like of things",
            choices=[("with", "Included"), ("without", "Left out"), ("only", "Nothing else")],
        ),
        "region__leave_out": Choices(
            label="Leave out",
            choices=[
                ("duplicates", "boxes with the same edges as another"),
                ("nested", "boxes inside another"),
            ],
        ),
        "references": Whole(
            label="Captions for each region",
            least=1,
            most=1000,
            help_text="By that many different workers.",
        ),
        "priming__by": Choice(
            label="Name of the class beside the region",
            choices=[
                ("none", "Nobody sees it"),
                ("image", "Shown with some or all regions, to all workers of a region"),
                ("response", "Shown for some captions of each region, to compare the two"),
            ],
            widget=forms.RadioSelect,
        ),
        "priming__share": Percent(
            label="Share with the name, in per cent",
            help_text="Of the regions, or of the captions of each region.",
        ),
    },
    details=("region__parts", "region__depictions", "region__leave_out"),
    clean=_sizes,
)


class Region(KindSection):
    """Which boxes of the images workers describe. Sizes are shares of the image's area."""

    key: ClassVar[str] = "region"

    classes: tuple[str, ...] = Field(
        default=(), description="names or labels of the boxes' classes; empty: all"
    )
    parts: bool = Field(default=False, description="also boxes of parts, such as faces and wheels")
    least_size: Share = Field(default=0.01, description="of the image's area, at least")
    most_size: Share = Field(default=1.0, description="of the image's area, at most")
    depictions: Literal["with", "without", "only"] = Field(
        default="with", description="boxes of drawings and the like"
    )
    leave_out: tuple[Literal["duplicates", "nested"], ...] = Field(
        default=("duplicates",),
        description="duplicates: boxes with the same edges as another; nested: boxes inside "
        "another",
    )

    @model_validator(mode="after")
    def _sizes_in_order(self) -> "Region":
        if self.least_size > self.most_size:
            raise ValueError("least_size is greater than most_size")
        return self


def chosen_boxes(images: Iterable[int], rules: Region) -> Iterator[tuple[int, list[NumberedBox]]]:
    """Each image's primary key with its boxes that the rules choose, in the order of the images."""
    images = list(images)
    boxes = numbered_boxes(images, parts=rules.parts)
    for image in images:
        yield image, choose(boxes[image], rules)


def choose(boxes: Iterable[NumberedBox], rules: Region) -> list[NumberedBox]:
    """The boxes of an image that the rules choose, in their order.

    Of several with the same edges the first stays, and of boxes inside one another the outermost.
    Both are decided among the boxes of the chosen classes, sizes and depictions.
    """
    kept = [box for box in boxes if _is_wanted(box, rules)]
    if "duplicates" in rules.leave_out:
        firsts = {_edges(box): box for box in reversed(kept)}
        kept = [box for box in kept if firsts[_edges(box)] is box]
    if "nested" in rules.leave_out:
        kept = [box for box in kept if not any(_is_inside(box, other) for other in kept)]
    return kept


def _is_wanted(box: NumberedBox, rules: Region) -> bool:
    size = (box.x_max - box.x_min) * (box.y_max - box.y_min)
    return (
        (not rules.classes or bool({box.name, box.label} & {*rules.classes}))
        and rules.least_size <= size <= rules.most_size
        and (rules.depictions == "with" or box.is_depiction == (rules.depictions == "only"))
    )


def _edges(box: NumberedBox) -> Sequence[float]:
    return (box.x_min, box.y_min, box.x_max, box.y_max)


def _is_inside(box: NumberedBox, other: NumberedBox) -> bool:
    """Whether the other box contains this one and is larger."""
    return (
        _edges(box) != _edges(other)
        and other.x_min <= box.x_min
        and other.y_min <= box.y_min
        and box.x_max <= other.x_max
        and box.y_max <= other.y_max
    )


def region_of(box: NumberedBox, image: int) -> dict[str, Any]:
    """A region as tasks and releases store it. `image` is the image's place in the selection; edges
    are fractions of the image's width and height."""
    return {
        "image_id": image,
        "box": box.number,
        "class": box.label,
        "name": box.name,
        "x_min": box.x_min,
        "y_min": box.y_min,
        "x_max": box.x_max,
        "y_max": box.y_max,
    }


# Key of a task's payload, and of a released item's record, that has the region.
REGION = "region"


class RegionKind(CaptionKind):
    """Captions whose task is a box of an image. The box's class is the task's only keyword."""

    name = REGION
    label = "Describe regions of images (boxes)"
    subject_name = "region"
    section = Region
    # A region needs fewer words than an image; the limit is ours.
    defaults: ClassVar[Mapping[str, Any]] = {
        "references": 1,
        "baselines": 0,
        "captions": {"least_words": 5},
        "hit": {
            "title": gettext_noop("Describe a part of a photograph"),
            "description": gettext_noop(
                "Look at a photograph of which one part is marked, and describe this part."
            ),
            "keywords": "image, photograph, region, caption, describe, writing",
        },
    }
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    presets_in_words: ClassVar[Mapping[str, str]] = {}
    steps: ClassVar[Mapping[str, StepFields]] = {
        "images": IMAGES,
        "instructions": INSTRUCTIONS.without(*PRACTICE_FIELDS),
    }
    built_in_examples: ClassVar[tuple[str, ...]] = (
        gettext_noop("A red bicycle with a basket of flowers leans against a wall."),
    )
    scripts = ("kinds/region.js",)
    styles = ("kinds/viewer.css", "kinds/region.css")
    # A text about an image would not say which of its regions it is about.
    takes_text = False
    answer_shows_image = True
    faults: ClassVar[Mapping[str, str]] = {
        **CaptionKind.faults,
        "wrong-region": gettext_noop("describes another part of the image"),
    }
    files = REGION_FILES
    export_command = "export"
    about_release = "Captions of regions of images, written by crowd workers."
    own_files = staticmethod(own_files)
    tables = staticmethod(tables)

    @property
    def templates(self) -> Templates:
        """The task page of captions, with the region in place of the image."""
        page = Templates.of(CaptionKind.name)
        return replace(super().templates, task=page.task, instructions=page.instructions)

    def default_hit(self, style: str) -> Mapping[str, Any]:
        return TaskKind.default_hit(self, style)

    def material(self, config: CampaignConfig, at: datetime, team: Team) -> dict[str, Any]:
        if config.baselines:
            raise CampaignNotPossible("baselines: captions of regions have no human baseline.")
        if config.captions.rate_first:
            raise CampaignNotPossible("captions.rate_first: only captions of images can be rated.")
        return super().material(config, at, team)

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each region, image by image."""
        config = campaign.config
        assert campaign.selection is not None, "see material"
        regions = list(_regions(campaign.selection, config))
        names = {} if is_english(config.language) else names_in(config.language)
        images = [image for image, *_ in regions] if config.captions.show_context else []
        contexts = contexts_of(images)
        for number, (shown, (image, box, region)) in enumerate(
            zip(primed_tasks(config, len(regions)), regions, strict=True), start=1
        ):
            name = names.get(box.class_key)
            is_named = name is not None or is_english(config.language)
            keywords = Keywords([name or region["name"]], [] if is_named else [region["name"]])
            yield new_task(
                campaign,
                image_id=image,
                serial=region["box"],
                number=number,
                shows_keywords=shown,
                payload={REGION: region, **keywords.payload, **contexts.get(image, {})},
            )

    def number_of_tasks(self, selection: Selection, config: CampaignConfig) -> int:
        return sum(1 for _ in _regions(selection, config))

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        label = (
            gettext("Describe the marked part in a paragraph")
            if config.captions.style == "paragraph"
            else gettext("Describe the marked part in one sentence")
        )
        return {
            **super().context(task, config, fields),
            "picture": f"kinds/{REGION}/picture.html",
            "label": label,
            "keywords_label": gettext(
                "What the marked part shows. You do not have to use the word:"
            ),
            "region": region_in(task),
        }

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:
        about_part = [
            gettext("Describe only the part of the image that is marked and not dark."),
            gettext("Say what it shows, how it looks, and what it does or belongs to."),
            gettext("Do not describe the rest, which only shows where the part is."),
        ]
        return {**super().instructions_context(config), "about_part": about_part}

    def answer_context(self, response: Response) -> dict[str, Any]:
        shown = picture_of(response.task)
        if names := stored_keywords(response.task):
            # In the campaign's language, if the class has a name in it.
            in_english = names[0] in english_keywords(response.task)
            language = "en" if in_english else response.campaign.config.language
            shown["region"] = {**shown["region"], "name": names[0], "language": language}
        return shown

    def judge_payload(self, response: Response) -> dict[str, Any]:
        return {**super().judge_payload(response), REGION: region_in(response.task)}

    def freeze(self, release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
        """The captions of each region, in the order of submission."""
        freeze(release, drawn, numbers, lambda task: {REGION: region_in(task)})

    def files_of(self, _release: Release) -> Files:
        return self.files

    def methods(self, campaign: Campaign) -> Iterator[str]:
        rules = Region.of(campaign.config)
        classes = f"the classes {', '.join(rules.classes)}" if rules.classes else "all classes"
        parts = "with" if rules.parts else "without"
        depictions = {"with": "taken, too", "without": "left out", "only": "taken alone"}
        yield (
            f"Regions: the images' verified boxes of {classes}, {parts} parts of objects, of "
            f"{rules.least_size:.2%} to {rules.most_size:.2%} of the image's area. Drawings and "
            f"the like of things: {depictions[rules.depictions]}."
        )
        words = {
            "duplicates": "boxes with the same edges as another",
            "nested": "boxes inside another",
        }
        named = " and ".join(words[reason] for reason in rules.leave_out)
        yield f"Left out: {named or 'no duplicate or nested boxes'}."

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        return picture_of(image.task)


def region_in(task: Task) -> dict[str, Any]:
    """The region that a task is about."""
    assert task.payload is not None, "a task of this kind has a region"
    region: dict[str, Any] = task.payload[REGION]
    return region


def picture_of(task: Task) -> dict[str, Any]:
    """What templates show of a task's region."""
    return {"region": region_in(task), "whole": task.image}


def _regions(
    selection: Selection, config: CampaignConfig
) -> Iterator[tuple[int, NumberedBox, dict[str, Any]]]:
    """The primary key of the image, the box and the region of each task; raises
    CampaignNotPossible."""
    places = dict(selection.selected.values_list("image_id", "position").order_by("position"))
    is_empty = True
    for image, boxes in chosen_boxes(places, Region.of(config)):
        for box in boxes:
            is_empty = False
            yield image, box, region_of(box, places[image])
    if is_empty:
        raise CampaignNotPossible(
            f"region: none of the images of {selection.name} has a verified box of these classes, "
            "sizes and depictions."
        )
