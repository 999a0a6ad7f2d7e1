"""Numbers that people type into forms and options of commands, the same on both sites."""

import re
from argparse import ArgumentTypeError

import pytest
from django.core.exceptions import ValidationError

from shared.number_fields import PORT, STORED, AmountField, NumberField, WholeNumberField, duration


@pytest.mark.parametrize("field", [AmountField(), NumberField(), WholeNumberField()])
@pytest.mark.parametrize(
    "text", ["0,15", "25,00", "1,25", "1,2500", "0,150", "1.250,50", "1 250", "1_000", "1e3", "nan"]
)
def test_a_number_that_can_be_read_in_two_ways_is_refused(field, text):
    with pytest.raises(ValidationError, match="such as|as in"):
        field.clean(text)


@pytest.mark.parametrize("field", [AmountField(), NumberField(), WholeNumberField()])
@pytest.mark.parametrize(("text", "number"), [("1,250,000", 1250000), (" 25 ", 25), ("-3", -3)])
def test_commas_between_thousands_change_nothing(field, text, number):
    assert field.clean(text) == number


@pytest.mark.parametrize("text", ["1.000", "1.5", "10.0"])
def test_a_whole_number_has_no_point(text):
    with pytest.raises(ValidationError, match="whole number"):
        WholeNumberField().clean(text)


def test_decimals_follow_a_point():
    assert (str(AmountField().clean("0.15")), NumberField().clean("1,250.5")) == ("0.15", 1250.5)


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [(PORT, "65535", 65535), (STORED, str(-(2**63)), -(2**63)), (duration, "0.5", 0.5)],
)
def test_an_option_takes_a_number_within_its_limits(kind, given, value):
    assert kind(given) == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (PORT, "0"),
        (PORT, "65536"),
        (STORED, str(2**63)),
        *((duration, text) for text in ("0", "-1", "nan", "inf", "1e300")),
    ],
)
def test_an_option_refuses_a_number_beyond_its_limits(kind, given):
    with pytest.raises(ArgumentTypeError, match=f"^{re.escape(given)} is not "):
        kind(given)
