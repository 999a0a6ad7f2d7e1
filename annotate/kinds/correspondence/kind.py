"""Word–box links as a task type."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import inf
from typing import Any, ClassVar, NamedTuple

from django.utils.translation import gettext, ngettext

from accounts.models import Team
from annotate.campaign_file import CampaignConfig
from annotate.exports.tables import Asked
from annotate.kinds.base import (
    AnswerMissing,
    AnswerRefused,
    CampaignNotPossible,
    TaskKind,
    new_task,
)
from annotate.kinds.correspondence import brackets
from annotate.kinds.correspondence.answers import (
    KIND_LABELS,
    Correspondences,
    Referent,
    WordKind,
    Words,
    as_value,
    box_value,
    kinds,
    links,
    mean_overlaps,
    parse,
)
from annotate.kinds.correspondence.brackets import bracketed
from annotate.kinds.correspondence.caption_sets import set_named, set_of_release
from annotate.kinds.correspondence.export import box_id
from annotate.kinds.correspondence.nouns import suggested
from annotate.kinds.correspondence.release import (
    CORRESPONDENCE_FILES,
    freeze,
    sentence_files,
    tables,
)
from annotate.kinds.steps import (
    CAPTION_SET,
    RELEASE,
    RESPONSES,
    StepFields,
    release_or_set,
)
from annotate.kinds.wording import listed, quoted, translated
from annotate.models import (
    Box,
    Campaign,
    CaptionSet,
    Correspondence,
    GivenCaption,
    Image,
    Release,
    ReleasedImage,
    Response,
    Task,
)
from annotate.queries.images import NumberedBox, numbered_boxes
from annotate.queries.keywords import names_in
from annotate.queries.releases import not_withdrawn
from corpora.errors import DomainError
from corpora.language.languages import is_english
from corpora.language.text import Problem, gettext_noop
from corpora.language.tokens import Token, pieces, tokens


def script_texts() -> dict[str, str]:
    """By the names that `static/kinds/correspondence/` uses; the scripts fill in what is in braces.

    `{box}` is a text `box`, and `{words}` a text `quoted`, or several with a `comma` between them.
    """
    return {
        "quoted": gettext("“{words}”"),
        "comma": gettext(", "),
        "and": gettext("{one} and {other}"),
        "box": gettext("box {number}, {label}"),
        "choose": gettext("Choose a word or a box."),
        "whichBoxes": gettext("Which boxes show {words}?"),
        "whichWords": gettext("Which words name {box}?"),
        "answer": gettext("{words}: {answer}."),
        "noChoice": gettext("no choice"),
        "progress": gettext("{progress}."),
        "missing": gettext("Please choose a box for {words}, or say why no box fits."),
        "undone": gettext("Undone."),
        "redone": gettext("Redone."),
        "mayGoOn": gettext("Box {number}: Enter, or another digit"),
        "sayMayGoOn": gettext("Box {number}: press Enter, or another digit."),
        "not-boxed": gettext("no box"),
        "scene": gettext("scene"),
        "not-visual": gettext("not seen"),
        "toDo": gettext("still to do"),
    }


def boxes_of(task: Task, config: CampaignConfig) -> list[NumberedBox]:
    """The boxes that the page of a task shows."""
    return numbered_boxes([task.image_id], parts=Correspondences.of(config).parts)[task.image_id]


def judge_payload(response: Response) -> dict[str, Any]:
    """The `caption`, and the `answer` in several forms.

    The answer has the caption with links in brackets, `links` and `kinds` by the numbers of the
    words in `tokens`, and the image's boxes.
    """
    task, said = response.task, response.correspondence.words
    caption, image = task.subject.text if task.subject else "", task.image.key
    shown = boxes_of(task, task.campaign.config)
    numbers = {box.key: box.number for box in shown}
    linked: dict[int, tuple[int, ...]] = {}
    # A submission may name a box that the campaign does not show. Ignore it.
    known_links = [(word, numbers[box]) for word, box in links(said) if box in numbers]
    for word, number in sorted(known_links):
        linked[word] = (*linked.get(word, ()), number)
    return {
        "caption": caption,
        "answer": {
            "brackets": bracketed(caption, linked),
            "tokens": [token._asdict() for token in tokens(caption)],
            "links": {
                str(word): [box_id(image, number) for number in boxes]
                for word, boxes in linked.items()
            },
            "kinds": {str(word): kind for word, kind in sorted(kinds(said).items())},
            "boxes": {
                box_id(image, box.number): {
                    "number": box.number,
                    "label": box.name,
                    "fractions": [box.x_min, box.y_min, box.x_max, box.y_max],
                }
                for box in shown
            },
        },
    }


class ReleasedPicture(NamedTuple):
    """An image and its released caption in passages, each with the numbers of its boxes."""

    image: Image
    boxes: list[NumberedBox]
    named: set[int]
    passages: list[tuple[str, tuple[int, ...]]]


class LinkedCaption(NamedTuple):
    """A worker's word–box links as a page shows them."""

    image: Image
    boxes: list[NumberedBox]
    named: set[int]  # the numbers of the boxes that a word refers to
    pieces: list[dict[str, Any]]


