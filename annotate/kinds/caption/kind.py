"""Captions as a task type: a sentence or a paragraph for an image, with or without keywords."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db import connection
from django.db.models import BooleanField, F, Func, Value

from accounts.models import Team
from annotate.campaign_file import CampaignConfig
from annotate.exports.files import Files
from annotate.exports.tables import Asked, Table
from annotate.images.copies import display_srcset, display_url
from annotate.kinds.base import (
    AnswerMissing,
    AnswerRefused,
    CampaignNotPossible,
    Drawn,
    Part,
    TaskKind,
)
from annotate.kinds.caption.export import BASELINE_FILE, CAPTION_FILES, own_files, tables
from annotate.kinds.caption.release import freeze
from annotate.kinds.caption.wizard import IMAGES, INSTRUCTIONS
from annotate.kinds.wizard import StepFields
from annotate.kinds.wording import translated
from annotate.models import (
    Campaign,
    Caption,
    Release,
    ReleasedImage,
    Response,
    Role,
    Selection,
    Task,
)
from annotate.models.responses import ResponseQuerySet
from annotate.queries.keywords import (
    english_keywords,
    keywords_in,
    names_in,
    own_without_classes,
    task_keywords,
)
from annotate.queries.words import if_few
from corpora.language.consensus import mean_similarities
from corpora.language.languages import language_of
from corpora.language.text import gettext_noop, normalise, problems

# A longer text is found by its beginning. The index holds this much of it.
INDEXED = 10_000


class HasWords(Func):
    """Whether a text contains all the words; quotation marks keep words together, and a minus sign
    excludes one. In the form of the index `caption_words` (PostgreSQL only)."""

    template = "(to_tsvector('simple', left(%(expressions)s))"
    arg_joiner = f", {INDEXED})) @@ websearch_to_tsquery('simple', "
    output_field = BooleanField()


def with_indexed_words(rows: ResponseQuerySet, campaign: Campaign, words: str) -> ResponseQuerySet:
    """Those of the responses whose caption has the words."""
    theirs = Caption.objects.filter(response__campaign=campaign)
    matching = theirs.filter(HasWords(F("text"), Value(words)))
    few = if_few(matching.values_list("pk", flat=True))
    if few is None:
        return rows.filter(HasWords(F("caption__text"), Value(words)))
    return rows.filter(pk__in=few)


PARAGRAPH_HIT = {
    "title": gettext_noop("Describe a photograph in a paragraph"),
    "description": gettext_noop(
        "Look at a photograph and describe it so that somebody who cannot see it can imagine it."
    ),
}
# Images whose keywords are read at once.
AT_ONCE = 1000


class CaptionKind(TaskKind):
    name = "caption"
    label = "Describe images (captions)"
    subject_name = "image"
    answer_name = "caption"
    answers_name = "captions"
    # nocaps: Agrawal et al. 2019, section 3.1; COCO: Chen et al. 2015, section 3 (no priming, 5 or
    # 40 references and one more for comparison).
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "nocaps": {"references": 10, "baselines": 1, "priming": {"share": 1.0}},
        "coco-c5": {"references": 5, "baselines": 1, "priming": {"share": 0.0}},
        "coco-c40": {"references": 40, "baselines": 1, "priming": {"share": 0.0}},
    }
    presets_in_words: ClassVar[Mapping[str, str]] = {
        "nocaps": "nocaps: 10 references and a human baseline, with object names",
        "coco-c5": "COCO c5: 5 references and a human baseline, without object names",
        "coco-c40": "COCO c40: 40 references and a human baseline, without object names",
    }
    steps: ClassVar[Mapping[str, StepFields]] = {"images": IMAGES, "instructions": INSTRUCTIONS}
    answer_relations = ("caption",)
    answer_field = "caption__text"
    words_field = "caption__text"
    takes_text = True
    has_languages = True
    has_families = True
    has_references = True
    faults: ClassVar[Mapping[str, str]] = {
        "keyword-list": "a list of keywords, not a sentence",
        "wrong-image": "describes another image",
        "vague": "too vague: would fit many images",
        "not-english": "not in the campaign's language",
        "copy": "the same as other captions",
    }
    files = CAPTION_FILES
    export_command = "export_captions"
    about_release = "Captions of images, written by crowd workers."
    released_relations = ("captions",)

    def default_hit(self, style: str) -> Mapping[str, Any]:
        hit = super().default_hit(style)
        return {**hit, **PARAGRAPH_HIT} if style == "paragraph" else hit

    def material(self, config: CampaignConfig, _at: datetime, team: Team) -> dict[str, Any]:
        if config.selection is None:
            raise CampaignNotPossible("selection: a caption campaign needs a selection of images.")
        if config.responses is not None:
            raise CampaignNotPossible(
                "responses: a caption campaign uses references and baselines instead."
            )
        selection = Selection.objects.of_team(team).filter(name=config.selection).first()
        if selection is None:
            own = Selection.objects.of_team(team)
            known = ", ".join(sorted(own.values_list("name", flat=True)))
            raise CampaignNotPossible(
                f"selection: there is no selection {config.selection!r}. Existing names: "
                f"{known or 'none'}."
            )
        return {"selection": selection}

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each selected image."""
        config = campaign.config
        assert campaign.selection is not None, "see material"
        selected = list(campaign.selection.selected.values_list("position", "image_id"))
        shown = _shows_keywords(config, len(selected))
        without_classes = own_without_classes(campaign.selection)
        names = names_in(config.language)
        for start in range(0, len(selected), AT_ONCE):
            chunk = selected[start : start + AT_ONCE]
            keywords = keywords_in(config.language, [image_id for _, image_id in chunk], names)
            for shows_keywords, (position, image_id) in zip(shown[start:], chunk, strict=False):
                yield Task(
                    campaign=campaign,
                    image_id=image_id,
                    number=position,
                    wanted=config.wanted,
                    answers_missing=config.wanted,
                    places_left=config.wanted,
                    shows_keywords=shows_keywords if image_id not in without_classes else False,
                    payload=keywords[image_id].payload,
                )

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        field = self._field(task)
        return {
            "field": field,
            "value": fields.get(field, ""),
            "image": task.image,
            "image_url": display_url(task.image),
            "image_srcset": display_srcset(task.image),
            "keywords": self._shown_keywords(task),
            "english_keywords": english_keywords(task),
            "rules": config.captions,
            "language": config.language,
        }

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:
        return {"openings": language_of(config.language).openings_in_words}

    def field_names(self, task: Task) -> list[str]:
        return [self._field(task)]

    def check(self, task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> str:
        raw = fields.get(self._field(task), "")
        found = problems(
            raw,
            rules=config.captions,
            keywords=self._shown_keywords(task),
            language=config.language,
        )
        if found:
            raise AnswerRefused(translated(found))
        return normalise(raw)

    def read(self, task: Task, fields: Mapping[str, str]) -> str:
        text = normalise(fields.get(self._field(task), ""))
        if not text:
            raise AnswerMissing(f"The answer contains no caption for image {task.number}.")
        return text

    def fields_of(self, task: Task, answer: str) -> dict[str, str]:
        return {self._field(task): answer}

    def row(self, response: Response, answer: str) -> Caption:
        return Caption(response=response, text=answer)

    def from_text(self, text: str) -> str:
        return text

    def text(self, answer: str) -> str:
        return answer

    def agreements(self, answers: Mapping[int, str]) -> dict[int, float]:
        """Each caption's mean similarity to the others."""
        return dict(zip(answers, mean_similarities([*answers.values()]), strict=True))

    def with_words(
        self, rows: ResponseQuerySet, campaign: Campaign, words: str
    ) -> ResponseQuerySet:
        if connection.vendor == "postgresql":
            return with_indexed_words(rows, campaign, words)
        return super().with_words(rows, campaign, words)

    def judge_payload(self, response: Response) -> dict[str, Any]:
        return {"caption": self.answer(response)}

    def freeze(self, release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
        """The first caption drawn is the human baseline; the others are references in submission
        order.

        Hidden captions come last, so that the public ones have the same ids in all files.
        """
        freeze(release, [Part(release.campaign.config, drawn)], numbers)

    def freeze_languages(
        self, release: Release, parts: Sequence[Part], numbers: Mapping[int, int]
    ) -> None:
        """Image by image the captions of each language."""
        freeze(release, parts, numbers)

    def files_of(self, release: Release) -> Files:
        """Without `baseline.json`, if the campaign has no baselines."""
        if release.campaign.config.baselines:
            return self.files
        return {name: file for name, file in self.files.items() if name != BASELINE_FILE}

    def tables(self, release: Release) -> list[Table]:
        return tables(release)

    def own_files(self, release: Release, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
        return own_files(release, asked)

    def released_context(self, _image: ReleasedImage) -> dict[str, Any]:
        return {"baseline": Role.BASELINE}

    def _field(self, task: Task) -> str:
        return f"caption-{task.number}"

    def _shown_keywords(self, task: Task) -> list[str]:
        return task_keywords(task) if task.is_primed(task.primed) else []


def _shows_keywords(config: CampaignConfig, images: int) -> list[bool | None]:
    """Whether each image shows keywords: a share, drawn with the seed, or None if claims decide."""
    if config.priming.by == "response":
        return [None] * images
    rng = random.Random(config.seed)
    primed = set(rng.sample(range(images), round(config.priming.share * images)))
    return [index in primed for index in range(images)]
