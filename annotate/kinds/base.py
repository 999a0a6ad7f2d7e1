"""The interface of a task type: subject, form, checks, answers, reviews, release and files.

`docs/adding-a-task-type.md` explains the parts in the order in which you write them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils.translation import gettext

from accounts.models import Team
from annotate.campaign_file import CampaignConfig, Hit, KindSection
from annotate.exports.files import Files, documents, seconds_file, without_workers, write_files
from annotate.exports.images import keywords_file
from annotate.exports.tables import Asked, Extra, Table
from annotate.images.copies import display_srcset, display_url
from annotate.kinds.freezing import Drawn
from annotate.kinds.steps import RESPONSES, SELECTION, StepFields
from annotate.kinds.wording import in_language
from annotate.models import Answer, Campaign, Release, ReleasedImage, Response, Selection, Task
from annotate.models.responses import ResponseQuerySet
from annotate.queries.words import with_words
from corpora.errors import DomainError
from corpora.language.languages import ENGLISH, language_of
from corpora.language.text import Problem


class CampaignNotPossible(DomainError):
    """The campaign cannot be created from this file in this database."""


class AnswerRefused(DomainError):
    """The answer breaks rules of the campaign."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(problem.message for problem in problems))
        self.problems = list(problems)


class AnswerMissing(DomainError):
    """The fields contain no answer to this task."""


class Sign(NamedTuple):
    """Evidence of careless work that only this task type has; it becomes a flag."""

    code: str
    value: float
    threshold: float
    why: str  # a sentence for the reviewer


@dataclass(frozen=True)
class Templates:
    """Paths of a task type's templates."""

    task: str  # one task of the form, disabled in the preview; with `context`
    instructions: str  # above the form
    facts: str  # part of the campaign's page; with `campaign` and `rules`
    answer: str  # one `response`; with `answer_context`
    released_files: str  # describes the files of a release; with `release`
    released: str  # one `image` of a release; with `released_context`

    @classmethod
    def of(cls, kind: str) -> Self:
        """The templates in the folder `templates/kinds/NAME/`."""
        return cls(**{field.name: f"kinds/{kind}/{field.name}.html" for field in fields(cls)})


def new_task(campaign: Campaign, **fields: Any) -> Task:
    """An unsaved task that lacks all its answers and shows no keywords, unless `fields` say so."""
    wanted = campaign.config.wanted
    usual = {"answers_missing": wanted, "places_left": wanted, "shows_keywords": False}
    return Task(campaign=campaign, wanted=wanted, **usual | fields)


