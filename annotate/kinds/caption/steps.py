"""What *New campaign* asks about captions: how many, object names, rules and examples."""

import re
from collections.abc import Iterator
from typing import Any

from django import forms

from accounts.models import Team
from annotate.kinds.steps import (
    SELECTION,
    Choice,
    Lines,
    Material,
    Percent,
    StepFields,
    Text,
    Whole,
    Yes,
    YesNumber,
    lines_of,
    listed,
    on_a_line,
    text_of,
)
from annotate.models import CaptionSet
from corpora.language.text import MOST_WORDS, CaptionRules
from shared.text_areas import TextArea

_UP_TO_BAR = r"((?:[^\\|]|\\.?)*)\|"


class BadExamples(Lines):
    r"""Captions with what is wrong with them, each on a line with a bar between the two. A bar in a
    caption is written \|."""

    keys: tuple[str, ...] = ("text", "why")
    wanted = "write the caption, a bar (|), and what is wrong with it."

    def clean(self, value: Any) -> Any:
        cleaned = super().clean(value)
        for number, line in enumerate(lines_of(cleaned), start=1):
            if not self.is_complete(self._parts(line)):
                raise forms.ValidationError(f"Line {number}: {self.wanted}")
        return cleaned

    def is_complete(self, parts: list[str]) -> bool:
        return all(parts)

    def as_text(self, value: Any) -> str:
        rows = [row for row in listed(value) if isinstance(row, dict)]
        lines = [[row.get(key, "") for key in self.keys] for row in rows]
        return "\n".join(" | ".join(on_a_line(part, r"\n\r\\|") for part in line) for line in lines)

    def as_value(self, cleaned: Any) -> list[dict[str, Any]]:
        return [dict(zip(self.keys, self._parts(line), strict=True)) for line in lines_of(cleaned)]

    def _parts(self, line: str) -> list[str]:
        """The texts between the bars; all are empty if one is missing."""
        bars = len(self.keys) - 1
        match = re.fullmatch(_UP_TO_BAR * bars + "(.*)", line, re.DOTALL)
        return [text_of(part) for part in match.groups()] if match else [""] * len(self.keys)


class GradedCaptions(BadExamples):
    """Captions for the practice: image, `good` or `bad`, caption and reason on each line."""

    keys = ("image", "good", "text", "why")
    wanted = "write the image's id, good or bad, the caption, and why, with bars (|) between them."

    def is_complete(self, parts: list[str]) -> bool:
        return all(parts) and parts[1] in {"good", "bad"}

    def as_text(self, value: Any) -> str:
        rows = [row for row in listed(value) if isinstance(row, dict)]
        return super().as_text(
            [{**row, "good": "good" if row.get("good") else "bad"} for row in rows]
        )

    def as_value(self, cleaned: Any) -> list[dict[str, Any]]:
        return [{**row, "good": row["good"] == "good"} for row in super().as_value(cleaned)]


# The defaults that depend on the style, as fields of the form.
_DEFAULTS = {
    style: {
        f"captions__{key}": getattr(CaptionRules.model_validate({"style": style}), key)
        for key in ("least_words", "most_words", "forbid_there_is", "forbid_line_breaks")
    }
    for style in ("sentence", "paragraph")
}


def _lengths(values: dict[str, Any], _team: Team) -> Iterator[tuple[str, str]]:
    style = values.get("captions__style", "sentence")
    defaults = _DEFAULTS["sentence" if style == "paragraph" else "paragraph"]
    if all(values.get(name) == default for name, default in defaults.items()):
        values.update(_DEFAULTS[style])
    least, most = values.get("captions__least_words"), values.get("captions__most_words")
    target = values.get("captions__target_words")
    if least is None or most is None:
        return
    if least > most:
        yield "captions__most_words", f"Enter at least {least}, the smallest number."
    elif target and not least <= target <= most:
        yield "captions__target_words", f"Enter a number from {least} to {most}."


