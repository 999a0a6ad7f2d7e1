"""Form fields for numbers that people type: a decimal comma is refused, never taken away."""

import re
from typing import Any

from django import forms

# Commas may only stand between thousands, so "0,15" is no number, and not 15 either.
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
