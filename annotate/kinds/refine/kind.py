"""Texts that are written in rounds as a task type: each worker edits the last version."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from pydantic import Field, model_validator

from accounts.models import Team
from annotate.campaign_file import CampaignConfig, KindSection
from annotate.kinds.base import (
    AnswerMissing,
    AnswerRefused,
    CampaignNotPossible,
    Sign,
    TaskKind,
    new_task,
)
from annotate.kinds.caption.steps import INSTRUCTIONS, PRACTICE_FIELDS
from annotate.kinds.refine.changes import parts
from annotate.kinds.refine.release import (
    FILES,
    WRITTEN,
    draft_of,
    freeze,
    shown_versions,
    tables,
)
from annotate.kinds.steps import CAPTION_SET, RELEASE, SELECTION, StepFields, Whole, Yes
from annotate.kinds.wording import translated
from annotate.models import (
    Campaign,
    CaptionSet,
    GivenCaption,
    Release,
    ReleasedCaption,
    ReleasedImage,
    Response,
    Role,
    Task,
)
from annotate.queries.releases import not_withdrawn
from corpora.language.languages import language_of
from corpora.language.text import gettext_noop, normalise, problems


class Refine(KindSection):
    """What the first round begins with, and how many rounds there are."""

    key: ClassVar[str] = "refine"

    draft_set: str | None = Field(
        default=None, min_length=1, description="caption set with the drafts"
    )
    draft_release: str | None = Field(
        default=None, min_length=1, description="or the release with the drafts"
    )
    joins_captions: bool = Field(
        default=False, description="a draft is all captions of the image, not the first one"
    )
    rounds: int = Field(default=3, ge=1, le=20, description="workers one after the other")
    waits_for_verdict: bool = Field(
        default=False, description="a round opens when the one before is judged good"
    )

    @model_validator(mode="after")
    def _one_source(self) -> "Refine":
        if self.draft_set and self.draft_release:
            raise ValueError("name draft_set or draft_release, not both")
        return self


def drafts(rules: Refine, team: Team, language: str) -> Mapping[int, dict[str, str]]:
    """The draft of each image by its primary key: its `text` and its `origin`, in words.

    Raises CampaignNotPossible if the team has no such captions.
    """
    if rules.draft_set:
        key, name = "draft_set", rules.draft_set
        rows, described = _of_set(name, team), Q(caption_set__name=name)
    elif rules.draft_release:
        key, name = "draft_release", rules.draft_release
        rows, described = _of_release(name, team, language), Q(name=name)
    else:
        return {}
    releases = Release.objects.of_team(team).filter(described)
    if not rules.joins_captions and releases.describe_regions():
        raise CampaignNotPossible(
            f"refine.joins_captions: {name!r} describes regions of the images. Set it to true, so "
            "that a draft is the captions of all regions."
        )
    drafts: dict[int, dict[str, str]] = {}
    for image, text, origin in rows:
        if image not in drafts:
            drafts[image] = {"text": text, "origin": origin}
        elif rules.joins_captions:
            drafts[image]["text"] += f" {text}"
    if not drafts:
        raise CampaignNotPossible(f"refine.{key}: there are no captions in {name!r}.")
    return drafts


# The primary key of an image, a text about it, and the text's origin.
_Row = tuple[int, str, str]


def _of_set(name: str, team: Team) -> Iterator[_Row]:
    sets = CaptionSet.objects.of_team(team).filter(name=name)
    given = not_withdrawn(GivenCaption.objects.filter(caption_set__in=sets))
    for image, text in given.order_by("number").values_list("image", "text"):
        yield image, text, f"edited from caption set {name}"


def _of_release(name: str, team: Team, language: str) -> Iterator[_Row]:
    releases = Release.objects.of_team(team).filter(name=name)
    captions = ReleasedCaption.objects.filter(image__release__in=releases)
    captions = captions.exclude(role=Role.REASON).filter(response__withdrawn_at=None)
    captions = captions.filter(language__in=["", language]).order_by("pk")
    for image, text in captions.values_list("image__task__image", "text"):
        yield image, normalise(text), f"edited from release {name}"
    for release in releases:
        records = release.images.filter(record__has_key="origin")
        # The last text has parts of all versions.
        records = records.exclude(answers__response__withdrawn_at__isnull=False)
        for image, record in records.order_by("number").values_list("task__image", "record"):
            earlier = "" if record["origin"] == WRITTEN else f", {record['origin']}"
            yield image, record["text"], f"edited from release {name}{earlier}"


# Not measured. A version that changes a smaller share of the words is flagged.
HARDLY_CHANGED = 0.02
# Keys of the section `captions` for single captions.
NOT_OF_ROUNDS = ("rate_first", "cannot_describe", "remarks", "show_context")
IMAGES = StepFields(
    {
        "selection": SELECTION,
        "refine__draft_release": RELEASE,
        "refine__draft_set": CAPTION_SET,
        "refine__joins_captions": Yes(label="All captions of an image together are the draft"),
        "refine__rounds": Whole(
            label="Rounds",
            least=1,
            most=20,
            help_text="Each by another worker, who edits the text of the round before.",
        ),
        "refine__waits_for_verdict": Yes(
            label="Open a round when the one before is judged good",
            help_text="All versions must then be checked: set the share of checks to 100%.",
        ),
    },
    details=("refine__joins_captions", "refine__waits_for_verdict"),
)


class RefineKind(TaskKind):
    name = "refine"
    label = "Write or edit texts in rounds"
    subject_name = "image"
    answer_name = "version"
    answers_name = "versions"
    section = Refine
    defaults: ClassVar[Mapping[str, Any]] = {
        "captions": {"style": "paragraph"},
        "priming": {"by": "none"},
        "hit": {
            "title": gettext_noop("Improve the description of a photograph"),
            "description": gettext_noop(
                "Look at a photograph, and correct and complete the text that describes it."
            ),
            "keywords": "image, photograph, describe, edit, writing",
        },
    }
    # Garg et al. 2024, sections 3 and 4: three rounds, 217 words on average.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "iiw": {
            "kind": "refine",
            "captions": {
                "style": "paragraph",
                "least_words": 80,
                "most_words": 600,
                "most_characters": 6_000,
                "target_words": 200,
            },
            "refine": {"rounds": 3},
            "hit": {"minutes": 60, "reward": "2.50"},
        },
    }
    presets_in_words: ClassVar[Mapping[str, str]] = {
        "iiw": "ImageInWords: about 200 words in three rounds, from a draft or from nothing",
    }
    steps: ClassVar[Mapping[str, StepFields]] = {
        "images": IMAGES,
        "instructions": INSTRUCTIONS.without(
            *PRACTICE_FIELDS,
            "captions__cannot_describe",
            "captions__cannot_describe_quorum",
            "captions__remarks",
            "captions__show_context",
            "captions__forbid_keyword_lists",
        ),
    }
    answer_relations = ("answer", "builds_on__answer")
    words_field = "answer__content__text"
    styles = ("kinds/refine.css",)
    has_languages = True
    builds_on_answers = True
    faults: ClassVar[Mapping[str, str]] = {
        "wrong-image": "describes another image",
        "made-worse": gettext_noop("removed what was right, or added what is wrong"),
        "not-done": gettext_noop("left errors or gaps that are easy to see"),
        "not-english": "not in the campaign's language",
    }
    flags: ClassVar[Mapping[str, str]] = {
        "unchanged": "The text is the same as before.",
        "hardly_changed": "{changed} of {words} words changed.",
    }
    files = FILES
    about_release = (
        "Descriptions of images that crowd workers wrote or edited in rounds. The column origin "
        "says what each was edited from."
    )
    freeze = staticmethod(freeze)
    tables = staticmethod(tables)

    def responses_of(self, section: Any) -> int:
        return int(section.rounds)

    def material(self, config: CampaignConfig, at: datetime, team: Team) -> dict[str, Any]:
        for key in NOT_OF_ROUNDS:
            if getattr(config.captions, key):
                raise CampaignNotPossible(f"captions.{key}: texts in rounds do not have this.")
        if self.waits_for_verdict(config) and config.review.share < 1:
            raise CampaignNotPossible(
                "refine.waits_for_verdict: each version needs a verdict, so set review.share to 1."
            )
        return super().material(config, at, team)

    def language_of_material(self, config: CampaignConfig, team: Team) -> str:
        name = Refine.of(config).draft_release
        return Release.objects.of_team(team).filter(name=name).one_language() if name else ""

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each selected image, with its draft as payload, if it has one."""
        config = campaign.config
        assert campaign.selection is not None, "see material"
        given = drafts(Refine.of(config), campaign.team, config.language)
        for number, image in campaign.selection.selected.values_list("position", "image_id"):
            yield new_task(
                campaign,
                image_id=image,
                number=number,
                places_left=1,
                at_once=1,
                payload=given.get(image),
            )

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        field, base_field = self.field_names(task)
        base = _version(task, fields[base_field]) if base_field in fields else _last(task)
        text = _text_of(base, task)
        return {
            **self.image_context(task, config),
            "field": field,
            "base_field": base_field,
            "base": str(base.key) if base else "",
            "value": fields.get(field, text),
            "has_text": bool(text),
            "changes": list(parts(_text_before(base), text)) if base and _text_before(base) else [],
            "round": (base.round or 0) + 1 if base else 1,
            "rounds": task.wanted,
            "rules": config.captions,
        }

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:
        return {"openings": language_of(config.language).openings_in_words}

    def field_names(self, task: Task) -> list[str]:
        return [f"text-{task.number}", f"base-{task.number}"]

    def check(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        text, _ = self.field_names(task)
        faults = problems(fields.get(text, ""), rules=config.captions, language=config.language)
        if faults:
            raise AnswerRefused(translated(faults))
        return self.read(task, fields)

    def read(self, task: Task, fields: Mapping[str, str]) -> dict[str, Any]:
        """Takes one query. A base that is not a version of the task counts as the draft."""
        field, base_field = self.field_names(task)
        text = normalise(fields.get(field, ""))
        if not text:
            raise AnswerMissing(f"The answer contains no text for image {task.number}.")
        base = _version(task, fields.get(base_field, ""))
        changes = list(parts(_text_of(base, task), text))
        return {
            "text": text,
            "base": str(base.key) if base else "",
            "new": " ".join(part.text.strip() for part in changes if part.what == "added"),
            "words": {
                part_kind: sum(part.words for part in changes if part.what == part_kind)
                for part_kind in ("kept", "added", "removed")
            },
        }

    def fields_of(self, task: Task, answer: Any) -> dict[str, str]:
        return dict(zip(self.field_names(task), (answer["text"], answer["base"]), strict=True))

    def base_of(self, answer: Any) -> str:
        return str(answer["base"])

    def waits_for_verdict(self, config: CampaignConfig) -> bool:
        return Refine.of(config).waits_for_verdict

    def text(self, answer: Any) -> str | None:
        """The words that the worker added to the version before."""
        return answer["new"] or None

    def is_part(self, answer: Any) -> bool:
        return bool(answer["words"]["kept"] + answer["words"]["removed"])

    def signs(self, answer: Any, _config: CampaignConfig) -> list[Sign]:
        kept, added, removed = (
            answer["words"][part_kind] for part_kind in ("kept", "added", "removed")
        )
        changed, words = max(added, removed), kept + removed
        if not words or changed >= HARDLY_CHANGED * words:
            return []
        code = "hardly_changed" if changed else "unchanged"
        why = self.flags[code].format(changed=changed, words=words)
        return [Sign(code, changed / words, HARDLY_CHANGED, why)]

    def answer_context(self, response: Response) -> dict[str, Any]:
        before = _text_of(response.builds_on, response.task)
        return {"parts": list(parts(before, response.answer.content["text"]))}

    def summary(self, response: Response) -> str:
        return str(response.answer.content["text"])

    def judge_payload(self, response: Response) -> dict[str, Any]:
        before = _text_of(response.builds_on, response.task)
        return {"caption": self.summary(response), "before": before, "round": response.round}

    def methods(self, campaign: Campaign) -> Iterator[str]:
        rules = Refine.of(campaign.config)
        opens = "judged good" if rules.waits_for_verdict else "submitted"
        yield (
            f"Rounds of each text: {rules.rounds}, each by another worker, who edited the text of "
            f"the round before. A round opened when the one before was {opens}."
        )
        named = f"caption set {rules.draft_set}" if rules.draft_set else ""
        named = named or (f"release {rules.draft_release}" if rules.draft_release else "")
        if not named:
            yield "The first round began with an empty page."
            return
        taken = "all captions" if rules.joins_captions else "the first caption"
        yield f"The first round began with {taken} of the image in the {named}."
        if without := campaign.tasks.filter(payload__isnull=True).count():
            yield f"Images without a draft there, whose first round wrote the text: {without:,}."

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        return {"versions": shown_versions(image)}


def _last(task: Task) -> Response | None:
    """The last version that counts."""
    versions = Response.objects.counting().filter(task=task.pk)
    return versions.select_related("answer", "builds_on__answer").order_by("-round").first()


def _version(task: Task, key: str) -> Response | None:
    """The version of the task with this key, also if it no longer counts."""
    try:
        wanted = UUID(key)
    except ValueError:
        return None
    versions = Response.objects.select_related("answer", "builds_on__answer")
    return versions.filter(task=task.pk, key=wanted).first()


def _text_of(version: Response | None, task: Task) -> str:
    """The text of a version, or the draft."""
    return str(version.answer.content["text"]) if version else draft_of(task)


def _text_before(version: Response) -> str:
    """The text that a version builds on."""
    return _text_of(version.builds_on, version.task)
