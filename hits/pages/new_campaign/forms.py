"""The form of each step, and the base of them all, to which task types add their own fields."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Self

from django import forms
from django.conf import settings
from django.forms import BoundField

from annotate.kinds import DEFAULT_KIND, KINDS, TaskKind
from annotate.kinds.campaign_files import TEXTS, filled, merged
from annotate.kinds.steps import (
    Choice,
    Choices,
    Countries,
    Dollars,
    FileField,
    Hours,
    Percent,
    StepFields,
    Text,
    Whole,
    Yes,
    listed,
)
from annotate.models import Campaign, CampaignDraft
from annotate.queries.keywords import has_classes
from annotate.services.campaigns import name_refusal
from annotate.services.drafts import proposed_hit, value_at
from annotate.services.names import address_of
from corpora.language.languages import LANGUAGES
from shared.text_areas import TextArea


@dataclass(frozen=True)
class Entries:
    """What a step stores: the valid values, and what was typed and is not valid."""

    values: dict[str, Any] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)  # keys of other steps that no longer apply


class StepForm(forms.Form):
    """A step's fields. Bound to what was posted, or to what the draft has."""

    step: ClassVar[str]
    # Fields shown in a folded section.
    details: tuple[str, ...] = ()

    def __init__(self, data: Mapping[str, Any], *, draft: CampaignDraft) -> None:
        super().__init__(data)
        self.draft = draft
        self.whole = filled(draft.file)
        self.task_kind = KINDS.get(self.whole["kind"]) or KINDS[DEFAULT_KIND]
        self.own = self.task_kind.steps.get(self.step, StepFields())
        self.fields |= self.own.copies()
        self.details += self.own.details
        if "selection" not in self.fields and self._lacks_classes(draft.file.get("selection")):
            for name in self.own.without_classes:
                del self.fields[name]
        for name, form_field in self.fields.items():
            file_field(form_field).begin(value_at(self.whole, path_of(name)), draft.team)
        self.shape()

    @classmethod
    def names(cls) -> set[str]:
        """All fields that the step has for some task type."""
        steps = [kind.steps.get(cls.step, StepFields()) for kind in KINDS.values()]
        return {*cls.base_fields, *(name for own in steps for name in own.fields)}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self._lacks_classes(values.get("selection")):
            for name, value in self.own.without_classes.items():
                self.errors.pop(name, None)
                values[name] = value
        for name, sentence in self.own.clean(values, self.draft.team):
            self.add_error(name, sentence)
        return values

    def _lacks_classes(self, selection: Any) -> bool:
        return bool(selection) and not has_classes(str(selection), self.draft.team)

    @classmethod
    def of(cls, draft: CampaignDraft) -> Self:
        """The form with what the draft has."""
        form = cls({}, draft=draft)
        form.data = {name: form.text_of(name) for name in form.fields}
        return form

    def shape(self) -> None:
        """Remove fields that do not apply, and fill in choices."""

    def in_new_language(self) -> list[forms.BoundField]:
        """Fields to show again, as a change of the language has changed them."""
        return []

    @property
    def has_details(self) -> bool:
        return any(name in self.fields for name in self.details)

    @property
    def details_have_errors(self) -> bool:
        return any(name in self.errors for name in self.details)

    def paths(self) -> list[str]:
        """The keys of the file that this step sets."""
        return [path_of(name) for name in self.fields]

    def text_of(self, name: str) -> Any:
        """The field's text for what the draft has: what was typed, or the value."""
        path = path_of(name)
        if path in self.draft.unfinished:
            return self.draft.unfinished[path]
        return file_field(self.fields[name]).as_text(value_at(self.whole, path))

    def entries(self) -> Entries:
        """What to store. A value that is the default anyway is left out of the file."""
        entries = Entries()
        for name, form_field in self.fields.items():
            path = path_of(name)
            if name in self.errors:
                # PostgreSQL stores no NUL character.
                raw = str(self.data.get(name, "")).replace("\0", "")
                entries.unfinished[path] = raw[:10_000]
                entries.values[path] = None
            else:
                value = file_field(form_field).as_value(self.cleaned_data.get(name))
                entries.values[path] = None if value == self.default_of(path) else value
        return entries

    def default_of(self, path: str) -> Any:
        """The value without this step's own entries."""
        bare = filled(without(self.draft.file, self.paths()))
        return in_file(value_at(bare, path))


def in_file(value: Any) -> Any:
    """A default as a file has it."""
    return list(value) if isinstance(value, tuple) else value


def path_of(name: str) -> str:
    return name.replace("__", ".")


def file_field(form_field: forms.Field) -> FileField:
    assert isinstance(form_field, FileField), "the steps use fields of this package"
    return form_field


