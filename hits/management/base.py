"""What this app's commands share."""

from decimal import Decimal

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from shared.number_fields import HOW, AmountField


def dollars(text: str) -> Decimal:
    """An amount that was given to a command; raises CommandError if it is none."""
    try:
        amount: Decimal = AmountField().clean(text)
    except ValidationError:
        raise CommandError(f"{text} is not an amount of dollars. {HOW}") from None
    return amount
