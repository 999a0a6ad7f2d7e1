"""What a task type adds to the steps of *New campaign*, and the fields that several of them have.

A field's name is the key's name in the campaign file, with `__` for the dot: `hit__reward` is
`hit.reward`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Self

from django import forms
from django.db.models import QuerySet

from accounts.models import Team
from annotate.models import CaptionSet, Release, Selection
from corpora.reading.json_files import is_number
from shared.countries import CODES
from shared.number_fields import HOW, AmountField, WholeNumberField
from shared.text_areas import TextArea

# More digits would not be rounded exactly.
MOST_AMOUNT = Decimal(10**15)


class FileField:
    """What the fields of a step have in common: the value as text, and as the file has it."""

    def begin(self, value: Any, team: Team) -> None:
        """Learn the value that the draft has, and what its team can choose."""

    def as_text(self, value: Any) -> Any:
        """What the browser would send for this value."""
        return "" if value is None else str(value)

    def as_value(self, cleaned: Any) -> Any:
        """The value as the file has it; None leaves the key out."""
        return None if cleaned in ("", None) else cleaned


def listed(value: Any) -> list[Any]:
    """The items of a list; anything else is one item, and None is none."""
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is None else [value]


class Text(FileField, forms.CharField):
    def __init__(self, *, max_length: int, **options: Any) -> None:
        errors = {"max_length": f"Enter at most {max_length:,} characters."}
        errors |= options.pop("error_messages", {})
        super().__init__(max_length=max_length, error_messages=errors, **options)

    def as_value(self, cleaned: Any) -> str:
        return str(cleaned)  # An empty text can differ from the default.


class Choice(FileField, forms.ChoiceField):
    pass


class Whole(FileField, WholeNumberField):
    def __init__(self, *, least: int, most: int, **options: Any) -> None:
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "numeric"}))
        super().__init__(
            min_value=least,
            max_value=most,
            error_messages={
                "required": "Enter a whole number.",
                "invalid": "Enter a whole number, such as 10.",
                "min_value": f"Enter at least {least:,}.",
                "max_value": f"Enter at most {most:,}.",
            },
            **options,
        )


class Dollars(FileField, AmountField):
    """An amount in US dollars, with or without the sign; the file has it as text."""

    def __init__(self, *, least: str, most: str, **options: Any) -> None:
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "decimal"}))
        super().__init__(
            min_value=Decimal(least),
            max_value=Decimal(most),
            error_messages={
                "required": "Enter an amount in US dollars, such as 25.00.",
                "invalid": f"Enter an amount in US dollars, such as 25.00. {HOW}",
                "min_value": f"Enter at least ${least}.",
                "max_value": f"Enter at most ${Decimal(most):,}.",
            },
            **options,
        )

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str):
            value = value.strip().removeprefix("$")
        amount = super().to_python(value)
        if amount is None or abs(amount) >= MOST_AMOUNT:
            return amount  # refused by the limits
        if amount != round(amount, 2):
            raise forms.ValidationError("Enter an amount in whole cents, such as 0.15.")
        return amount

    def as_text(self, value: Any) -> str:
        try:
            return "" if value is None else f"{Decimal(str(value)):.2f}"
        except ArithmeticError:
            return str(value)

    def as_value(self, cleaned: Decimal | None) -> str | None:
        return None if cleaned is None else f"{cleaned:.2f}"


class Decimals(FileField, AmountField):
    """A number, which the form shows `times` as large as the file has it, with all its digits."""

    times = 1
    wanted = ""

    def __init__(self, *, least: float = 0, most: float = 100, **options: Any) -> None:
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "decimal"}))
        wanted = self.wanted.format(least=least, most=most)
        super().__init__(
            min_value=Decimal(str(least)),
            max_value=Decimal(str(most)),
            error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), wanted),
            **options,
        )

    def as_text(self, value: Any) -> str:
        if not is_number(value):
            return "" if value is None else str(value)
        text = f"{Decimal(str(value)) * self.times:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text

    def as_value(self, cleaned: Decimal | None) -> float | None:
        return None if cleaned is None else float(cleaned / self.times)


class Percent(Decimals):
    """A share, which the form shows in per cent."""

    times = 100
    wanted = "Enter a percentage from {least:g} to {most:g}, such as 12.5."

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str):
            value = value.strip().removesuffix("%").strip()
        return super().to_python(value)


class Hours(Decimals):
    wanted = "Enter a number of hours from {least:g} to {most:g}, such as 1.5."


class Yes(FileField, forms.BooleanField):
    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def as_text(self, value: Any) -> Any:
        return "on" if value else ""

    def as_value(self, cleaned: Any) -> int:
        return bool(cleaned)


class Choices(FileField, forms.MultipleChoiceField):
    """A list of texts, each with a box to tick."""

    def __init__(self, *, required: bool = False, **options: Any) -> None:
        super().__init__(required=required, widget=forms.CheckboxSelectMultiple, **options)

    def as_text(self, value: Any) -> list[str]:
        return [str(item) for item in listed(value)]

    def as_value(self, cleaned: Any) -> list[Any]:
        return list(cleaned)


class YesNumber(Yes):
    """A tick for a key whose values are 0 and 1."""

    def as_value(self, cleaned: Any) -> int:
        return int(bool(cleaned))


# How a text is written on its line. A backslash before another character stands for itself.
_WRITTEN = {"\n": r"\n", "\r": r"\r", "|": r"\|", "\\": r"\\"}
_TEXTS = {written: text for text, written in _WRITTEN.items()}


def on_a_line(text: Any, special: str) -> str:
    return re.sub(f"[{special}]", lambda match: _WRITTEN[match[0]], str(text))


def text_of(line: str) -> str:
    return re.sub(r"\\[\\nr|]", lambda match: _TEXTS[match[0]], line.strip())


def lines_of(cleaned: Any) -> list[str]:
    return [line for line in re.split(r"\r\n?|\n", cleaned or "") if line.strip()]


class Lines(FileField, forms.CharField):
    """A list of texts, one on each line."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("widget", TextArea(attrs={"rows": 3}))
        super().__init__(required=False, strip=False, **options)

    def as_text(self, value: Any) -> str:
        return "\n".join(on_a_line(item, r"\n\r\\") for item in listed(value))

    def as_value(self, cleaned: Any) -> list[Any]:
        return [text_of(line) for line in lines_of(cleaned)]


