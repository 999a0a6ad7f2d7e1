"""The form of each step."""

from typing import Any

from django import forms
from django.db.models import QuerySet

from annotate.kinds import DEFAULT_KIND, KINDS
from annotate.kinds.reading import PRESETS, filled
from annotate.language.languages import LANGUAGES
from annotate.models import Campaign, CaptionSet, Release, Selection, Team
from annotate.services.campaigns import name_refusal
from annotate.services.drafts import value_at
from hits.dashboard.new_campaign.fields import (
    BadExamples,
    Choice,
    Choices,
    Countries,
    Dollars,
    Hours,
    Lines,
    Percent,
    Sources,
    Text,
    Whole,
    Yes,
    YesNumber,
    listed,
)
from hits.dashboard.new_campaign.step_form import Entries, StepForm, choice, name_of, path_of
from hits.dashboard.new_campaign.words import PRESET_WORDS
from hits.queries.prospects import has_classes

LANGUAGE_CHOICES = [(language.code, language.name) for language in LANGUAGES.values()]
MOST_DOLLARS = "99999999.99"


class TaskForm(StepForm):
    """What workers do, and the campaign's name."""

    name = Text(
        label="Name",
        max_length=100,
        help_text="For addresses, commands and files: lower-case letters, digits and hyphens.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={
            "required": "Enter a name, such as street-scenes.",
            "max_length": "Enter at most 100 characters.",
        },
    )
    kind = Choice(label="What do workers do?", widget=forms.RadioSelect)
    preset = Choice(
        label="Settings of a published collection",
        required=False,
        help_text="Sets the number of answers and whether object names are shown. You can change "
        "both in the next steps.",
    )

    def shape(self) -> None:
        choice(self, "kind").choices = [(kind.name, kind.label) for kind in KINDS.values()]
        presets = [(name, PRESET_WORDS.get(name, name)) for name in PRESETS]
        choice(self, "preset").choices = [("", "None"), *presets]

    def entries(self) -> Entries:
        """Also removes what the chosen task type does not have."""
        entries = super().entries()
        kind = KINDS.get(str(self.cleaned_data.get("kind")))
        if kind is not None:
            materials = {key for other in KINDS.values() for key in other.material_keys}
            numbers = {"responses"} if kind.has_references else {"references", "baselines"}
            entries.removed.update(materials - {*kind.material_keys}, numbers)
            if not kind.takes_text:
                entries.removed.update({"priming", "captions", "instructions"})
            if not kind.has_families:
                entries.removed.update({"languages", "translations"})
        return entries

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if problem := problem_with_name(name, self.draft.campaign, self.draft.team):
            raise forms.ValidationError(problem)
        return name

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        kind, preset = values.get("kind"), values.get("preset")
        if kind in KINDS and preset and preset not in KINDS[kind].presets:
            self.add_error("preset", "These settings are for another kind of task. Choose “None”.")
        return values


def problem_with_name(name: str, campaign: Campaign | None, team: Team) -> str:
    """Why a campaign cannot have this name; empty if it can."""
    parts = name.split("-")
    if not all(
        part and part.isascii() and part.isalnum() and part == part.lower() for part in parts
    ):
        return (
            "Use lower-case letters, digits and single hyphens between them, such as "
            "street-scenes-2."
        )
    others = Campaign.objects.exclude(pk=campaign.pk) if campaign else Campaign.objects.all()
    if others.filter(slug=name).exists():
        return name_refusal(name, team)
    return ""


class ImagesForm(StepForm):
    """What workers work on, the number of answers, and whether workers see object names."""

    selection = Choice(
        label="Images",
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose a selection of images.",
            "invalid_choice": "This selection does not exist any more. Choose another one.",
        },
    )
    release = Choice(
        label="Captions of a release",
        required=False,
        error_messages={"invalid_choice": "This release does not exist. Choose another one."},
    )
    caption_set = Choice(
        label="Or captions of a caption set",
        required=False,
        error_messages={"invalid_choice": "This caption set does not exist. Choose another one."},
    )
    rating__sources = Sources(
        label="Sources of the captions",
        help_text="One on each line: a name for the results, “release” or “caption_set”, and its "
        "name, with bars between them. Example: people | release | scenes-v1",
    )
    references = Whole(
        label="Reference captions for each image",
        least=1,
        most=1000,
        help_text="By that many different workers. nocaps has 10.",
    )
    baselines = YesNumber(
        label="One more caption for each image, to compare machines with people (human baseline)"
    )
    responses = Whole(label="Answers to each task", least=1, most=1000)
    priming__by = Choice(
        label="Object names (keywords) beside the image",
        choices=[
            ("none", "Nobody sees them"),
            ("image", "Shown with some or all images, to all workers of an image"),
            ("response", "Shown for some captions of each image, to compare the two"),
        ],
        widget=forms.RadioSelect,
    )
    priming__share = Percent(
        label="Share with object names, in per cent",
        help_text="Of the images, or of the captions of each image.",
    )
    seed = Whole(
        label="Seed",
        least=-(2**63),
        most=2**63 - 1,
        help_text="For the random choices. The same seed and images give the same choices.",
    )
    details = ("seed",)

    def shape(self) -> None:
        kind = KINDS.get(self.whole["kind"]) or KINDS[DEFAULT_KIND]
        numbers = {"references", "baselines"} if kind.has_references else {"responses"}
        primed = {"priming__by", "priming__share"} if kind.takes_text else set()
        wanted = {*map(name_of, kind.material_keys), *numbers, *primed, "seed"}
        for name in [name for name in self.fields if name not in wanted]:
            del self.fields[name]
        for name, model, nothing in (
            ("selection", Selection, []),
            ("release", Release, [("", "None")]),
            ("caption_set", CaptionSet, [("", "None")]),
        ):
            if name in self.fields:
                own: QuerySet[Any] = model.objects.of_team(self.draft.team)
                names = own.order_by("-created_at").values_list("name", flat=True)
                choice(self, name).choices = [*nothing, *((one, one) for one in names)]

    @property
    def has_classes(self) -> bool:
        """Whether the chosen images have classes; also true if none are chosen yet."""
        chosen = str(self.data.get("selection") or "")
        return not chosen or has_classes(chosen, self.draft.team)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if "priming__by" in self.fields and not self.has_classes:
            values["priming__by"] = "none"
        if "release" in self.fields and bool(values.get("release")) == bool(
            values.get("caption_set")
        ):
            self.add_error("release", "Choose either a release or a caption set.")
        return values


