"""The steps in their order, and what each of them still lacks."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from annotate.kinds.campaign_files import CampaignFileError, parse_plan
from annotate.models import CampaignDraft
from hits.pages.new_campaign.file_form import in_words
from hits.pages.new_campaign.forms import (
    ChecksForm,
    ImagesForm,
    InstructionsForm,
    RewardForm,
    ShortForm,
    StepForm,
    TaskForm,
    WorkersForm,
    path_of,
)


@dataclass(frozen=True)
class Step:
    """One page of *New campaign*."""

    name: str  # in the address
    title: str
    form: type[StepForm] | None = None


STEPS = [
    Step("task", "Task", TaskForm),
    Step("images", "Images", ImagesForm),
    Step("instructions", "Instructions", InstructionsForm),
    Step("workers", "Workers", WorkersForm),
    Step("reward", "Reward and budget", RewardForm),
    Step("checks", "Spot checks", ChecksForm),
    Step("checklist", "Check and create"),
]
# In place of the other steps, for one's own people.
SHORT = Step("short", "New campaign", ShortForm)
BY_NAME = {step.name: step for step in [*STEPS, SHORT]}
FORMS = [step for step in STEPS if step.form is not None]


@dataclass(frozen=True)
class Fault:
    """Something that keeps a draft from becoming a campaign."""

    step: Step
    label: str
    sentence: str
    field: str = ""


@dataclass
class State:
    """A step in the list of steps."""

    step: Step
    is_current: bool
    is_visited: bool
    faults: list[Fault] = field(default_factory=list)

    @property
    def mark(self) -> str:
        """`done`, `faulty` or `open`."""
        if self.faults and self.is_visited:
            return "faulty"
        return "done" if self.is_visited else "open"


def faults_of(draft: CampaignDraft) -> list[Fault]:
    """What is missing or invalid, in the order of the steps."""
    faults = [fault for step in FORMS for fault in _of_step(step, draft)]
    return faults or [*_of_file(draft)]


def _of_step(step: Step, draft: CampaignDraft) -> Iterator[Fault]:
    assert step.form is not None
    form = step.form.of(draft)
    for name, messages in form.errors.items():
        label = str(form.fields[name].label) if name in form.fields else ""
        for message in messages:
            yield Fault(step, label, str(message), name)


def _of_file(draft: CampaignDraft) -> Iterator[Fault]:
    """Faults of keys that no step has, for example in an uploaded file."""
    try:
        parse_plan(draft.file)
    except CampaignFileError as error:
        for line in str(error).splitlines():
            key, _, message = in_words(line).partition(": ")
            step = step_of(key) or STEPS[-1]
            yield Fault(step, f"Key {key} of the file", f"{message[:1].upper()}{message[1:]}.")


def step_of(path: str) -> Step | None:
    """The step that sets this key of the file."""
    for step in FORMS:
        assert step.form is not None
        if path in map(path_of, step.form.names()):
            return step
    return None


def states(draft: CampaignDraft, current: str, faults: list[Fault]) -> list[State]:
    return [
        State(
            step,
            step.name == current,
            step.name in draft.visited,
            [fault for fault in faults if fault.step is step],
        )
        for step in STEPS
    ]


def next_of(step: Step) -> Step:
    if step is SHORT:
        return STEPS[-1]
    place = STEPS.index(step)
    return STEPS[min(place + 1, len(STEPS) - 1)]


def previous_of(step: Step) -> Step | None:
    if step is SHORT:
        return None
    place = STEPS.index(step)
    return STEPS[place - 1] if place else None