def linked_caption(response: Response) -> LinkedCaption:
    """The boxes and the caption of a response.

    Each of the `pieces` has a `text` and, if the worker answered it, its `boxes` or its `kind`.
    """
    task, words = response.task, response.correspondence.words
    names = (task.payload or {}).get(CLASS_NAMES, {})
    boxes = {
        box.key: box._replace(name=names.get(box.label, box.name))
        for box in boxes_of(task, task.campaign.config)
    }
    # A submission may name a box that the campaign does not show. Ignore it.
    known_links = [(number, box) for number, box in links(words) if box in boxes]
    marked: dict[int, tuple[int | str, ...]] = {n: (kind,) for n, kind in kinds(words).items()}
    for number, box in sorted(known_links, key=lambda link: boxes[link[1]].number):
        marked[number] = (*marked.get(number, ()), box)
    caption = task.subject.text if task.subject else ""
    return LinkedCaption(
        task.image,
        list(boxes.values()),
        {boxes[box].number for _, box in known_links},
        [_piece(text, marks, boxes) for text, marks in brackets.passages(caption, marked)],
    )


def released_picture(image: ReleasedImage) -> ReleasedPicture:
    """A released caption and the image's boxes as they are now."""
    task = image.task
    shown = boxes_of(task, task.campaign.config)
    passages = list(brackets.read_bracketed(image.record["bracketed"]))
    named = {number for _, numbers in passages for number in numbers}
    return ReleasedPicture(task.image, shown, named, passages)


def _piece(
    text: str, marks: tuple[int | str, ...], boxes: dict[int, NumberedBox]
) -> dict[str, Any]:
    return {
        "text": text,
        "boxes": [boxes[mark] for mark in marks if isinstance(mark, int)],
        "kind": "".join(
            gettext(KIND_LABELS[WordKind(mark)]) for mark in marks if isinstance(mark, str)
        ),
    }


# Key of a task's payload that has the names of the boxes' classes in the campaign's language, by
# the classes' labels.
CLASS_NAMES = "class_names"


