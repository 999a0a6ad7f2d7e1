"""What *New campaign* asks about captions: how many, object names, rules and examples."""

import re
from collections.abc import Iterator
from typing import Any

from django import forms

from accounts.models import Team
from annotate.kinds.wizard import (
    SELECTION,
    Choice,
    Lines,
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
from corpora.language.text import CaptionRules

_FIRST_BAR = re.compile(r"((?:[^\\|]|\\.?)*)\|(.*)", re.DOTALL)


class BadExamples(Lines):
    r"""Captions with what is wrong with them, each on a line with a bar between the two. A bar in a
    caption is written \|."""

    def clean(self, value: Any) -> Any:
        cleaned = super().clean(value)
        for number, line in enumerate(lines_of(cleaned), start=1):
            if not all(self._parts(line)):
                raise forms.ValidationError(
                    f"Line {number}: write the caption, a bar (|), and what is wrong with it."
                )
        return cleaned

    def as_text(self, value: Any) -> str:
        rows = [row for row in listed(value) if isinstance(row, dict)]
        pairs = [(row.get("text", ""), row.get("why", "")) for row in rows]
        return "\n".join(" | ".join(on_a_line(part, r"\n\r\\|") for part in pair) for pair in pairs)

    def as_value(self, cleaned: Any) -> list[dict[str, str]]:
        pairs = [self._parts(line) for line in lines_of(cleaned)]
        return [{"text": text, "why": why} for text, why in pairs]

    def _parts(self, line: str) -> tuple[str, str]:
        """The caption, and what is wrong with it; one is empty if it is missing."""
        found = _FIRST_BAR.fullmatch(line)
        return (text_of(found[1]), text_of(found[2])) if found else ("", "")


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
    other = _DEFAULTS["sentence" if style == "paragraph" else "paragraph"]
    if all(values.get(name) == default for name, default in other.items()):
        values.update(_DEFAULTS[style])
    least, most = values.get("captions__least_words"), values.get("captions__most_words")
    target = values.get("captions__target_words")
    if least is not None and most is not None and least > most:
        yield "captions__most_words", f"Enter at least {least}, the smallest number."
    elif target and not (least or 0) <= target <= (most or target):
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
    },
    without_classes={"priming__by": "none", "priming__share": None},
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
        "captions__most_words": Whole(label="Words, at most", least=1, most=1500),
        "captions__target_words": Whole(
            label="Words to aim at",
            least=1,
            most=1500,
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
        "instructions__intro": Text(
            label="Introduction",
            max_length=2000,
            required=False,
            widget=forms.Textarea(attrs={"rows": 3}),
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
        "captions__forbid_there_is",
        "captions__forbid_keyword_lists",
        "captions__forbid_line_breaks",
        "captions__forbid_urls",
    ),
    clean=_lengths,
    without_classes={"captions__forbid_keyword_lists": None},
)
