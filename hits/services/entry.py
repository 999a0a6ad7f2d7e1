"""What a worker's first assignment of a campaign asks besides the tasks: to confirm a sentence, and
to count the dots in a picture.

The text of the page does not have the number, so that a program that only reads it does not know
it. A program that looks at pictures does, and one that tries every number finds it.
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

# Fields of the form. By this prefix, the page's script sends them to this site only.
CONFIRMED, DOTS = "behaviour-confirmed", "behaviour-dots"
FEWEST, MOST = 4, 9
CELL, COLUMNS, ROWS = 40, 6, 2  # pixels of a place for a dot; places in the picture


def problems_of(campaign: Campaign, worker_id: str, fields: Mapping[str, str]) -> list[Problem]:
    """What is missing in a first form with these fields."""
    writing, problems = campaign.config.writing, []
    if writing.confirm and not fields.get(CONFIRMED):
        sentence = gettext("Please confirm the sentence at the top of the form.")
        problems.append(Problem("not_confirmed", sentence))
    if writing.question and fields.get(DOTS, "").strip() != str(_number(campaign, worker_id)):
        sentence = gettext("Please count the dots in the picture again.")
        problems.append(Problem("not_counted", sentence))
    return problems


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
    """The number of the worker's dots. It stays, so that any page of theirs takes the answer."""
    digest = salted_hmac("hits.entry", f"{campaign.pk}\n{worker_id}", algorithm="sha256").digest()
    return FEWEST + int.from_bytes(digest) % (MOST - FEWEST + 1)