class CorrespondenceKind(TaskKind):
    name = "correspondence"
    label = "Link the words of captions to boxes in the images"
    subject_name = "caption"
    answer_name = "response"
    answers_name = "responses"
    section = Correspondences
    defaults: ClassVar[Mapping[str, Any]] = {
        "responses": 3,
        "hit": {
            "title": gettext_noop("Link the words of a sentence to boxes in a photograph"),
            "description": gettext_noop(
                "Look at a photograph with labelled boxes and read a sentence about it. Link each "
                "word that names a thing to the box around that thing."
            ),
            "keywords": "image, photograph, boxes, words, linking, annotation",
        },
    }
    # ImageCLEF 2015: the words of a description linked to boxes (Wang and Gaizauskas 2015,
    # section 3).
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "imageclef": {"kind": "correspondence", "responses": 3}
    }
    presets_in_words: ClassVar[Mapping[str, str]] = {
        "imageclef": "ImageCLEF 2015: 3 answers for each caption"
    }
    material_keys = ("release", "caption_set")
    steps: ClassVar[Mapping[str, StepFields]] = {
        "images": StepFields(
            {"release": RELEASE, "caption_set": CAPTION_SET, "responses": RESPONSES},
            clean=release_or_set,
        )
    }
    scripts = ("kinds/correspondence.js",)
    styles = ("kinds/viewer.css", "kinds/correspondence.css")
    scrolls_in_frame = True
    has_languages = True
    answer_relations = ("correspondence", "task__subject")
    answer_field = "correspondence__words"
    answer_shows_image = True
    faults: ClassVar[Mapping[str, str]] = {
        "wrong-box": gettext_noop("a word is linked to the wrong box"),
        "box-left-out": gettext_noop("a word lacks some of its boxes"),
        "has-box": gettext_noop("a word that has a box is marked as having none"),
        "names-nothing": gettext_noop("words that name nothing are linked"),
        "not-looked-at": gettext_noop("linked without looking: nothing fits"),
    }
    files = CORRESPONDENCE_FILES
    export_command = "export_correspondences"
    about_release = "Captions whose words crowd workers linked to boxes in the images."
    freeze = staticmethod(freeze)
    judge_payload = staticmethod(judge_payload)
    script_texts = staticmethod(script_texts)
    tables = staticmethod(tables)

    def material(self, config: CampaignConfig, at: datetime, team: Team) -> dict[str, Any]:
        try:
            if config.release is not None:
                return {"caption_set": set_of_release(name=config.release, team=team, at=at)}
            if config.caption_set is not None:
                return {"caption_set": set_named(config.caption_set, team)}
        except DomainError as error:
            key = "release" if config.release is not None else "caption_set"
            raise CampaignNotPossible(f"{key}: {error}") from error
        raise CampaignNotPossible(
            "selection: this task type links words of captions. Name a release or caption_set "
            "instead."
        )

    def language_of_material(self, config: CampaignConfig, team: Team) -> str:
        releases = Release.objects.of_team(team)
        if config.release is not None:
            return releases.filter(name=config.release).one_language()
        return releases.filter(caption_set__name=config.caption_set).one_language()

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each caption in the set that has words, and whose image has boxes to show."""
        config = campaign.config
        assert campaign.caption_set is not None, "see material"
        rules = Correspondences.of(config)
        captions = list(_chosen(campaign.caption_set, rules))
        images = {caption.image_id for caption in captions}
        boxes = numbered_boxes(images, parts=rules.parts)
        names = {} if is_english(config.language) else names_in(config.language)
        for caption in captions:
            if boxes[caption.image_id] and tokens(caption.text):
                yield new_task(
                    campaign,
                    image_id=caption.image_id,
                    subject=caption,
                    number=caption.number,
                    payload=_class_names(boxes[caption.image_id], names),
                )

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        caption, boxes = _caption(task), boxes_of(task, config)
        hints = _hints(tokens(caption), boxes, config)
        words = [
            _shown_word(task, number, token, fields, is_suggested=number in hints)
            for number, token in enumerate(tokens(caption))
        ]
        names = (task.payload or {}).get(CLASS_NAMES, {})
        return {
            **self.image_context(task, config),
            "caption": caption,
            "marks_words": bool(hints),
            "pieces": [
                {"text": text, "word": None if number is None else words[number]}
                for text, number in pieces(caption)
            ],
            "words": words,
            "boxes": [_shown_box(box, names) for box in boxes],
            "kinds": [
                {"value": kind.value, "label": gettext(label)}
                for kind, label in KIND_LABELS.items()
            ],
            "progress": ngettext("{done} of {total} word", "{done} of {total} words", len(hints)),
        }

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:
        return {"marks_words": is_english(config.language)}

    def field_names(self, task: Task) -> list[str]:
        count = len(tokens(_caption(task)))
        return [name for number in range(count) for name in _fields(task, number)]

    def check(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Referent]:
        boxes = boxes_of(task, config)
        caption_tokens = tokens(_caption(task))
        try:
            words = _words(task, caption_tokens, fields)
        except ValueError as error:
            raise AnswerRefused(translated([STRANGE])) from error
        if not {box for said in words.values() if isinstance(said, list) for box in said} <= {
            box.key for box in boxes
        }:
            raise AnswerRefused(translated([STRANGE]))
        hints = _hints(caption_tokens, boxes, config)
        missing = [
            caption_tokens[number].text for number in sorted(hints) if str(number) not in words
        ]
        if missing:
            raise AnswerRefused([_unanswered(missing)])
        if not words:
            raise AnswerRefused(translated([EMPTY]))
        return words

    def read(self, task: Task, fields: Mapping[str, str]) -> dict[str, Referent]:
        """The parts of the answer that can be parsed."""
        boxes = set(Box.objects.verified().filter(image=task.image_id).values_list("pk", flat=True))
        answers = {}
        for number, token in enumerate(tokens(_caption(task))):
            try:
                words = _words(task, [token], fields, first=number)
            except ValueError:
                continue
            for word, said in words.items():
                kept = said if isinstance(said, str) else [box for box in said if box in boxes]
                if kept:
                    answers[word] = kept
        if not answers:
            raise AnswerMissing(f"The answer contains no word of caption {task.number}.")
        return answers

    def fields_of(self, task: Task, answer: Words) -> dict[str, str]:
        """One field for each answered word. Other words are left out, to keep submissions short."""
        return {_fields(task, int(number))[0]: as_value(said) for number, said in answer.items()}

    def row(self, response: Response, answer: Words) -> Correspondence:
        return Correspondence(response=response, words=answer)

    def agreements(self, answers: Mapping[int, Words], _config: CampaignConfig) -> dict[int, float]:
        return mean_overlaps(answers)

    def answer_context(self, response: Response) -> dict[str, Any]:
        named = (response.task.payload or {}).get(CLASS_NAMES, {})
        return {"shown": linked_caption(response), "translated": named}

    def judge_line(self, response: Response) -> str:
        return str(judge_payload(response)["answer"]["brackets"])

    def own_files(self, release: Release, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
        yield from super().own_files(release, asked)
        yield from sentence_files(release)

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        return {"shown": released_picture(image)}


STRANGE = Problem("strange", gettext_noop("Please choose boxes of this image."))
EMPTY = Problem("empty", gettext_noop("Please choose at least one word and its box."))


def _unanswered(words: Sequence[str]) -> Problem:
    sentence = gettext("Please choose a box for {words}, or say why no box fits.")
    return Problem("unanswered", sentence, {"words": listed(map(quoted, words))})


def _hints(
    caption_tokens: Sequence[Token], boxes: Sequence[NumberedBox], config: CampaignConfig
) -> set[int]:
    """The numbers of the words that are marked and need an answer.

    Only English words can be guessed, so in other languages no word is marked.
    """
    if not is_english(config.language):
        return set()
    return suggested(caption_tokens, {box.name for box in boxes})


def _class_names(
    boxes: Sequence[NumberedBox], names: Mapping[int, str]
) -> dict[str, dict[str, str]] | None:
    """The payload of a task whose boxes' classes have names in the campaign's language."""
    named = {box.label: names[box.class_key] for box in boxes if box.class_key in names}
    return {CLASS_NAMES: named} if named else None


def _chosen(caption_set: CaptionSet, rules: Correspondences) -> Iterator[GivenCaption]:
    """The set's captions in order, up to the maximum number of images and of captions per image."""
    most, per_image = rules.images or inf, rules.captions_per_image or inf
    taken: Counter[int] = Counter()
    for caption in not_withdrawn(caption_set.captions.order_by("number")).iterator():
        is_welcome = caption.image_id in taken or len(taken) < most
        if is_welcome and taken[caption.image_id] < per_image:
            taken[caption.image_id] += 1
            yield caption


