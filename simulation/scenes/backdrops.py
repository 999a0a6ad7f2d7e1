"""Backgrounds of scenes: ground, sky and walls."""

import math
import random
from collections.abc import Callable

from PIL import Image, ImageDraw

from simulation.scenes.pen import Colour

Painter = Callable[[Image.Image, random.Random], None]

SKIES: list[tuple[Colour, Colour]] = [
    ((118, 182, 226), (222, 240, 248)),
    ((146, 190, 222), (250, 232, 210)),
    ((250, 176, 120), (254, 228, 178)),
    ((96, 156, 206), (200, 228, 242)),
]
HORIZON = 0.58


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """A colour between two; `share` 0 gives the first, 1 the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def shade(image: Image.Image, top: float, bottom: float, first: Colour, second: Colour) -> None:
    """Fill a band between two fractions of the height with a vertical gradient."""
    draw = ImageDraw.Draw(image)
    start, end = round(top * image.height), round(bottom * image.height)
    for y in range(start, end):
        colour = mixed(first, second, (y - start) / max(1, end - start))
        draw.line([(0, y), (image.width, y)], fill=colour)


def sky(image: Image.Image, rng: random.Random) -> None:
    high, low = rng.choice(SKIES)
    shade(image, 0, HORIZON + 0.02, high, low)
    draw = ImageDraw.Draw(image)
    size, x, y = image.height * 0.05, rng.uniform(0.1, 0.9) * image.width, image.height * 0.13
    for factor, share in ((2.0, 0.75), (1.5, 0.5), (1.0, 0.0)):
        radius, colour = size * factor, mixed((255, 236, 160), low, share)
        if share != 0.75 or rng.random() < 0.8:
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    for _ in range(rng.randint(2, 4)):
        cloud(draw, rng.uniform(0, 1) * image.width, rng.uniform(0.05, 0.35) * image.height, size)


def cloud(draw: ImageDraw.ImageDraw, x: float, y: float, size: float) -> None:
    for across, up, radius in ((0, 0, 0.7), (0.8, 0.35, 0.9), (1.7, 0.1, 0.75), (2.4, 0, 0.5)):
        middle, bottom = x + across * size, y - up * size
        reach = radius * size
        draw.ellipse(
            (middle - reach, bottom - reach, middle + reach, bottom + reach), fill=(252, 252, 252)
        )


def hills(image: Image.Image, rng: random.Random, base: float, height: float, fill: Colour) -> None:
    """Draw hills from the bottom of the image up to `base` minus at most `height` (fractions)."""
    phase, length = rng.uniform(0, 6), rng.uniform(0.5, 0.9) * image.width
    points: list[tuple[float, float]] = [(0, image.height)]
    for x in range(0, image.width + 20, 20):
        wave = 0.5 + 0.35 * math.sin(phase + 6.283 * x / length) + 0.15 * math.sin(x / 90 + phase)
        points.append((x, (base - height * wave) * image.height))
    ImageDraw.Draw(image).polygon([*points, (image.width, image.height)], fill=fill)


def specks(image: Image.Image, rng: random.Random, top: float, fill: Colour, count: int) -> None:
    """Draw short strokes on the ground as texture."""
    draw = ImageDraw.Draw(image)
    for _ in range(count):
        x, y = rng.uniform(0, image.width), rng.uniform(top, 1) * image.height
        length = rng.uniform(4, 14)
        draw.line([(x, y), (x + length, y - length / 4)], fill=fill, width=3)


def meadow(image: Image.Image, rng: random.Random) -> None:
    sky(image, rng)
    hills(image, rng, HORIZON, 0.16, (150, 188, 168))
    hills(image, rng, HORIZON + 0.05, 0.1, (134, 184, 126))
    shade(image, HORIZON + 0.05, 1, (146, 196, 112), (96, 156, 84))
    specks(image, rng, HORIZON + 0.08, (118, 176, 96), 140)


def snow(image: Image.Image, rng: random.Random) -> None:
    shade(image, 0, HORIZON + 0.02, (164, 188, 212), (232, 238, 244))
    hills(image, rng, HORIZON, 0.22, (204, 216, 228))
    hills(image, rng, HORIZON + 0.05, 0.08, (226, 234, 240))
    shade(image, HORIZON + 0.05, 1, (238, 243, 247), (212, 224, 234))
    draw = ImageDraw.Draw(image)
    for _ in range(160):
        x, y = rng.uniform(0, image.width), rng.uniform(0, image.height)
        size = rng.uniform(2, 6)
        draw.ellipse((x, y, x + size, y + size), fill=(255, 255, 255))


def seaside(image: Image.Image, rng: random.Random) -> None:
    sky(image, rng)
    shade(image, 0.5, 0.78, (84, 160, 196), (132, 204, 214))
    specks_between = [(rng.uniform(0, 1), rng.uniform(0.53, 0.72)) for _ in range(40)]
    draw = ImageDraw.Draw(image)
    for x, y in specks_between:
        left, top = x * image.width, y * image.height
        draw.line([(left, top), (left + 40, top)], fill=(176, 222, 228), width=3)
    hills(image, rng, 0.76, 0.04, (250, 250, 244))
    hills(image, rng, 0.775, 0.035, (240, 218, 170))
    shade(image, 0.79, 1, (240, 218, 170), (222, 194, 140))
    specks(image, rng, 0.8, (208, 180, 128), 70)


def street(image: Image.Image, rng: random.Random) -> None:
    sky(image, rng)
    draw, x = ImageDraw.Draw(image), 0.0
    while x < image.width:
        width = rng.uniform(0.12, 0.22) * image.width
        top = rng.uniform(0.16, 0.4) * image.height
        wall = mixed(
            rng.choice([(196, 160, 140), (168, 180, 190), (208, 196, 172)]), (255,) * 3, 0.3
        )
        draw.rectangle((x, top, x + width, 0.7 * image.height), fill=wall)
        _lit_rows(draw, x, top, width, image.height, mixed(wall, (90, 110, 130), 0.35))
        x += width + 2
    shade(image, 0.66, 0.74, (206, 200, 190), (196, 190, 180))
    shade(image, 0.74, 1, (116, 120, 128), (92, 96, 104))
    for left in range(0, image.width, 220):
        y = round(0.87 * image.height)
        draw.rectangle((left, y, left + 110, y + 10), fill=(236, 232, 216))


def _lit_rows(
    draw: ImageDraw.ImageDraw, x: float, top: float, width: float, height: int, fill: Colour
) -> None:
    """Draw the windows of a distant building, which are too small for boxes."""
    step = width / 4
    y = top + step / 2
    while y < 0.6 * height:
        for column in range(3):
            left = x + step * (column + 0.65)
            draw.rectangle((left, y, left + step * 0.45, y + step * 0.55), fill=fill)
        y += step


def room(image: Image.Image, rng: random.Random) -> None:
    wall = rng.choice([(236, 222, 202), (206, 220, 216), (224, 210, 220), (214, 222, 234)])
    shade(image, 0, 0.74, mixed(wall, (255, 255, 255), 0.25), wall)
    shade(image, 0.74, 1, (190, 146, 106), (160, 116, 80))
    draw = ImageDraw.Draw(image)
    draw.rectangle(
        (0, 0.725 * image.height, image.width, 0.745 * image.height), fill=(250, 248, 244)
    )
    for y in (0.8, 0.88, 0.97):
        draw.line([(0, y * image.height), (image.width, y * image.height)], (150, 108, 74), 3)
    rug = rng.choice([(196, 110, 96), (104, 140, 160), (150, 130, 170)])
    box = (0.2 * image.width, 0.84 * image.height, 0.85 * image.width, 0.98 * image.height)
    draw.ellipse(box, fill=rug)
    inner = (0.25 * image.width, 0.86 * image.height, 0.8 * image.width, 0.96 * image.height)
    draw.ellipse(inner, outline=mixed(rug, (255, 255, 255), 0.5), width=6)


def table(image: Image.Image, rng: random.Random) -> None:
    wall = rng.choice([(232, 214, 190), (196, 214, 206), (222, 204, 212), (204, 214, 230)])
    shade(image, 0, 0.6, mixed(wall, (255, 255, 255), 0.35), wall)
    draw, cloth = (
        ImageDraw.Draw(image),
        rng.choice([(250, 248, 240), (214, 232, 236), (248, 228, 214)]),
    )
    tile, line = image.width / 12, mixed(wall, (255, 255, 255), 0.5)
    for number in range(13):
        draw.line([(number * tile, 0), (number * tile, 0.6 * image.height)], line, 3)
        draw.line([(0, number * tile), (image.width, number * tile)], line, 3)
    shade(image, 0.56, 0.93, cloth, mixed(cloth, (150, 130, 110), 0.2))
    shade(image, 0.93, 1, (150, 106, 70), (120, 84, 56))
