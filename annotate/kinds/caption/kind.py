"""Captions as a task type: a sentence or a paragraph for an image, with or without keywords."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Self

from django.db import connection
from django.db.models import BooleanField, F, Func, Value

from accounts.models import Team
from annotate.campaign_file import CampaignConfig
from annotate.exports.files import Files
from annotate.kinds.base import (
    AnswerMissing,
    AnswerRefused,
    CampaignNotPossible,
    TaskKind,
    new_task,
)
from annotate.kinds.caption import rate_first
from annotate.kinds.caption.export import (
    BASELINE_FILE,
    CAPTION_FILES,
    RATINGS_FILE,
    VIZWIZ_FILE,
    has_baselines,
    offers_reasons,
    own_files,
    rates_first,
    tables,
)
from annotate.kinds.caption.presets import IN_WORDS, PRESETS
from annotate.kinds.caption.release import freeze
from annotate.kinds.caption.steps import IMAGES, INSTRUCTIONS
from annotate.kinds.freezing import Drawn
from annotate.kinds.steps import StepFields
from annotate.kinds.wording import translated
from annotate.models import (
    Campaign,
    Caption,
    Image,
    Release,
    ReleasedImage,
    Response,
    Role,
    Task,
)
from annotate.models.responses import ResponseQuerySet
from annotate.queries.keywords import (
    english_keywords,
    keywords_in,
    names_in,
    task_keywords,
)
from annotate.queries.words import if_few, with_words
from corpora.language.english import mean_similarities
from corpora.language.languages import language_of
from corpora.language.text import MOST_OF_REMARK, Problem, gettext_noop, normalise, problems
from corpora.language.tokens import is_unspaced
from shared.database.transactions import batches

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


class Written(str):
    """What a worker submits about an image: the caption, or in place of it the reason why the image
    cannot be described; a remark to the researcher; and the ratings of given captions.

    The answer of a stored response is the caption alone; the rest are columns.
    """

    reason = ""
    remark = ""
    ratings: rate_first.Ratings = MappingProxyType({})

    @classmethod
    def of(cls, text: str, reason: str, remark: str, ratings: rate_first.Ratings) -> Self:
        written = cls(text)
        written.reason, written.remark, written.ratings = reason, remark, ratings
        return written


PARAGRAPH_HIT = {
    "title": gettext_noop("Describe a photograph in a paragraph"),
    "description": gettext_noop(
        "Look at a photograph and describe it so that somebody who cannot see it can imagine it."
    ),
}
BOTH = gettext_noop("Please write a description or choose a reason, not both.")
# Images whose keywords are read at once.
AT_ONCE = 1000


class CaptionKind(TaskKind):
    name = "caption"
    label = "Describe images (captions)"
    subject_name = "image"
    answer_name = "caption"
    answers_name = "captions"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS
    presets_in_words: ClassVar[Mapping[str, str]] = IN_WORDS
    steps: ClassVar[Mapping[str, StepFields]] = {"images": IMAGES, "instructions": INSTRUCTIONS}
    built_in_examples: ClassVar[tuple[str, ...]] = (
        gettext_noop("Two cyclists ride past a row of parked cars on a wet street."),
        gettext_noop("An old man in a straw hat feeds pigeons beside a stone fountain."),
    )
    answer_relations = ("caption",)
    answer_field = "caption__text"
    words_field = "caption__text"
    takes_text = True
    has_languages = True
    has_families = True
    has_references = True
    faults: ClassVar[Mapping[str, str]] = {
        "keyword-list": gettext_noop("a list of keywords, not a sentence"),
        "wrong-image": gettext_noop("describes another image"),
        "vague": gettext_noop("too vague: would fit many images"),
        "not-english": gettext_noop("not in the campaign's language"),
        "copy": gettext_noop("the same as other captions"),
        "describable": gettext_noop("not described, although it can be"),
    }
    files = CAPTION_FILES
    export_command = "export_captions"
    about_release = "Captions of images, written by crowd workers."
    released_relations = ("captions",)
    own_files = staticmethod(own_files)
    tables = staticmethod(tables)

    def default_hit(self, style: str) -> Mapping[str, Any]:
        hit = super().default_hit(style)
        return {**hit, **PARAGRAPH_HIT} if style == "paragraph" else hit

    def material(self, config: CampaignConfig, at: datetime, team: Team) -> dict[str, Any]:
        if config.selection is None:
            raise CampaignNotPossible("selection: a caption campaign needs a selection of images.")
        if config.responses is not None:
            raise CampaignNotPossible(
                "responses: a caption campaign uses references and baselines instead."
            )
        return super().material(config, at, team)

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each selected image. Nothing decides later whether one without keywords shows
        them."""
        config = campaign.config
        assert campaign.selection is not None, "see material"
        selected = list(campaign.selection.selected.values_list("position", "image_id"))
        shown = primed_tasks(config, len(selected))
        names = names_in(config.language)
        for chunk in batches(zip(shown, selected, strict=True), AT_ONCE):
            ids = [image_id for _, (_, image_id) in chunk]
            keywords = keywords_in(config.language, ids, names)
            contexts = contexts_of(ids) if config.captions.show_context else {}
            to_rate = rate_first.captions_to_rate(campaign, ids)
            for shows_keywords, (position, image_id) in chunk:
                yield new_task(
                    campaign,
                    image_id=image_id,
                    number=position,
                    shows_keywords=shows_keywords if keywords[image_id].names else False,
                    payload=keywords[image_id].payload
                    | contexts.get(image_id, {})
                    | to_rate.get(image_id, {}),
                )

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        field = self._field(task)
        return {
            **self.image_context(task, config),
            "field": field,
            "value": fields.get(field, ""),
            "keywords": self._shown_keywords(task),
            "english_keywords": english_keywords(task),
            "rules": config.captions,
            "context": (task.payload or {}).get("context"),
            "reason_field": _reason_field(task),
            "reason": fields.get(_reason_field(task), ""),
            "remark_field": _remark_field(task),
            "remark": fields.get(_remark_field(task), ""),
            "most_of_remark": MOST_OF_REMARK,
            "rate_first": (to_rate := rate_first.shown(task, fields)),
            # What the page shows of all its tasks before the first one's form.
            "before": "kinds/caption/rate_first.html" if to_rate else "",
        }

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:
        return {
            "openings": language_of(config.language).openings_in_words,
            "good_examples": self.good_examples(config),
        }

    def field_names(self, task: Task) -> list[str]:
        return [
            self._field(task),
            _reason_field(task),
            _remark_field(task),
            *rate_first.rating_fields(task),
        ]

    def check(self, task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> str:
        raw = fields.get(self._field(task), "")
        reason = _chosen(task, config, fields)
        if not reason:
            faults = problems(
                raw,
                rules=config.captions,
                keywords=self._shown_keywords(task),
                language=config.language,
            )
        else:
            faults = [Problem("both", BOTH)] if normalise(raw) else []
        ratings = rate_first.ratings_in(task, fields)
        if len(ratings) < len(rate_first.given_captions(task)):
            faults = [Problem("unrated", rate_first.UNRATED), *faults]
        if faults:
            raise AnswerRefused(translated(faults))
        return Written.of(normalise(raw), reason, _remark(task, config, fields), ratings)

    def read(self, task: Task, fields: Mapping[str, str]) -> str:
        """A caption goes before a reason."""
        text = normalise(fields.get(self._field(task), ""))
        if not (fields.get(_reason_field(task)) or fields.get(_remark_field(task))):
            reason = remark = ""
        else:
            config = task.campaign.config
            reason = "" if text else _chosen(task, config, fields)
            remark = _remark(task, config, fields)
        if not text and not reason:
            raise AnswerMissing(f"The answer contains no caption for image {task.number}.")
        return Written.of(text, reason, remark, rate_first.ratings_in(task, fields))

    def fields_of(self, task: Task, answer: str) -> dict[str, str]:
        fields = {self._field(task): str(answer)}
        if isinstance(answer, Written):
            fields |= {_reason_field(task): answer.reason, _remark_field(task): answer.remark}
            fields |= rate_first.fields_of(task, answer.ratings)
        return {name: value for name, value in fields.items() if value}

    def row(self, response: Response, answer: str) -> Caption:
        row = Caption(response=response, text=str(answer))
        if isinstance(answer, Written):
            row.remark, row.ratings = answer.remark, answer.ratings or None
        return row

    def reason(self, answer: str) -> str:
        return answer.reason if isinstance(answer, Written) else ""

    def from_text(self, text: str) -> str:
        return text

    def text(self, answer: str) -> str | None:
        return answer or None

    def given_texts(self, task: Task) -> Sequence[str]:
        return rate_first.given_captions(task)

    def summary(self, response: Response) -> str:
        return self.answer(response) or f"Cannot be described: {response.cannot_describe}"

    def agreements(self, answers: Mapping[int, str], _config: CampaignConfig) -> dict[int, float]:
        """Each caption's mean similarity to the others."""
        return dict(zip(answers, mean_similarities([*answers.values()]), strict=True))

    def with_words(
        self, rows: ResponseQuerySet, campaign: Campaign, words: str
    ) -> ResponseQuerySet:
        # The index holds text between spaces as one word.
        if connection.vendor == "postgresql" and not is_unspaced(words):
            matching = with_indexed_words(rows, campaign, words)
        else:
            matching = super().with_words(rows, campaign, words)
        if campaign.config.captions.remarks:
            matching |= with_words(rows, "caption__remark", words)
        return matching

    def answer_context(self, response: Response) -> dict[str, Any]:
        return {"rated": self.rated(response)}

    def rated(self, response: Response) -> list[dict[str, Any]]:
        """The given captions that the worker rated first."""
        return list(rate_first.rated(response.task, response.caption.ratings))

    def judge_payload(self, response: Response) -> dict[str, Any]:
        said = {
            "cannot_describe": response.cannot_describe,
            "remark": response.caption.remark,
            "ratings": self.rated(response),
        }
        given = {name: value for name, value in said.items() if value}
        return {"caption": self.answer(response), **given}

    def freeze(self, release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
        """The first caption drawn is the human baseline; the others are references in submission
        order. Of several languages, the captions of each image are saved together.

        Hidden captions come last, so that the public ones have the same ids in all files.
        """
        freeze(release, drawn, numbers)

    def files_of(self, release: Release) -> Files:
        """Without `baseline.json`, if the campaign has no baselines, `vizwiz.json`, if workers have
        no reasons to choose, and `ratings.json`, if they rate nothing."""
        asked = {
            BASELINE_FILE: has_baselines(release),
            VIZWIZ_FILE: offers_reasons(release),
            RATINGS_FILE: rates_first(release),
        }
        return {name: file for name, file in self.files.items() if asked.get(name, True)}

    def released_context(self, _image: ReleasedImage) -> dict[str, Any]:
        return {"baseline": Role.BASELINE, "reason": Role.REASON}

    def _field(self, task: Task) -> str:
        return f"caption-{task.number}"

    def _shown_keywords(self, task: Task) -> list[str]:
        return task_keywords(task) if task.is_primed(task.primed) else []


def contexts_of(images: Sequence[int]) -> dict[int, dict[str, str]]:
    """The part of a task's payload with the text in which its image stands, by image."""
    rows = Image.objects.filter(pk__in=images).exclude(context="").values_list("pk", "context")
    return {image: {"context": context} for image, context in rows}


def _reason_field(task: Task) -> str:
    return f"cannot_describe-{task.number}"


def _remark_field(task: Task) -> str:
    return f"remark-{task.number}"


def _chosen(task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> str:
    """The reason that the worker chose; empty if there is none, or if the campaign has no such
    reason."""
    chosen = fields.get(_reason_field(task), "")
    return chosen if chosen in config.captions.cannot_describe else ""


def _remark(task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> str:
    if not config.captions.remarks:
        return ""
    return normalise(fields.get(_remark_field(task), "")[:MOST_OF_REMARK])


def primed_tasks(config: CampaignConfig, images: int) -> list[bool | None]:
    """Whether each task shows keywords: a share, drawn with the seed, or None if claims decide."""
    if config.priming.by == "response":
        return [None] * images
    rng = random.Random(config.seed)
    primed = set(rng.sample(range(images), round(config.priming.share * images)))
    return [index in primed for index in range(images)]