def without(file: Mapping[str, Any], paths: list[str]) -> dict[str, Any]:
    """The file's values without these keys."""
    result = {}
    for key, value in file.items():
        if key in paths:
            continue
        inner = [path.partition(".")[2] for path in paths if path.startswith(f"{key}.")]
        result[key] = without(value, inner) if inner and isinstance(value, Mapping) else value
    return result


def choice(form: forms.Form, name: str) -> forms.ChoiceField:
    form_field = form.fields[name]
    assert isinstance(form_field, forms.ChoiceField)
    return form_field


LANGUAGE_CHOICES = [(language.code, language.name) for language in LANGUAGES.values()]
MOST_DOLLARS = "99999999.99"


class NamedForm(StepForm):
    """Asks for the campaign's name."""

    name = Text(
        label="Name",
        max_length=100,
        help_text="Any name. Addresses and files get it in lower-case letters, digits and hyphens.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Enter a name, such as street-scenes."},
    )

    def clean_name(self) -> str:
        name = address_of(self.cleaned_data["name"], "campaign")
        changed = self.draft.campaign
        others = Campaign.objects.exclude(pk=changed.pk) if changed else Campaign.objects.all()
        if others.filter(slug=name).exists():
            raise forms.ValidationError(name_refusal(name, self.draft.team))
        return name


class TaskForm(NamedForm):
    """What workers do, and the campaign's name."""

    step = "task"
    kind = Choice(label="What do workers do?", widget=forms.RadioSelect)
    preset = Choice(
        label="Settings of a published collection",
        required=False,
        help_text="Sets the number of answers and whether object names are shown. You can change "
        "both in the next steps.",
    )

    def shape(self) -> None:
        choice(self, "kind").choices = [(kind.name, kind.label) for kind in KINDS.values()]
        presets = [
            (name, kind.presets_in_words[name]) for kind in KINDS.values() for name in kind.presets
        ]
        choice(self, "preset").choices = [("", "None"), *presets]

    def entries(self) -> Entries:
        """Also removes what the chosen task type does not have, and what a new choice of settings
        sets."""
        entries = super().entries()
        kind = KINDS.get(str(self.cleaned_data.get("kind")))
        preset = self.cleaned_data.get("preset")
        if kind is not None:
            if preset and preset != self.draft.file.get("preset"):
                entries.removed.update(_keys_set_by(kind.presets.get(preset, {})))
            own = _keys_of(kind)
            entries.removed.update(*(_keys_of(kind) - own for kind in KINDS.values()))
            if not kind.has_families:
                entries.removed.update({"languages", "translations"})
        return entries

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        kind, preset = values.get("kind"), values.get("preset")
        if kind in KINDS and preset and preset not in KINDS[kind].presets:
            self.add_error("preset", "These settings are for another kind of task. Choose “None”.")
        return values


def _keys_set_by(preset: Mapping[str, Any]) -> Iterator[str]:
    for key, value in preset.items():
        yield from (f"{key}.{inner}" for inner in value) if isinstance(value, Mapping) else [key]


def _keys_of(kind: TaskKind) -> set[str]:
    """The keys and sections of the campaign file that the task type's own fields set."""
    names = [name for fields in kind.steps.values() for name in fields.fields]
    keys = {*map(path_of, names), *kind.material_keys}
    sections = {kind.name} if kind.section else set()
    return keys | sections | {key.partition(".")[0] for key in keys}


class ImagesForm(StepForm):
    """What workers work on, and the number of answers."""

    step = "images"
    seed = Whole(
        label="Seed",
        least=-(2**63),
        most=2**63 - 1,
        help_text="For the random choices. The same seed and images give the same choices.",
    )
    details = ("seed",)


