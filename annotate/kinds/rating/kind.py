"""Caption ratings as a task type: a worker rates several captions of one image."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.utils.translation import get_language, gettext, ngettext

from accounts.models import Team
from annotate.campaign_file import CampaignConfig, KindSection
from annotate.exports.files import stored_files
from annotate.kinds.base import (
    AnswerMissing,
    AnswerRefused,
    Sign,
    TaskKind,
    new_task,
)
from annotate.kinds.rating.answers import (
    Answer,
    Question,
    Rating,
    Ratings,
    Scales,
    all_the_same,
    field_name,
    mean_similarities,
    missing,
    parse,
    questions_of,
    ratings_of,
)
from annotate.kinds.rating.marks import (
    MARKS,
    MOST_MISSING,
    Marked,
    mark_fields,
    mark_names,
    parse_marks,
    shown_marks,
)
from annotate.kinds.rating.release import freeze, ordered_figures, tables
from annotate.kinds.rating.scores import RESAMPLES
from annotate.kinds.rating.sources import captions_of, captions_to_rate, images_step, number_to_rate
from annotate.kinds.steps import StepFields
from annotate.kinds.wording import listed, plural_forms
from annotate.models import Campaign, Release, ReleasedImage, Response, Selection, Task
from corpora.language.languages import ENGLISH, is_english
from corpora.language.text import Problem, gettext_noop

# The protocol of Kasai et al. 2022, "Transparent Human Evaluation for Image Captioning".
# docs/presets.md says of each part whether the paper states it or whether it is ours.
THUMB = [
    {
        "name": "precision",
        "text": gettext_noop("Precision: is what it says true of the image?"),
        "help": gettext_noop(
            "Count what is wrong or not there: things, their properties, their number and how they "
            "are related. What it leaves out does not matter here."
        ),
        "labels": [
            gettext_noop("wrong"),
            gettext_noop("mostly wrong"),
            gettext_noop("half right"),
            gettext_noop("one slip"),
            gettext_noop("all true"),
        ],
    },
    {
        "name": "recall",
        "text": gettext_noop("Recall: does it say what stands out in the image?"),
        "help": gettext_noop(
            "Count what somebody who describes this image would not leave out. What is wrong does "
            "not matter here."
        ),
        "labels": ["nothing", "little", "half", "most", "all"],
    },
    {
        "name": "fluency",
        "text": gettext_noop("Fluency: is the language good?"),
        "help": gettext_noop("Grammar, spelling and wording alone, whatever the image shows."),
        "labels": [
            gettext_noop("yes"),
            gettext_noop("a small slip"),
            gettext_noop("several slips"),
            gettext_noop("hard to read"),
        ],
        "points": [0, -0.1, -0.3, -0.5],
    },
    {
        "name": "conciseness",
        "text": gettext_noop("Conciseness: does it repeat itself?"),
        "help": gettext_noop("Words that say nothing new, such as the same thing named twice."),
        "labels": [gettext_noop("no"), "yes"],
        "points": [0, -0.5],
    },
    {
        "name": "inclusive_language",
        "text": gettext_noop("Inclusive language: does it assume something about people?"),
        "help": gettext_noop(
            "Such as a gender, an origin or a relation that cannot be seen, or a word that "
            "belittles somebody."
        ),
        "labels": ["no", "yes"],
        "points": [0, -0.5],
    },
]


class RatingKind(TaskKind):
    name = "rating"
    label = "Rate captions of images"
    subject_name = "image"
    answer_name = "set of ratings"
    answers_name = "sets of ratings"
    section: ClassVar[type[KindSection] | None] = Rating
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
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "thumb": {"kind": "rating", "rating": {"same_form": False, "questions": THUMB}}
    }
    presets_in_words: ClassVar[Mapping[str, str]] = {
        "thumb": "THumB: precision, recall, and penalties for bad language",
    }
    material_keys = ("selection", "rating.sources")
    steps: ClassVar[Mapping[str, StepFields]] = {"images": images_step("rating")}
    words_field = ""  # A set of ratings is about several captions.
    scripts = ("kinds/scales.js",)
    styles = ("kinds/scales.css",)
    scrolls_in_frame = True
    has_languages = True
    faults: ClassVar[Mapping[str, str]] = {
        "not-looked-at": gettext_noop("ratings that do not fit the image"),
        "all-alike": gettext_noop("the same rating for good and bad captions"),
        "scale-turned": gettext_noop("high and low are mixed up"),
        "only-fluent": gettext_noop("rates the language only, not the image"),
    }
    flags: ClassVar[Mapping[str, str]] = {"same_ratings": "All {count} ratings are the same."}
    about_release = "Ratings of image captions by crowd workers."
    files = stored_files("ratings.json", "ratings.csv", "scores.csv", "sources.csv")
    judgements = "ratings.json"
    freeze = staticmethod(freeze)
    tables = staticmethod(tables)

    def language_of_material(self, config: CampaignConfig, team: Team) -> str:
        names = [source.release for source in self.rules(config).sources if source.release]
        return Release.objects.of_team(team).filter(name__in=names).one_language()

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each image for which every source has a caption."""
        config = campaign.config
        assert campaign.selection is not None, "see material"
        numbers = dict(campaign.selection.selected.values_list("image_id", "position"))
        for image, captions in captions_to_rate(
            self.rules(config), list(numbers), config.seed, campaign.team, config.language
        ):
            payload = self.payload(config, image, captions)
            if payload is not None:
                yield new_task(campaign, image_id=image, number=numbers[image], payload=payload)

    def payload(
        self,
        config: CampaignConfig,
        image: int,  # noqa: ARG002
        captions: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any] | None:
        """What the task about an image stores; None if these captions make no task."""
        scales = [*self.scales(config).items()]
        return {"captions": captions, "scales": scales, MARKS: self.rules(config).marks}

    def scales(self, config: CampaignConfig) -> Scales:
        """The questions in the order of the page, with their numbers of labels."""
        return {question.name: len(question.labels) for question in questions_of(config)}

    def number_of_tasks(self, selection: Selection, config: CampaignConfig) -> int:
        images = list(selection.selected.values_list("image_id", flat=True))
        rules = self.rules(config)
        return number_to_rate(rules, images, selection.team, config.language)

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        return {
            **self.image_context(task, config),
            "most_missing": MOST_MISSING,
            "most_options": max(self.scales(config).values()),
            "captions": [
                {
                    **self.shown_caption(task, number, fields),
                    "questions": [
                        shown_question(task, number, question, fields)
                        for question in questions_of(config)
                    ],
                }
                for number in range(1, self.rated(task) + 1)
            ],
        }

    def shown_caption(self, task: Task, number: int, fields: Mapping[str, str]) -> dict[str, Any]:
        """A caption of the page, with the fields of its marks if workers mark words."""
        text = self.texts(task)[number - 1]
        marks = shown_marks(text, number, task.number, fields) if _has_marks(task) else None
        return {"number": number, "text": text, "marks": marks}

    def texts(self, task: Task) -> list[str]:
        """The captions that the page shows, in its order."""
        return [caption["text"] for caption in captions_of(task)]

    def rated(self, task: Task) -> int:
        """How many things the page asks all its questions about."""
        return len(self.texts(task))

    def unanswered(self, numbers: Sequence[int]) -> Problem:
        """A problem that names all things about which questions are not answered."""
        sentence = ngettext(
            "Please answer all questions about sentence {numbers}.",
            "Please answer all questions about sentences {numbers}.",
            len(numbers),
        )
        return Problem("unanswered", sentence, {"numbers": listed(map(str, numbers))})

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:
        questions = questions_of(config)
        return {
            "own_questions": Rating.of(config).questions,
            "questions": [gettext(question.text) for question in questions],
        }

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
        numbers = range(1, self.rated(task) + 1)
        names = [
            field_name(name, number, task.number) for number in numbers for name in scales_of(task)
        ]
        return [*names, *mark_names(self.texts(task), task.number)] if _has_marks(task) else names

    def check(
        self, task: Task, _config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        answer = self._parsed(task, fields)
        if left := missing(answer, self.rated(task), scales_of(task)):
            raise AnswerRefused([self.unanswered(left)])
        return answer

    def read(self, task: Task, fields: Mapping[str, str]) -> dict[str, Any]:
        answer = self._parsed(task, fields)
        if not ratings_of(answer):
            raise AnswerMissing(f"The answer contains no rating for image {task.number}.")
        return answer

    def _parsed(self, task: Task, fields: Mapping[str, str]) -> dict[str, Any]:
        rated, scales = self.rated(task), scales_of(task)
        answer = parse(fields, captions=rated, task=task.number, scales=scales)
        if _has_marks(task) and (marks := parse_marks(fields, self.texts(task), task.number)):
            answer[MARKS] = marks
        return answer

    def fields_of(self, task: Task, answer: Answer) -> dict[str, str]:
        ratings = {
            field_name(name, int(number), task.number): str(rating)
            for number, ratings in ratings_of(answer).items()
            for name, rating in ratings.items()
        }
        return ratings | mark_fields(answer.get(MARKS, {}), task.number)

    def agreements(self, answers: Mapping[int, Answer], config: CampaignConfig) -> dict[int, float]:
        return mean_similarities(answers, self.scales(config))

    def signs(self, answer: Answer, _config: CampaignConfig) -> list[Sign]:
        count = all_the_same(answer)
        if not count:
            return []
        [(code, why)] = self.flags.items()
        return [Sign(code, count, 6, why.format(count=count))]

    def answer_context(self, response: Response) -> dict[str, Any]:
        return {"captions": list(self._rated_texts(response))}

    def marked(self, response: Response) -> list[dict[str, Any]]:
        """The captions of the page, each with what the worker marked."""
        marks = response.answer.content.get(MARKS, {})
        marked = []
        for number, text in enumerate(self.texts(response.task), start=1):
            mark = marks.get(str(number), {})
            wrong = Marked(text, {0: mark}).spans(0)
            marked.append({"text": text, "wrong": wrong, "missing": mark.get("missing", "")})
        return marked

    def summary(self, response: Response) -> str:
        """The ratings of each caption, in the order of the questions: `5 4 5 · 2 1 5`."""
        return " · ".join(
            " ".join(str(ratings.get(name, "–")) for name in scales_of(response.task))
            for _, ratings in sorted(
                ratings_of(response.answer.content).items(), key=lambda item: int(item[0])
            )
        )

    def judge_payload(self, response: Response) -> dict[str, Any]:
        answer: Answer = response.answer.content
        return {
            "answer": [
                {"caption": text, **answer.get(str(n), {}), **answer.get(MARKS, {}).get(str(n), {})}
                for n, text in enumerate(self.texts(response.task), start=1)
            ]
        }

    def _rated_texts(self, response: Response) -> Iterator[dict[str, Any]]:
        """Each caption with its ratings, in the order of the questions, and with its marks."""
        questions = questions_of(response.task.campaign.config)
        for number, shown in enumerate(self.marked(response), start=1):
            ratings: Ratings = response.answer.content.get(str(number), {})
            given = [(question, ratings.get(question.name)) for question in questions]
            yield {
                **shown,
                "ratings": [
                    {
                        "name": shown_name(question),
                        "value": value,
                        "label": gettext(question.labels[value - 1])
                        if value
                        else gettext("not rated"),
                    }
                    for question, value in given
                ],
            }

    def methods(self, campaign: Campaign) -> Iterator[str]:
        yield from Rating.of(campaign.config).methods()
        for question in questions_of(campaign.config):
            labels = ", ".join(question.labels)
            yield f"Question {question.name}: “{question.text}” Answers from 1: {labels}."
        yield (
            "A source's score is the mean over images of its captions' mean ratings. Its 95% "
            f"interval is from a bootstrap over images with {RESAMPLES:,} resamples (Efron and "
            "Tibshirani 1993, chapter 13)."
        )

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        return {"captions": image.record["captions"]}

    def released_figures(self, release: Release) -> dict[str, Any]:
        return ordered_figures(release)


def _has_marks(task: Task) -> bool:
    return bool((task.payload or {}).get(MARKS))


def scales_of(task: Task) -> Scales:
    """The questions in the order of the page, with their numbers of labels."""
    return dict((task.payload or {})["scales"])


def shown_name(question: Question) -> str:
    """The short name, which is an English word. On a page in another language, the question."""
    is_short = is_english(get_language() or ENGLISH)
    return question.name if is_short else gettext(question.text)


def shown_question(
    task: Task, caption: int, question: Question, fields: Mapping[str, str]
) -> dict[str, Any]:
    """A question about something on the page, with its options."""
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