def _caption(task: Task) -> str:
    assert task.subject is not None, "a task of this kind is about a caption"
    return task.subject.text


def _fields(task: Task, number: int) -> tuple[str, str]:
    """Names of a word's fields: one for all its boxes, and one for a second box.

    Without JavaScript, the first field can name only one box.
    """
    return f"word-{number}-{task.number}", f"also-{number}-{task.number}"


def _words(
    task: Task, caption_tokens: Sequence[Token], fields: Mapping[str, str], *, first: int = 0
) -> dict[str, Referent]:
    """The meanings of the words in the fields, in the caption's order; raises ValueError."""
    words: dict[str, Referent] = {}
    for number, _ in enumerate(caption_tokens, start=first):
        field, also = _fields(task, number)
        said, more = parse(fields.get(field, "")), parse(fields.get(also, ""))
        if isinstance(said, list) and isinstance(more, list):
            said = sorted({*said, *more})
        if said or more:
            words[str(number)] = said or more  # type: ignore[assignment]
    return words


def _shown_word(
    task: Task, number: int, token: Token, fields: Mapping[str, str], *, is_suggested: bool
) -> dict[str, Any]:
    field, also = _fields(task, number)
    value = fields.get(field, "")
    return {
        "index": number,
        "text": token.text,
        "field": field,
        "also_field": also,
        "value": value,
        "also": fields.get(also, ""),
        "box_values": value.split(),
        "is_suggested": is_suggested,
    }


def _shown_box(box: NumberedBox, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": box.key,
        "number": box.number,
        "value": box_value(box.key),
        "label": names.get(box.label, box.name),
        "is_english": box.label not in names,
        "is_group": box.is_group,
        "is_part": box.is_part,
        "left": box.x_min,
        "top": box.y_min,
        "width": box.x_max - box.x_min,
        "height": box.y_max - box.y_min,
        "area": (box.x_max - box.x_min) * (box.y_max - box.y_min),
    }