class Countries(FileField, forms.CharField):
    """Two-letter country codes, in any case, separated by commas or spaces."""

    MOST = 30

    def clean(self, value: Any) -> Any:
        cleaned = super().clean(value)
        codes = self._codes(cleaned)
        if wrong := [code for code in codes if code not in CODES]:
            raise forms.ValidationError(
                f"“{wrong[0][:20]}” is no country code. Enter codes of two letters, such as US, GB."
            )
        if len(codes) > self.MOST:
            raise forms.ValidationError(
                f"The marketplace allows at most {self.MOST} countries. Leave the field empty to "
                "let workers of every country in."
            )
        return cleaned

    def as_text(self, value: Any) -> str:
        return ", ".join(str(code) for code in listed(value))

    def as_value(self, cleaned: Any) -> list[str]:
        return self._codes(cleaned)

    def _codes(self, text: str) -> list[str]:
        return list(dict.fromkeys(text.replace(",", " ").upper().split()))


# Returns each fault of a step's checked values: the field and a sentence. May change the values.
Clean = Callable[[dict[str, Any], Team], Iterable[tuple[str, str]]]


@dataclass(frozen=True)
class StepFields:
    """The fields of a task type in one step, in their order.

    `details` are the names of those that are folded away, `without_classes` of those that are not
    shown for images without classes, with the values that they get then.
    """

    fields: Mapping[str, forms.Field] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    clean: Clean = lambda _values, _team: ()
    without_classes: Mapping[str, Any] = field(default_factory=dict)

    def without(self, *names: str) -> Self:
        """A copy without some fields."""
        return replace(
            self,
            fields={name: field for name, field in self.fields.items() if name not in names},
            details=tuple(name for name in self.details if name not in names),
            without_classes={
                name: value for name, value in self.without_classes.items() if name not in names
            },
        )

    def copies(self) -> dict[str, forms.Field]:
        """Copies of the fields for one form."""
        return deepcopy(dict(self.fields))


class Material(Choice):
    """The name of something that the team has, such as a selection of images."""

    def __init__(self, of: type[Any], *, nothing: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.of, self.nothing = of, nothing

    def begin(self, value: Any, team: Team) -> None:  # noqa: ARG002
        own: QuerySet[Any] = self.of.objects.of_team(team)
        names = own.order_by("-created_at").values_list("name", flat=True)
        nothing = [("", self.nothing)] if self.nothing else []
        self.choices = [*nothing, *((name, name) for name in names)]


SELECTION = Material(
    Selection,
    label="Images",
    widget=forms.RadioSelect,
    error_messages={
        "required": "Choose a selection of images.",
        "invalid_choice": "This selection does not exist any more. Choose another one.",
    },
)
RELEASE = Material(
    Release,
    nothing="None",
    label="Captions of a release",
    required=False,
    error_messages={"invalid_choice": "This release does not exist. Choose another one."},
)
CAPTION_SET = Material(
    CaptionSet,
    nothing="None",
    label="Or captions of a caption set",
    required=False,
    error_messages={"invalid_choice": "This caption set does not exist. Choose another one."},
)
RESPONSES = Whole(label="Answers to each task", least=1, most=1000)


def release_or_set(values: dict[str, Any], _team: Team) -> Iterable[tuple[str, str]]:
    """Refuses both, and none, of the fields `release` and `caption_set`."""
    if bool(values.get("release")) == bool(values.get("caption_set")):
        yield "release", "Choose either a release or a caption set."