class TaskKind(ABC):
    """A task type.

    An `answer` is the value that `check` and `read` return. Other modules pass it on and never read
    it.
    """

    name: ClassVar[str]
    # What workers do, for forms in which a person chooses a task type.
    label: ClassVar[str]
    # Names for a task's subject and for answers: `image`, `caption`, `captions`.
    subject_name: ClassVar[str]
    answer_name: ClassVar[str]
    answers_name: ClassVar[str]

    # The campaign file: the section of the same name, its defaults, and its presets.
    section: ClassVar[type[KindSection] | None] = None
    defaults: ClassVar[Mapping[str, Any]] = {}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    # The presets in words, for the form in which a person chooses one.
    presets_in_words: ClassVar[Mapping[str, str]] = {}

    # Keys of the campaign file that say what workers work on. Of several keys without a dot, a
    # file has exactly one.
    material_keys: ClassVar[tuple[str, ...]] = ("selection",)

    # Fields of its own in the steps of *New campaign*, by the step's name.
    steps: ClassVar[Mapping[str, StepFields]] = {
        "images": StepFields({"selection": SELECTION, "responses": RESPONSES})
    }

    # Good examples in the instructions of campaigns without their own, in English.
    built_in_examples: ClassVar[tuple[str, ...]] = ()
    # Additional static files of the task page.
    scripts: ClassVar[tuple[str, ...]] = ()
    styles: ClassVar[tuple[str, ...]] = ()
    # Whether the task scrolls inside its frame, so that the image stays in sight beside or above a
    # long form. Otherwise the marketplace may make the frame as high as the page.
    scrolls_in_frame: ClassVar[bool] = False

    # Location of the answer, from Response: relations for `select_related`, and the field. Only
    # this class reads the field.
    answer_relations: ClassVar[tuple[str, ...]] = ("answer",)
    answer_field: ClassVar[str] = "answer__content"
    # Lookup from Response to the text by whose words people find it; empty if there is none.
    words_field: ClassVar[str] = "task__subject__text"
    # Whether a plain text can be an answer, for made-up gold items and for files of captions that
    # were collected elsewhere.
    takes_text: ClassVar[bool] = False

    # Whether a campaign may name a language other than English for its task page.
    has_languages: ClassVar[bool] = False
    # Whether one file may make campaigns in several languages, which can be released together.
    has_families: ClassVar[bool] = False

    # Whether the answers to a task build on each other, one after the other.
    builds_on_answers: ClassVar[bool] = False

    # Whether answers become references, which a release may hide.
    has_references: ClassVar[bool] = False

    # Reasons to judge an answer bad, by their names in the form. Reviewers select them with number
    # keys in this order, and one key is for other reasons, so there can be at most eight.
    faults: ClassVar[Mapping[str, str]]
    # Sentences of the flags that only this task type has, by their codes; `signs` fills them in.
    flags: ClassVar[Mapping[str, str]] = {}
    # Whether the answer's template includes the image. If so, pages do not show it themselves.
    answer_shows_image: ClassVar[bool] = False

    # Files of a release: functions that yield their content in chunks, by name; the command that
    # writes them; the relations of ReleasedImage that a page needs.
    files: ClassVar[Files]
    export_command: ClassVar[str] = "export"
    # The file with what people said of captions (`corpora.evaluation.judgements`), if there is one.
    judgements: ClassVar[str] = ""
    # What a release has, in one sentence for the dataset card.
    about_release: ClassVar[str]
    released_relations: ClassVar[tuple[str, ...]] = ()

    @property
    def templates(self) -> Templates:
        return Templates.of(self.name)

    # The campaign and its tasks

    def rules(self, config: CampaignConfig) -> Any:
        """The task type's section of the campaign file, or None."""
        return self.section.of(config) if self.section else None

    def responses_of(self, section: Any) -> int | None:  # noqa: ARG002
        """The number of responses to each task, if the section of the campaign file says it."""
        return None

    def material(
        self,
        config: CampaignConfig,
        at: datetime,  # noqa: ARG002
        team: Team,
    ) -> dict[str, Any]:
        """The field of Campaign with its selection or caption set, one of the team's; raises
        CampaignNotPossible."""
        own = Selection.objects.of_team(team)
        selection = own.filter(name=config.selection).first()
        if selection is None:
            wanted = (
                f"there is no selection {config.selection!r}"
                if config.selection
                else "name a selection of images"
            )
            existing = ", ".join(own.order_by("name").values_list("name", flat=True)) or "none"
            raise CampaignNotPossible(f"selection: {wanted}. Existing names: {existing}.")
        return {"selection": selection}

    def language_of_material(self, config: CampaignConfig, team: Team) -> str:  # noqa: ARG002
        """The one language of the captions that workers read; empty if there are none, or if it is
        not known."""
        return ""

    def with_language(self, config: CampaignConfig, team: Team) -> CampaignConfig:
        """The file with the language of the captions that workers read, if it names none."""
        if "language" in config.model_fields_set:
            return config
        language = self.language_of_material(config, team)
        if not language:
            return config
        style = config.captions.style
        english = self.default_texts(ENGLISH, style)
        texts = {
            key: text
            for key, text in self.default_texts(language, style).items()
            if getattr(config.hit, key) == english[key]
        }
        hit = config.hit.model_copy(update=texts)
        return config.model_copy(update={"language": language, "hit": hit})

    def default_texts(self, language: str, style: str) -> dict[str, str]:
        """The default title and description for captions of this style; in English if they have no
        translation."""
        hit = self.default_hit(style)
        with in_language(language):
            return {key: gettext(hit[key]) for key in ("title", "description")}

    def default_hit(self, style: str) -> Mapping[str, Any]:  # noqa: ARG002
        """The `[hit]` section's defaults, in English."""
        return {**Hit().model_dump(), **self.defaults.get("hit", {})}

    def fault_of_title(self, config: CampaignConfig) -> str:
        """A sentence if the title is the default in another language than the campaign's, or else
        an empty text."""
        own = config.language.partition("-")[0]
        for code, _ in settings.LANGUAGES:
            if config.hit.title == self.default_texts(code, config.captions.style)["title"]:
                is_own = code.partition("-")[0] == own
                used, wanted = language_of(code).name, language_of(config.language).name
                return "" if is_own else f"The title is in {used}, and the campaign in {wanted}."
        return ""

    @abstractmethod
    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """The unsaved tasks of a new campaign; raises CampaignNotPossible."""

    def number_of_tasks(self, selection: Selection, config: CampaignConfig) -> int:  # noqa: ARG002
        """The number of tasks that a campaign about this selection will have; raises
        CampaignNotPossible."""
        return selection.selected.count()

    def prepare(self, tasks: Sequence[Task]) -> None:  # noqa: B027
        """Decide what is decided only when a page is about to show tasks. The tasks are locked, and
        some may have been shown before."""

    # The form

    def image_context(self, task: Task, config: CampaignConfig) -> dict[str, Any]:
        """The template's variables for an image beside its form."""
        return {
            "language": config.language,
            "image": task.image,
            "image_url": display_url(task.image),
            "image_srcset": display_srcset(task.image),
        }

    @abstractmethod
    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """The template's variables for the task; `fields` contain the answer so far."""

    def instructions_context(self, config: CampaignConfig) -> dict[str, Any]:  # noqa: ARG002
        """The variables of the instructions' template besides `config`."""
        return {}

    def good_examples(self, config: CampaignConfig) -> Sequence[str]:
        """The good examples in the instructions, which nobody is to copy."""
        with in_language(config.language):
            return config.instructions.good or [gettext(text) for text in self.built_in_examples]

    def script_texts(self) -> dict[str, Any]:
        """Texts of the task type's scripts in the active language, by the names that they use."""
        return {}

    @abstractmethod
    def field_names(self, task: Task) -> list[str]:
        """Names of the form's fields for an answer.

        Each ends in `-` and the task's number, so that one form can contain several tasks.
        """

    @abstractmethod
    def check(self, task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> Any:
        """The answer in the fields; raises AnswerMissing or AnswerRefused."""

    @abstractmethod
    def read(self, task: Task, fields: Mapping[str, str]) -> Any:
        """The answer that the marketplace reported, even if it breaks rules; raises AnswerMissing.

        A submitted answer counts until somebody discards it.
        """

    @abstractmethod
    def fields_of(self, task: Task, answer: Any) -> dict[str, str]:
        """The fields for an answer to the task, in the form that `read` accepts."""

    # Stored answers

    def row(self, response: Response, answer: Any) -> Model:
        """The unsaved row that stores an answer; sets it on the response, too."""
        return Answer(response=response, content=answer)

    def store(self, answers: Sequence[tuple[Response, Any]]) -> None:
        """Save the answers of responses that have none yet."""
        rows = [self.row(response, answer) for response, answer in answers]
        if rows:
            type(rows[0])._default_manager.bulk_create(rows)

    def reason(self, answer: Any) -> str:  # noqa: ARG002
        """Why the worker says that the image cannot be described, in place of describing it; empty
        if they do not say so."""
        return ""

    def with_words(
        self,
        rows: ResponseQuerySet,
        campaign: Campaign,  # noqa: ARG002
        words: str,
    ) -> ResponseQuerySet:
        """Those of the campaign's responses in whose text people find all the words."""
        return with_words(rows, self.words_field, words)

    def answer(self, response: Response) -> Any:
        return attrgetter(self.answer_field.replace("__", "."))(response)

    def with_answers(
        self, rows: QuerySet[Any], *columns: str, response: str = ""
    ) -> QuerySet[Any, Any]:
        """Values of these columns and, as the last one, the answer.

        `response` is the lookup from a row to its Response, such as `response__`.
        """
        return rows.values_list(*columns, response + self.answer_field)

    def base_of(self, answer: Any) -> str:  # noqa: ARG002
        """The key of the response that the answer builds on; empty if it builds on none."""
        return ""

    def waits_for_verdict(self, config: CampaignConfig) -> bool:  # noqa: ARG002
        """Whether nobody builds on an answer before it is judged good."""
        return False

    # Quality control

    def from_text(self, text: str) -> Any:
        """The answer for a plain text, for task types with `takes_text`."""
        raise NotImplementedError

    def text(self, answer: Any) -> str | None:
        """The text that the worker wrote, for flags about texts; None if there is none."""
        return None

    def is_part(self, answer: Any) -> bool:
        """Whether `text` was added to a text by others: flags of whole texts say nothing of it."""
        return False

    def given_texts(self, task: Task) -> Sequence[str]:  # noqa: ARG002
        """Texts about the image that the page shows, and that nobody is to copy."""
        return ()

    def signs(self, answer: Any, config: CampaignConfig) -> list[Sign]:
        """Evidence of careless work in one answer, in addition to the flags of all task types."""
        return []

    def agreements(
        self,
        answers: Mapping[int, Any],  # noqa: ARG002
        config: CampaignConfig,  # noqa: ARG002
    ) -> dict[int, float]:
        """Mean similarity (0 to 1) of each answer with the others to the task, by response.

        Empty if answers are not supposed to be the same.
        """
        return {}

    def fault_in(self, reason: str) -> str:
        """The one of the `faults` that a reviewer's reason begins with; empty if all of it is in
        the reviewer's own words."""
        faults = self.faults.values()
        return next((one for one in faults if reason == one or reason.startswith(f"{one} (")), "")

    def answer_context(self, response: Response) -> dict[str, Any]:
        """Variables of the answer's template besides `response`."""
        return {}

    def summary(self, response: Response) -> str:
        """One line for tables with the answer, or with the task's subject."""
        return self.text(self.answer(response)) or str(response.task.subject or "")

    def judge_payload(self, response: Response) -> dict[str, Any]:
        """A response for programs that judge, as JSON types.

        `caption` is the caption that was written or worked on, `answer` the answer if it is not a
        caption.
        """
        return {"answer": self.answer(response)}

    def judge_line(self, response: Response) -> str:
        """The answer as one line of text."""
        return self.summary(response)

    # The release

    @abstractmethod
    def freeze(self, release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
        """Copy the drawn responses into the release; `numbers` are the workers' numbers in it.

        `drawn` reads them from the database each time, in the order of the tasks. With
        `has_families` it may have the tasks of several campaigns, those about an image together.
        """

    def methods(self, campaign: Campaign) -> Iterator[str]:  # noqa: ARG002
        """Sentences for the text on a release's methods about what only this task type has."""
        yield from ()

    def files_of(self, release: Release) -> Files:
        """The files of a release: `files` without those that it does not have."""
        return self.files

    def downloads(self, release: Release) -> Files:
        """All files that the release's page offers."""
        return {**self.files_of(release), **documents(release)}

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        """Variables of the template of one released item besides `image`."""
        return {}

    def released_figures(self, release: Release) -> dict[str, Any]:
        """The figures of a release as its page shows them."""
        figures: dict[str, Any] = release.figures
        return figures

    @abstractmethod
    def tables(self, release: Release) -> list[Table]:
        """The release as tables, for all file formats; the first one is `images`."""

    def own_files(self, release: Release, asked: Asked) -> Iterator[tuple[str, Iterable[str]]]:
        """The names and texts of the release's files, with what is asked for."""
        for name, chunks in self.files_of(release).items():
            texts = chunks(release)
            yield name, texts if Extra.WORKERS in asked.extras else without_workers(name, texts)
        if Extra.SECONDS in asked.extras:
            yield "seconds.json", seconds_file(release)
        if Extra.KEYWORDS in asked.extras:
            yield "keywords.json", keywords_file(release)

    def write(
        self,
        release: Release,
        out_dir: Path,
        *,
        hidden: bool = False,
        with_documents: bool = True,
    ) -> list[Path]:
        """Write the release's files into a folder and return the paths of what is in it.

        With `hidden`, they have the captions that the release hides, too. Raises DomainError.
        """
        asked = Asked([Extra.WORKERS], hidden=hidden)
        kept = documents(release) if with_documents else {}
        texts = ((name, chunks(release)) for name, chunks in kept.items())
        return write_files(chain(self.own_files(release, asked), texts), out_dir)
