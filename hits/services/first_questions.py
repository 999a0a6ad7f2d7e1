"""Two questions before a worker's first task in a campaign: confirm a sentence, and count the dots
in a picture.

A program that reads only the page's text cannot know the number. One that looks at pictures, or
tries every number, can.
"""

import random
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO
from itertools import product

import PIL.Image
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from PIL import ImageDraw

from annotate.models import Campaign
from corpora.language.text import Problem

# Fields of the form. Because of the prefix, the page's script sends them to this site only.
CONFIRMED, DOTS = "behaviour-confirmed", "behaviour-dots"
FEWEST, MOST = 4, 9
CELL, COLUMNS, ROWS = 40, 6, 2  # pixels of a place for a dot; places in the picture


def problems_of(campaign: Campaign, worker_id: str, fields: Mapping[str, str]) -> list[Problem]:
    """The problems of these fields in a worker's first form."""
    writing, problems = campaign.config.writing, []
    if writing.confirm and not fields.get(CONFIRMED):
        sentence = gettext("Please confirm the sentence at the top of the form.")
        problems.append(Problem("not_confirmed", sentence))
    if writing.question and not _is_counted(campaign, worker_id, fields.get(DOTS, "")):
        sentence = gettext("Please count the dots in the picture again.")
        problems.append(Problem("not_counted", sentence))
    return problems


def _is_counted(campaign: Campaign, worker_id: str, typed: str) -> bool:
    """Whether this is the number of dots, in the digits of any script."""
    digits = typed.strip()
    return len(digits) == 1 and digits.isdecimal() and int(digits) == _number(campaign, worker_id)


def picture(campaign: Campaign, worker_id: str) -> str:
    """The picture of the worker's dots, as the `data:` address of a PNG file."""
    drawn = PIL.Image.new("RGB", (CELL * COLUMNS, CELL * ROWS), "white")
    draw, chance = ImageDraw.Draw(drawn), random.SystemRandom()
    places = chance.sample([*product(range(COLUMNS), range(ROWS))], _number(campaign, worker_id))
    for column, row in places:
        radius = chance.randint(6, 11)
        x, y = (CELL * place + chance.randint(14, CELL - 14) for place in (column, row))
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), "#1f5fbf")
    content = BytesIO()
    drawn.save(content, "PNG")
    return f"data:image/png;base64,{b64encode(content.getvalue()).decode()}"


def _number(campaign: Campaign, worker_id: str) -> int:
    """The number of the worker's dots. It never changes, so that each of the worker's pages takes
    the answer."""
    digest = salted_hmac("hits.entry", f"{campaign.pk}\n{worker_id}", algorithm="sha256").digest()
    return FEWEST + int.from_bytes(digest) % (MOST - FEWEST + 1)