IMAGES = StepFields(
    {
        "selection": SELECTION,
        "references": Whole(
            label="Reference captions for each image",
            least=1,
            most=1000,
            help_text="By that many different workers. nocaps has 10.",
        ),
        "baselines": YesNumber(
            label="One more caption for each image, to compare machines with people (human "
            "baseline)"
        ),
        "priming__by": Choice(
            label="Object names (keywords) beside the image",
            choices=[
                ("none", "Nobody sees them"),
                ("image", "Shown with some or all images, to all workers of an image"),
                ("response", "Shown for some captions of each image, to compare the two"),
            ],
            widget=forms.RadioSelect,
        ),
        "priming__share": Percent(
            label="Share with object names, in per cent",
            help_text="Of the images, or of the captions of each image.",
        ),
        "captions__rate_first": Material(
            CaptionSet,
            nothing="None",
            label="Captions that workers rate before they write their own",
            required=False,
            help_text="A caption set. All images of a page are rated first, and then described.",
            error_messages={
                "invalid_choice": "This caption set does not exist. Choose another one."
            },
        ),
        "captions__rate_first_captions": Whole(
            label="Captions of each image to rate, at most", least=1, most=5, required=False
        ),
    },
    details=("captions__rate_first", "captions__rate_first_captions"),
    without_classes={"priming__by": "none", "priming__share": None},
)
PRACTICE_FIELDS = (
    "practice__captions",
    "practice__way",
    "practice__pass_mark",
    "practice__paid",
)
INSTRUCTIONS = StepFields(
    {
        "captions__style": Choice(
            label="Captions are",
            choices=[("sentence", "one sentence"), ("paragraph", "a paragraph")],
            help_text="Sets the built-in texts, and the limits below where you change none.",
        ),
        "captions__least_words": Whole(
            label="Words, at least",
            least=1,
            most=1000,
            help_text="Chinese, Japanese and Thai words are counted by dictionary.",
        ),
        "captions__most_words": Whole(label="Words, at most", least=1, most=MOST_WORDS),
        "captions__target_words": Whole(
            label="Words to aim at",
            least=1,
            most=MOST_WORDS,
            required=False,
            help_text="Shown while people write. Empty: none.",
        ),
        "captions__label": Text(
            label="Words above the field",
            max_length=200,
            required=False,
            help_text="Empty: “Describe the image in one sentence”, or “in a paragraph”, in the "
            "captions' language.",
        ),
        "captions__cannot_describe": Lines(
            label="Reasons why an image cannot be described",
            help_text="One on each line. Workers may choose one in place of writing, and are paid. "
            "Empty: everybody writes.",
        ),
        "captions__cannot_describe_quorum": Whole(
            label="Workers with a reason, until nobody else is asked about the image",
            least=1,
            most=1000,
        ),
        "captions__remarks": Yes(label="A field for a remark to you, which is no part of captions"),
        "instructions__intro": Text(
            label="Introduction",
            max_length=2000,
            required=False,
            widget=TextArea(attrs={"rows": 3}),
            help_text="Above the rules.",
        ),
        "instructions__rules": Lines(
            label="Rules",
            help_text="One on each line. Empty: the built-in rules. The limits of words are always "
            "shown.",
        ),
        "instructions__good": Lines(
            label="Good examples",
            help_text="One on each line. Empty: built-in examples.",
        ),
        "instructions__bad": BadExamples(
            label="Examples that are not good",
            help_text="One on each line: the caption, a bar (|), and what is wrong with it. Write "
            "\\| for a bar inside a caption. Empty: built-in examples.",
        ),
        "captions__show_context": Yes(
            label="Show the text around each image",
            help_text="From the column context of the images’ table of facts.",
        ),
        "practice__captions": GradedCaptions(
            label="Graded captions, which new workers rate first",
            help_text="One on each line: image | good | caption | why, or with “bad”. The images "
            "must not be among those of the campaign. Empty: no practice.",
        ),
        "practice__way": Choice(
            label="In the practice, workers",
            choices=[
                ("rate", "say whether each caption is good"),
                ("write", "write a caption for each image, and then read these"),
            ],
            required=False,
        ),
        "practice__pass_mark": Percent(
            label="Right answers that a worker needs to get tasks, in per cent",
            required=False,
            help_text="0: everybody gets tasks after the practice.",
        ),
        "practice__paid": Yes(
            label="The practice is an assignment of its own, which is paid",
            help_text="If ticked, workers who fail are excluded. If not, the practice is part of "
            "the first assignment, and workers who fail are asked to return it.",
        ),
        "captions__forbid_there_is": Yes(
            label="Refuse “There is …” and “There are …” at the start",
            help_text="In other languages, their words for it.",
        ),
        "captions__forbid_keyword_lists": Yes(
            label="Refuse captions that only repeat the object names"
        ),
        "captions__forbid_line_breaks": Yes(label="Refuse more than one line"),
        "captions__forbid_urls": Yes(label="Refuse web addresses"),
    },
    details=(
        *PRACTICE_FIELDS,
        "captions__show_context",
        "captions__forbid_there_is",
        "captions__forbid_keyword_lists",
        "captions__forbid_line_breaks",
        "captions__forbid_urls",
        "captions__cannot_describe",
        "captions__cannot_describe_quorum",
        "captions__remarks",
    ),
    clean=_lengths,
    without_classes={"captions__forbid_keyword_lists": None},
)
