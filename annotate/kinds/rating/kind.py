"""Caption ratings as a task type: a worker rates several captions of one image."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.utils.translation import gettext, ngettext

from accounts.models import Team
from annotate.campaign_file import CampaignConfig
from annotate.exports.files import stored_files
from annotate.exports.tables import Table
from annotate.images.copies import display_srcset, display_url
from annotate.kinds.base import (
    AnswerMissing,
    AnswerRefused,
    CampaignNotPossible,
    Drawn,
    Sign,
    TaskKind,
)
from annotate.kinds.rating.answers import (
    NAMES,
    QUESTIONS,
    Answer,
    Question,
    Rating,
    all_the_same,
    field_name,
    mean_similarities,
    missing,
    parse,
    questions_in,
    rules_of,
)
from annotate.kinds.rating.release import freeze
from annotate.kinds.rating.sources import captions_of, captions_to_rate, number_to_rate
from annotate.kinds.rating.tables import tables
from annotate.kinds.rating.wizard import IMAGES
from annotate.kinds.wizard import StepFields
from annotate.kinds.wording import listed, plural_forms
from annotate.models import Campaign, Release, ReleasedImage, Response, Selection, Task
from corpora.language.text import Problem, gettext_noop


class RatingKind(TaskKind):
    name = "rating"
    label = "Rate captions of images"
    subject_name = "image"
    answer_name = "set of ratings"
    answers_name = "sets of ratings"
    section = Rating
    defaults: ClassVar[Mapping[str, Any]] = {
        "responses": 3,
        "hit": {
            "title": gettext_noop("Rate sentences about a photograph"),
            "description": gettext_noop(
                "Look at a photograph and read a few sentences about it. Say of each whether it is "
                "true, complete and fluent."
            ),
            "keywords": "image, photograph, caption, rate, evaluate, English",
        },
    }
    material_keys = ("selection", "rating.sources")
    steps: ClassVar[Mapping[str, StepFields]] = {"images": IMAGES}
    words_field = ""  # A set of ratings is about several captions.
    scripts = ("kinds/rating.js",)
    styles = ("kinds/rating.css",)
    scrolls_in_frame = True
    has_languages = True
    faults: ClassVar[Mapping[str, str]] = {
        "not-looked-at": "ratings that do not fit the image",
        "all-alike": "the same rating for good and bad captions",
        "scale-turned": "high and low are mixed up",
        "only-fluent": "rates the language only, not the image",
    }
    flags: ClassVar[Mapping[str, str]] = {"same_ratings": "All {count} ratings are the same."}
    about_release = "Ratings of image captions by crowd workers."
    files = stored_files("ratings.json", "ratings.csv", "scores.csv", "sources.csv")

    def material(self, config: CampaignConfig, _at: datetime, team: Team) -> dict[str, Any]:
        found = Selection.objects.of_team(team).filter(name=config.selection).first()
        if found is None:
            own = Selection.objects.of_team(team)
            known = ", ".join(sorted(own.values_list("name", flat=True)))
            raise CampaignNotPossible(
                "selection: name the selection of images whose captions are rated. Existing names: "
                f"{known or 'none'}."
            )
        return {"selection": found}

    def language_of_material(self, config: CampaignConfig, team: Team) -> str:
        names = [source.release for source in rules_of(config).sources if source.release]
        return Release.objects.of_team(team).filter(name__in=names).one_language()

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each image for which every source has a caption."""
        config = campaign.config
        assert campaign.selection is not None, "see material"
        numbers = dict(campaign.selection.selected.values_list("image_id", "position"))
        for image, captions in captions_to_rate(
            rules_of(config), list(numbers), config.seed, campaign.team, config.language
        ):
            yield Task(
                campaign=campaign,
                image_id=image,
                number=numbers[image],
                wanted=config.wanted,
                answers_missing=config.wanted,
                places_left=config.wanted,
                shows_keywords=False,
                payload={"captions": captions},
            )

    def number_of_tasks(self, selection: Selection, config: CampaignConfig) -> int:
        images = list(selection.selected.values_list("image_id", flat=True))
        rules = rules_of(config)
        return number_to_rate(rules, images, selection.team, config.language)

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        questions = questions_in(config.language)
        return {
            "language": config.language,
            "image": task.image,
            "image_url": display_url(task.image),
            "image_srcset": display_srcset(task.image),
            "captions": [
                {
                    "number": number,
                    "text": text,
                    "questions": [
                        _shown_question(task, number, question, fields) for question in questions
                    ],
                }
                for number, text in enumerate(_texts(task), start=1)
            ],
        }

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:
        return {"questions": [gettext(each.text) for each in questions_in(config.language)]}

    def script_texts(self) -> dict[str, Any]:
        return {
            "questionsLeft": plural_forms(
                lambda count: ngettext(
                    "{count} question is left.", "{count} questions are left.", count
                )
            ),
            "allAnswered": gettext("All questions are answered."),
        }

    def field_names(self, task: Task) -> list[str]:
        numbers = range(1, len(_texts(task)) + 1)
        return [field_name(name, number, task.number) for number in numbers for name in NAMES]

    def check(
        self, task: Task, _config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, dict[str, int]]:
        count = len(_texts(task))
        answer = parse(fields, captions=count, task=task.number)
        if left := missing(answer, count):
            raise AnswerRefused([_unanswered(left)])
        return answer

    def read(self, task: Task, fields: Mapping[str, str]) -> dict[str, dict[str, int]]:
        answer = parse(fields, captions=len(_texts(task)), task=task.number)
        if not answer:
            raise AnswerMissing(f"The answer contains no rating for image {task.number}.")
        return answer

    def fields_of(self, task: Task, answer: Answer) -> dict[str, str]:
        return {
            field_name(name, int(number), task.number): str(rating)
            for number, ratings in answer.items()
            for name, rating in ratings.items()
        }

    def signs(self, answer: Answer, _config: CampaignConfig) -> list[Sign]:
        count = all_the_same(answer)
        if not count:
            return []
        [(code, why)] = self.flags.items()
        return [Sign(code, count, 6, why.format(count=count))]

    def agreements(self, answers: Mapping[int, Answer]) -> dict[int, float]:
        return mean_similarities(answers)

    def answer_context(self, response: Response) -> dict[str, Any]:
        return {"captions": list(_rated_texts(response))}

    def summary(self, response: Response) -> str:
        """The ratings of each caption, in the order of the questions: `5 4 5 · 2 1 5`."""
        return " · ".join(
            " ".join(str(ratings.get(name, "–")) for name in NAMES)
            for _, ratings in sorted(response.answer.content.items(), key=_number)
        )

    def judge_payload(self, response: Response) -> dict[str, Any]:
        answer: Answer = response.answer.content
        return {
            "answer": [
                {"caption": text, **answer.get(str(number), {})}
                for number, text in enumerate(_texts(response.task), start=1)
            ]
        }

    def freeze(self, release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
        freeze(release, drawn, numbers)

    def tables(self, release: Release) -> list[Table]:
        return tables(release)

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        return {"captions": image.record["captions"]}


def _texts(task: Task) -> list[str]:
    return [caption["text"] for caption in captions_of(task)]


def _number(item: tuple[str, Any]) -> int:
    return int(item[0])


def _shown_question(
    task: Task, caption: int, question: Question, fields: Mapping[str, str]
) -> dict[str, Any]:
    field = field_name(question.name, caption, task.number)
    return {
        "name": question.name,
        "text": gettext(question.text),
        "field": field,
        "options": [
            {"value": value, "label": gettext(label), "is_chosen": fields.get(field) == str(value)}
            for value, label in enumerate(question.labels, start=1)
        ],
    }


def _rated_texts(response: Response) -> Iterator[dict[str, Any]]:
    """Each caption with its ratings, in the order of the questions."""
    for number, text in enumerate(_texts(response.task), start=1):
        ratings = response.answer.content.get(str(number), {})
        given = [(question, ratings.get(question.name)) for question in QUESTIONS]
        yield {
            "text": text,
            "ratings": [
                {
                    "name": question.name,
                    "value": value,
                    "label": question.labels[value - 1] if value else "not rated",
                }
                for question, value in given
            ],
        }


def _unanswered(left: Sequence[tuple[int, Question]]) -> Problem:
    """A problem that names all places where ratings are missing."""
    captions = sorted({number for number, _ in left})
    sentence = ngettext(
        "Please answer all three questions about sentence {numbers}.",
        "Please answer all three questions about sentences {numbers}.",
        len(captions),
    )
    return Problem("unanswered", sentence, {"numbers": listed(map(str, captions))})
