"""Numbers that people type: form fields, which refuse a decimal comma and never take it away, and
types for the options of commands."""

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django import forms

# Commas may only stand between thousands, so "0,15" is invalid, and not 15.
_PLAIN = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(,\d{3})+)?(\.\d+)?")
HOW = "Write a point before decimals, and commas only between thousands, as in 1,250.50."


class _Plain(forms.Field):
    how = f"Enter a number. {HOW}"

    def __init__(self, **options: Any) -> None:
        errors = {"invalid": self.how, **options.pop("error_messages", {})}
        super().__init__(error_messages=errors, **options)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and value.strip():
            value = value.strip()
            if not (_PLAIN.fullmatch(value) and value[-1].isdecimal()):
                raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
            value = value.replace(",", "")
        return super().to_python(value)


class AmountField(_Plain, forms.DecimalField):
    """A number with decimals, such as an amount of money."""


class NumberField(_Plain, forms.FloatField):
    """A number with decimals that need not be exact."""


class WholeNumberField(_Plain, forms.IntegerField):
    """A whole number. Django's own field reads "1.000" as 1."""

    how = "Enter a whole number, such as 1250."

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and "." in value:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


def whole(least: int, most: int) -> Callable[[str], int]:
    """The type of an option: a whole number within these limits."""

    def number(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise ArgumentTypeError(f"{text} is not from {least} to {most}")
        return value

    return number


PORT = whole(1, 65_535)
# A number for which databases have a place.
STORED = whole(-(2**63), 2**63 - 1)
LONGEST_SECONDS = 31_536_000


def duration(text: str) -> float:
    """The type of an option: a number of seconds, up to a year."""
    value = float(text)
    if not 0 < value <= LONGEST_SECONDS:
        raise ArgumentTypeError(f"{text} is not above 0 and up to {LONGEST_SECONDS}")
    return value


def dollars(text: str) -> Decimal:
    """The type of an option: an amount in US dollars."""
    try:
        amount: Decimal = AmountField().clean(text)
    except forms.ValidationError:
        raise ArgumentTypeError(f"{text} is not an amount of dollars. {HOW}") from None
    return amount
