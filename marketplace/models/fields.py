"""A field for money, stored in cents, because SQLite has no exact decimals."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import models

CENTS = 100
# Above any balance, and low enough for the database to add up.
MOST = Decimal("1000000000000.00")

if TYPE_CHECKING:
    Field = models.Field[Decimal, Decimal]
else:
    Field = models.Field  # Only its stubs are generic.


class MoneyField(Field):
    """A Decimal in dollars with two places, stored as a whole number of cents."""

    def get_internal_type(self) -> str:
        return "BigIntegerField"

    def to_python(self, value: Any) -> Decimal | None:
        return None if value is None else Decimal(value).quantize(Decimal("0.01"))

    def from_db_value(self, value: Any, *_: Any) -> Decimal | None:
        return None if value is None else Decimal(int(value)).scaleb(-2)

    def get_prep_value(self, value: Any) -> int | None:
        value = super().get_prep_value(value)
        if value is None:
            return None
        cents = Decimal(value) * CENTS
        if cents != int(cents):
            raise ValueError(f"{value} is no whole number of cents.")
        return int(cents)