class InstructionsForm(StepForm):
    """What workers read."""

    step = "instructions"
    language = Choice(
        label="Language of the captions",
        choices=LANGUAGE_CHOICES,
        help_text="The task page is in this language, too. Title, description and examples of your "
        "own are as you write them.",
    )
    languages = Choices(
        label="Several languages",
        choices=LANGUAGE_CHOICES,
        help_text="Makes a campaign for each, with the same images, budget and rules. Change a "
        "title and description of your own in each draft, or write them in the campaign file.",
    )
    hit__title = Text(
        label="Title",
        max_length=128,
        help_text="The heading of the task and its name in the marketplace's list.",
        error_messages={"required": "Enter a title. Workers choose tasks by it."},
    )
    hit__description = Text(
        label="Description in the marketplace's list",
        max_length=2000,
        widget=TextArea(attrs={"rows": 2}),
        error_messages={"required": "Enter one or two sentences about the task."},
    )
    hit__keywords = Text(
        label="Search words",
        required=False,
        max_length=1000,
        help_text="Separated by commas. Workers find the task by them.",
    )
    writing__confirm = Text(
        label="Sentence that new workers confirm, for example on the use of AI",
        required=False,
        max_length=500,
        help_text="On their first page. Empty: none.",
    )
    writing__question = Yes(
        label="New workers count the dots in a picture",
        help_text="A program that only reads the page does not know the number.",
    )
    writing__refuse_paste = Yes(
        label="The field takes no pasted text",
        help_text="Many honest workers paste what they wrote or corrected elsewhere.",
    )
    details = ("languages", "writing__confirm", "writing__question", "writing__refuse_paste")

    def shape(self) -> None:
        if not (self.task_kind.has_references or self.task_kind.builds_on_answers):
            del self.fields["writing__refuse_paste"]
        if self.whole["workers"].get("who") == "own":
            del self.fields["hit__keywords"]  # they come by an invitation, and search for nothing
        if not self.task_kind.has_languages:
            del self.fields["language"]
        if not self.task_kind.has_families or self.draft.campaign is not None:
            del self.fields["languages"]
        if self.reads_captions:
            # No language in the file: that of the captions.
            self.whole["language"] = self.draft.file.get("language")
            field = self.fields["language"]
            field.required = False
            field.help_text = "The task page is in it."
        for name in ("language", "languages"):
            if name in self.fields:
                self._offer(name, listed(self.whole.get(name)))

    def in_new_language(self) -> list[BoundField]:
        """The default texts that this form has in another language than the draft, as they are
        now."""
        now = type(self).of(self.draft)
        names = [path.replace(".", "__") for path in TEXTS]
        return [
            now[name]
            for name in names
            if name in now.fields
            and name not in self.errors
            and value_at(self.draft.file, path_of(name)) is None
            and str(self.data.get(name, "")).replace("\r", "").strip() != now.text_of(name)
        ]

    @property
    def reads_captions(self) -> bool:
        """Whether the campaign's language is that of captions which exist."""
        return self.task_kind.has_languages and not self.task_kind.has_families

    def _offer(self, name: str, tags: list[Any]) -> None:
        """Also offer tags without rules of their own, from an uploaded file."""
        none = [("", "That of the release's captions, or English")] if self.reads_captions else []
        more = [(str(tag), str(tag)) for tag in tags if tag not in LANGUAGES]
        self.fields[name].choices = [*none, *LANGUAGE_CHOICES, *more]  # type: ignore[attr-defined]

    def default_of(self, path: str) -> Any:
        # English is a separate choice there, not a default.
        if path == "language" and self.reads_captions:
            return None
        style = self.cleaned_data.get("captions__style")
        if style is None or path == "captions.style":
            return super().default_of(path)
        # The style that is chosen in the same step has defaults of its own.
        bare = without(self.draft.file, self.paths())
        return in_file(value_at(filled(merged(bare, {"captions": {"style": style}})), path))

    def entries(self) -> Entries:
        """A file has one language or several. A default title follows the language."""
        entries = super().entries()
        bare = without(self.draft.file, self.paths())
        style = {"captions": {"style": entries.values.get("captions.style")}}
        for code, _ in settings.LANGUAGES:
            whole = filled(merged({**bare, "language": code}, style))
            for path in TEXTS:
                if entries.values.get(path) == in_file(value_at(whole, path)):
                    entries.values[path] = None
        chosen = entries.values.get("languages")
        if chosen is not None and len(chosen) < 2:
            entries.values["languages"] = None
        if chosen:
            entries.values["language"] = chosen[0] if len(chosen) == 1 else None
        return entries


class WorkersForm(StepForm):
    """Who may work."""

    step = "workers"
    workers__who = Choice(
        label="Who may work?",
        choices=[
            ("own", "My own people"),
            ("panel", "A panel"),
            ("nocaps", "nocaps’ requirements"),
        ],
        widget=forms.RadioSelect,
    )
    workers__countries = Countries(
        label="Countries",
        required=False,
        help_text="Two-letter codes, separated by commas. Empty: every country.",
    )
    workers__approved_hits = Whole(
        label="Approved HITs, at least", least=0, most=10_000_000, help_text="0: no requirement."
    )
    workers__approval_rate = Whole(
        label="Approval rate in per cent, above", least=0, most=99, help_text="0: no requirement."
    )
    workers__masters = Yes(label="Only workers with the Masters qualification")
    details = (
        "workers__countries",
        "workers__approved_hits",
        "workers__approval_rate",
        "workers__masters",
    )

    def entries(self) -> Entries:
        """The requirements that are not those of the choice. A new choice resets them."""
        entries = super().entries()
        who = self.cleaned_data.get("workers__who")
        if who == "own" or who != self.whole["workers"].get("who"):
            for name in self.details:
                entries.values[path_of(name)] = None
                entries.unfinished.pop(path_of(name), None)
        return entries

    def default_of(self, path: str) -> Any:
        chosen = self.cleaned_data.get("workers__who") or self.whole["workers"]["who"]
        if path == "workers.who":
            return super().default_of(path)
        return value_at(filled({"workers": {"who": chosen}}), path)


