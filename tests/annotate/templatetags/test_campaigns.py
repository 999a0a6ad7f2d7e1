"""Template filters for money and marketplaces."""

from decimal import Decimal

import pytest
from bs4 import BeautifulSoup
from django.template import Context, Template

from annotate.templatetags.campaigns import dollars, endpoint_label, endpoint_tone


@pytest.mark.parametrize(
    ("amount", "text"),
    [(Decimal("1234.5"), "$1,234.50"), (Decimal("0"), "$0.00"), (None, "")],
)
def test_dollars_always_have_cents(amount, text):
    assert dollars(amount) == text


@pytest.mark.parametrize(
    ("endpoint", "label", "tone"),
    [
        ("local", "local", "local"),
        ("production", "production", "production"),
        ("http://lab.example:8001", "lab.example:8001", "local"),
    ],
)
def test_an_endpoint_has_a_label_and_a_tone(endpoint, label, tone):
    assert (endpoint_label(endpoint), endpoint_tone(endpoint)) == (label, tone)


def pieces_of_bar(whole, *amounts):
    names = " ".join(f'"part{index}" {amount}' for index, amount in enumerate(amounts))
    template = Template(f'{{% load parts %}}{{% bar "Money" {whole} {names} %}}')
    svg = BeautifulSoup(template.render(Context()), "html.parser").svg
    return [(float(piece["x"]), float(piece["width"])) for piece in svg.select('[class^="part"]')]


def test_a_bars_parts_stand_one_after_the_other():
    assert pieces_of_bar(200, 50, 100) == [(0, 25), (25, 50)]


def test_a_bars_parts_never_leave_it():
    assert pieces_of_bar(10, 8, 8, 8) == [(0, 80), (80, 20), (100, 0)]


def test_a_bar_of_nothing_is_empty():
    assert pieces_of_bar(0, 0) == [(0, 0)]