class InstructionsForm(StepForm):
    """What workers read."""

    hit__title = Text(
        label="Title",
        max_length=128,
        help_text="The heading of the task and its name in the marketplace's list.",
        error_messages={
            "required": "Enter a title. Workers choose tasks by it.",
            "max_length": "Enter at most 128 characters.",
        },
    )
    hit__description = Text(
        label="Description in the marketplace's list",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={
            "required": "Enter one or two sentences about the task.",
            "max_length": "Enter at most 2,000 characters.",
        },
    )
    hit__keywords = Text(
        label="Search words",
        required=False,
        max_length=1000,
        help_text="Separated by commas. Workers find the task by them.",
        error_messages={"max_length": "Enter at most 1,000 characters."},
    )
    language = Choice(
        label="Language of the captions",
        choices=LANGUAGE_CHOICES,
        help_text="The task page is in this language, too. Title, description and examples are as "
        "you write them.",
    )
    languages = Choices(
        label="Or several languages",
        choices=LANGUAGE_CHOICES,
        help_text="Makes a campaign for each, with the same images, budget and rules. Change "
        "titles and descriptions in each draft, or write them in the campaign file.",
    )
    captions__least_words = Whole(
        label="Words, at least",
        least=1,
        most=1000,
        help_text="Chinese, Japanese and Thai words are counted by dictionary.",
    )
    captions__most_words = Whole(label="Words, at most", least=1, most=1000)
    instructions__good = Lines(
        label="Good examples",
        help_text="One on each line. Empty: built-in examples.",
    )
    instructions__bad = BadExamples(
        label="Examples that are not good",
        help_text="One on each line: the caption, a bar (|), and what is wrong with it. "
        "Empty: built-in examples.",
    )
    captions__forbid_there_is = Yes(
        label="Refuse “There is …” and “There are …” at the start",
        help_text="In other languages, their words for it.",
    )
    captions__forbid_keyword_lists = Yes(label="Refuse captions that only repeat the object names")
    captions__forbid_line_breaks = Yes(label="Refuse more than one line")
    captions__forbid_urls = Yes(label="Refuse web addresses")
    details = (
        "captions__forbid_there_is",
        "captions__forbid_keyword_lists",
        "captions__forbid_line_breaks",
        "captions__forbid_urls",
    )

    def shape(self) -> None:
        kind = KINDS.get(self.whole["kind"])
        if kind is not None and not kind.takes_text:
            own = {"language"} if kind.has_languages else set()
            for name in [name for name in self.fields if not name.startswith("hit__")]:
                if name not in own:
                    del self.fields[name]
        if "languages" in self.fields and self.draft.campaign is not None:
            del self.fields["languages"]
        if self.reads_captions:
            # No language in the file: that of the captions.
            self.whole["language"] = self.draft.file.get("language")
            field = self.fields["language"]
            field.required = False
            field.help_text = "The task page is in it. Title and description are as you write them."
        for name in ("language", "languages"):
            if name in self.fields:
                self._offer(name, listed(self.whole.get(name)))

    @property
    def reads_captions(self) -> bool:
        """Whether the campaign's language is that of captions which exist."""
        kind = KINDS.get(self.whole["kind"])
        return kind is not None and kind.has_languages and not kind.has_families

    def _offer(self, name: str, tags: list[Any]) -> None:
        """Also offer tags without rules of their own, from an uploaded file."""
        none = [("", "That of the release's captions, or English")] if self.reads_captions else []
        more = [(str(tag), str(tag)) for tag in tags if tag not in LANGUAGES]
        self.fields[name].choices = [*none, *LANGUAGE_CHOICES, *more]  # type: ignore[attr-defined]

    def default_of(self, path: str) -> Any:
        # English is a choice of its own there, and no default.
        if path == "language" and self.reads_captions:
            return None
        return super().default_of(path)

    def entries(self) -> Entries:
        """A file has one language or several."""
        entries = super().entries()
        chosen = entries.values.get("languages") or []
        if len(chosen) == 1:
            entries.values["languages"] = None
            entries.values["language"] = chosen[0]
        elif chosen:
            entries.values["language"] = None
        return entries

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        least, most = values.get("captions__least_words"), values.get("captions__most_words")
        if least is not None and most is not None and least > most:
            self.add_error("captions__most_words", f"Enter at least {least}, the smallest number.")
        return values


class WorkersForm(StepForm):
    """Who may work."""

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

    hit__reward = Dollars(
        label="Reward for one assignment, in US dollars",
        least="0.00",
        most="999999.99",
        help_text="0 for your own people or a panel, if they are not paid here.",
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


class ChecksForm(StepForm):
    """Spot checks and what follows from them."""

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
    review__approve_after_hours = Hours(label="Hours until work is paid", most=720)
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
    details = ("review__limit", "review__reviewers", "review__gold_every", "review__discard")

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