class RewardForm(StepForm):
    """Reward, time and budget."""

    step = "reward"
    hit__reward = Dollars(
        label="Reward for one assignment, in US dollars",
        least="0.00",
        most="999999.99",
        help_text="An assignment is one task page that a worker fills in. 0 for your own people or "
        "a panel, if they are not paid here.",
    )
    hit__images = Whole(
        label="Tasks in one assignment",
        least=1,
        most=20,
        help_text="The number of images that a worker describes, or answers about, for one reward.",
    )
    hit__minutes = Whole(
        label="Minutes for one assignment, at most",
        least=1,
        most=525_600,
        help_text="Several times what the work takes: an assignment that is late is lost.",
    )
    budget = Dollars(
        label="Budget in US dollars",
        least="0.00",
        most=MOST_DOLLARS,
        help_text="The most that the campaign may spend, with fees.",
    )
    hit__assignments = Whole(label="Assignments in one HIT", least=1, most=9)
    hit__lifetime_days = Whole(label="Days until a HIT expires", least=1, most=365)
    hit__auto_approval_days = Whole(
        label="Days until the marketplace approves by itself", least=0, most=30
    )
    details = ("hit__assignments", "hit__lifetime_days", "hit__auto_approval_days")

    def text_of(self, name: str) -> Any:
        proposed = proposed_hit(self.draft).get(path_of(name).removeprefix("hit."))
        return super().text_of(name) if proposed is None else proposed

    def clean(self) -> dict[str, Any]:
        """Work without a reward costs nothing, so its budget may be left empty."""
        values = super().clean()
        if values.get("hit__reward") == 0 and not self.data.get("budget"):
            self.errors.pop("budget", None)
            values["budget"] = Decimal(0)
        return values


class ShortForm(NamedForm, RewardForm):
    """What has to be decided for captions by one's own people, on one page instead of all steps."""

    step = "short"
    field_order = ("name", "references", "language", "hit__reward", "budget")
    references = Whole(
        label="Captions for each image",
        least=1,
        most=1000,
        help_text="Each by a different person: invite at least as many people.",
    )
    language = Choice(
        label="Language of the captions",
        choices=LANGUAGE_CHOICES,
        help_text="The task page is in this language, too.",
    )
    budget = Dollars(
        label="Budget in US dollars",
        least="0.00",
        most=MOST_DOLLARS,
        help_text="Needed with a reward: the most that the campaign may spend, with fees.",
    )

    def shape(self) -> None:
        for name in ("hit__images", "hit__minutes", *self.details):
            del self.fields[name]


class ChecksForm(StepForm):
    """Spot checks and what follows from them."""

    step = "checks"
    review__first = Whole(
        label="First answers of each worker that a person checks", least=0, most=1000
    )
    review__share = Percent(label="Share of all answers that a person checks, in per cent")
    review__trial = Whole(
        label="Answers that a new worker may submit before the first ones are checked",
        least=0,
        most=100_000,
        help_text="0: any number.",
    )
    review__policy = Choice(
        label="Careless workers",
        choices=[
            ("decide", "are excluded by the campaign’s policy"),
            ("propose", "are proposed for exclusion, and a person decides"),
        ],
        widget=forms.RadioSelect,
    )
    review__approve_after_hours = Hours(label="Hours until work is approved", most=720)
    review__limit = Percent(
        label="Tolerated share of bad answers per worker, in per cent", least=0.1, most=99.9
    )
    review__reviewers = Whole(label="Reviewers for each checked answer", least=1, most=2)
    review__gold_every = Whole(
        label="One gold item in every … checks", least=0, most=100_000, help_text="0: none."
    )
    review__discard = Choice(
        label="When a worker is excluded, discard",
        choices=[
            ("all", "all answers of the worker"),
            ("since_first_bad", "the answers since the first bad one"),
        ],
    )
    review__tells_workers = Yes(
        label="Workers read why their answers were discarded, and can appeal there",
        help_text="They read the reviewers’ reasons. No name is shown.",
    )
    details = (
        "review__limit",
        "review__reviewers",
        "review__gold_every",
        "review__discard",
        "review__tells_workers",
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        first, trial = values.get("review__first"), values.get("review__trial")
        if first is not None and trial and not 1 <= first <= trial:
            self.add_error(
                "review__trial",
                f"Enter 0, or at least {max(first, 1)}: with a limit, between 1 and this many of "
                "the first answers have to be checked.",
            )
        hours = values.get("review__approve_after_hours")
        days = value_at(self.whole, "hit.auto_approval_days")
        if hours is not None and isinstance(days, int) and hours > days * 24:
            self.add_error(
                "review__approve_after_hours",
                f"Enter at most {days * 24}: after {days} days the marketplace approves by itself.",
            )
        return values
