"""Form fields for values of a campaign file: from the file's value to text, and back."""

from decimal import Decimal
from typing import Any

from django import forms

# More digits would not be rounded exactly.
MOST_AMOUNT = Decimal(10**15)


class FileField:
    """What the fields of a step have in common: the value as text, and as the file has it."""

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
    pass


class Choice(FileField, forms.ChoiceField):
    pass


class Whole(FileField, forms.IntegerField):
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


class Dollars(FileField, forms.DecimalField):
    """An amount in US dollars, with or without the sign; the file has it as text."""

    def __init__(self, *, least: str, most: str, **options: Any) -> None:
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "decimal"}))
        super().__init__(
            min_value=Decimal(least),
            max_value=Decimal(most),
            error_messages={
                "required": "Enter an amount in US dollars, such as 25.00.",
                "invalid": "Enter an amount in US dollars, such as 25.00.",
                "min_value": f"Enter at least ${least}.",
                "max_value": f"Enter at most ${Decimal(most):,}.",
            },
            **options,
        )

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str):
            value = value.strip().removeprefix("$").replace(",", "")
            if "e" in value.lower():  # 1e5: a number to Decimal, hardly an amount to a person
                raise forms.ValidationError(self.error_messages["invalid"])
        amount = super().to_python(value)
        if amount is None or not (amount.is_finite() and abs(amount) < MOST_AMOUNT):
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


class Percent(FileField, forms.FloatField):
    """A share, which the form shows in per cent."""

    def __init__(self, *, least: float = 0, most: float = 100, **options: Any) -> None:
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "decimal"}))
        wanted = f"Enter a percentage from {least:g} to {most:g}."
        super().__init__(
            min_value=least,
            max_value=most,
            error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), wanted),
            **options,
        )

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str):
            value = value.strip().removesuffix("%").strip()
        return super().to_python(value)

    def as_text(self, value: Any) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{round(value * 100, 6):g}"
        return "" if value is None else str(value)

    def as_value(self, cleaned: float | None) -> float | None:
        return None if cleaned is None else round(cleaned / 100, 8)


class Hours(FileField, forms.FloatField):
    def __init__(self, *, most: float, **options: Any) -> None:
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "decimal"}))
        wanted = f"Enter a number of hours from 0 to {most:g}."
        super().__init__(
            min_value=0,
            max_value=most,
            error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), wanted),
            **options,
        )

    def as_text(self, value: Any) -> str:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return f"{value:g}" if is_number else "" if value is None else str(value)


class Yes(FileField, forms.BooleanField):
    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def as_text(self, value: Any) -> Any:
        return "on" if value else ""

    def as_value(self, cleaned: Any) -> bool:
        return bool(cleaned)


class Choices(FileField, forms.MultipleChoiceField):
    """A list of texts, each with a box to tick."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=forms.CheckboxSelectMultiple, **options)

    def as_text(self, value: Any) -> list[str]:
        return [str(item) for item in listed(value)]

    def as_value(self, cleaned: Any) -> list[str] | None:
        return list(cleaned) or None


class YesNumber(FileField, forms.BooleanField):
    """A tick for a key whose values are 0 and 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)

    def as_text(self, value: Any) -> Any:
        return "on" if value else ""

    def as_value(self, cleaned: Any) -> int:
        return int(bool(cleaned))


class Lines(FileField, forms.CharField):
    """A list of texts, one on each line."""

    def __init__(self, *, rows: int = 3, **options: Any) -> None:
        options.setdefault("widget", forms.Textarea(attrs={"rows": rows}))
        super().__init__(required=False, strip=False, **options)

    def as_text(self, value: Any) -> str:
        return "\n".join(str(item) for item in listed(value))

    def as_value(self, cleaned: Any) -> list[Any]:
        return [line.strip() for line in (cleaned or "").splitlines() if line.strip()]


class BadExamples(Lines):
    """Captions with what is wrong with them, each on a line with a bar between the two."""

    def clean(self, value: Any) -> Any:
        cleaned = super().clean(value)
        for number, line in enumerate(self._lines(cleaned), start=1):
            text, bar, why = line.partition("|")
            if not (bar and text.strip() and why.strip()):
                raise forms.ValidationError(
                    f"Line {number}: write the caption, a bar (|), and what is wrong with it."
                )
        return cleaned

    def as_text(self, value: Any) -> str:
        rows = [row for row in listed(value) if isinstance(row, dict)]
        return "\n".join(f"{row.get('text', '')} | {row.get('why', '')}" for row in rows)

    def as_value(self, cleaned: Any) -> list[dict[str, str]]:
        parts = [line.partition("|") for line in self._lines(cleaned)]
        return [{"text": text.strip(), "why": why.strip()} for text, _, why in parts]

    def _lines(self, cleaned: Any) -> list[str]:
        return [line for line in (cleaned or "").splitlines() if line.strip()]


class Sources(Lines):
    """Sources of captions to rate: name, where they are, its name, and optionally which captions
    of a release and how many of each image."""

    PLACES = ("release", "caption_set")
    ROLES = ("references", "baseline")

    def clean(self, value: Any) -> Any:
        cleaned = super().clean(value)
        rows = self._rows(cleaned)
        if not rows:
            raise forms.ValidationError("Enter at least one source of captions.")
        for number, parts in enumerate(rows, start=1):
            if problem := self._problem(parts):
                raise forms.ValidationError(f"Line {number}: {problem}")
        return cleaned

    def as_text(self, value: Any) -> str:
        return "\n".join(self._line(row) for row in listed(value) if isinstance(row, dict))

    def as_value(self, cleaned: Any) -> list[dict[str, Any]]:
        found = []
        for name, place, source, *more in self._rows(cleaned):
            row: dict[str, Any] = {"name": name, place: source}
            for part in more:
                row |= {"per_image": int(part)} if part.isdecimal() else {"role": part}
            found.append(row)
        return found

    def _rows(self, cleaned: Any) -> list[list[str]]:
        lines = [line for line in (cleaned or "").splitlines() if line.strip()]
        return [[part.strip() for part in line.split("|")] for line in lines]

    def _problem(self, parts: list[str]) -> str:
        if len(parts) < 3 or not all(parts):
            return "write a name, “release” or “caption_set”, and its name, with bars between them."
        if parts[1] not in self.PLACES:
            return f"write “release” or “caption_set” after the first bar, not “{parts[1][:40]}”."
        for part in parts[3:]:
            if part not in self.ROLES and not (part.isdecimal() and 1 <= int(part) <= 10):
                return (
                    "after the third bar, write “references”, “baseline” or the number of captions "
                    "of each image (1 to 10)."
                )
        return ""

    def _line(self, row: dict[str, Any]) -> str:
        place = "caption_set" if row.get("caption_set") else "release"
        parts = [row.get("name", ""), place, row.get(place, "")]
        if row.get("role", "references") != "references":
            parts.append(row["role"])
        if row.get("per_image", 1) != 1:
            parts.append(row["per_image"])
        return " | ".join(map(str, parts))


class Countries(FileField, forms.CharField):
    """Two-letter country codes, in any case, separated by commas or spaces."""

    MOST = 30

    def clean(self, value: Any) -> Any:
        cleaned = super().clean(value)
        codes = self._codes(cleaned)
        wrong = [
            code for code in codes if not (len(code) == 2 and code.isascii() and code.isalpha())
        ]
        if wrong:
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
