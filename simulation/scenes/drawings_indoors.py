"""Drawing functions for objects in rooms and on tables; see `drawings`."""

import random

from simulation.scenes.pen import DARK, WHITE, WOOD, Colour, Drawing, Pen

CLOTH: list[Colour] = [
    (196, 88, 74),
    (222, 160, 84),
    (104, 152, 122),
    (84, 124, 168),
    (132, 108, 160),
    (206, 132, 140),
]
LEAF: Colour = (82, 146, 92)


def apple(pen: Pen, rng: random.Random) -> None:
    skin = rng.choice([(204, 60, 54), (150, 180, 74), (214, 96, 60)])
    pen.line([(0.5, 0.22), (0.56, 0.04)], WOOD, 0.06)
    pen.ellipse(0.55, 0.0, 0.86, 0.18, LEAF)
    pen.ellipse(0.0, 0.16, 0.62, 0.98, skin)
    pen.ellipse(0.38, 0.16, 1.0, 0.98, skin)
    pen.ellipse(0.18, 0.3, 0.34, 0.5, WHITE)


def orange(pen: Pen, _rng: random.Random) -> None:
    pen.ellipse(0.0, 0.0, 1.0, 1.0, (240, 150, 50))
    pen.ellipse(0.2, 0.16, 0.42, 0.38, (250, 190, 110))
    pen.ellipse(0.46, 0.05, 0.56, 0.14, LEAF)


def banana(pen: Pen, _rng: random.Random) -> None:
    pen.line([(0.1, 0.12), (0.16, 0.52), (0.42, 0.78), (0.85, 0.74)], (244, 206, 78), 0.34)
    pen.line([(0.06, 0.08), (0.1, 0.2)], WOOD, 0.1)
    pen.line([(0.92, 0.72), (0.96, 0.7)], WOOD, 0.1)


def cake(pen: Pen, rng: random.Random) -> None:
    icing = rng.choice(CLOTH)
    for x in (0.3, 0.5, 0.7):
        pen.line([(x, 0.08), (x, 0.4)], WHITE, 0.04)
        pen.ellipse(x - 0.025, 0.0, x + 0.025, 0.1, (250, 180, 60))
    pen.box(0.06, 0.36, 0.94, 0.92, (232, 196, 146), radius=0.06)
    pen.box(0.06, 0.36, 0.94, 0.58, icing, radius=0.06)
    for number in range(5):
        left = 0.08 + number * 0.172
        pen.ellipse(left, 0.48, left + 0.15, 0.68, icing)
    pen.box(0.0, 0.9, 1.0, 1.0, WHITE, radius=0.04)


def mug(pen: Pen, rng: random.Random) -> None:
    paint = rng.choice(CLOTH)
    pen.ring(0.58, 0.2, 1.0, 0.74, paint, 0.1)
    pen.box(0.0, 0.06, 0.78, 1.0, paint, radius=0.12)
    pen.ellipse(0.0, 0.0, 0.78, 0.18, (96, 64, 46))


def plate(pen: Pen, _rng: random.Random) -> None:
    pen.ellipse(0.0, 0.0, 1.0, 1.0, WHITE)
    pen.ellipse(0.14, 0.16, 0.86, 0.8, (226, 232, 236))


def candle(pen: Pen, rng: random.Random) -> None:
    pen.ellipse(0.34, 0.0, 0.66, 0.24, (250, 190, 70))
    pen.line([(0.5, 0.18), (0.5, 0.28)], DARK, 0.02)
    pen.box(0.18, 0.26, 0.82, 0.94, rng.choice([WHITE, *CLOTH]), radius=0.03)
    pen.box(0.0, 0.92, 1.0, 1.0, (190, 170, 110), radius=0.03)


def vase(pen: Pen, rng: random.Random) -> None:
    paint = rng.choice(CLOTH)
    with pen.mark("Flower"):
        for x, y in ((0.16, 0.12), (0.5, 0.02), (0.82, 0.14), (0.34, 0.2), (0.66, 0.2)):
            pen.line([(0.5, 0.5), (x, y + 0.06)], LEAF, 0.02)
            pen.ellipse(x - 0.14, y - 0.02, x + 0.14, y + 0.14, rng.choice(CLOTH))
            pen.ellipse(x - 0.05, y + 0.03, x + 0.05, y + 0.09, (250, 220, 120))
    pen.box(0.34, 0.46, 0.66, 0.62, paint)
    pen.ellipse(0.16, 0.54, 0.84, 1.0, paint)
    pen.box(0.28, 0.44, 0.72, 0.48, WHITE, radius=0.01)


def book(pen: Pen, rng: random.Random) -> None:
    for number, top in enumerate((0.0, 0.52)):
        shift = 0.06 * number
        pen.box(shift, top, 0.94 + shift, top + 0.48, rng.choice(CLOTH), radius=0.06)
        pen.box(0.1 + shift, top + 0.12, 0.94 + shift, top + 0.36, WHITE)


def couch(pen: Pen, rng: random.Random) -> None:
    cloth = rng.choice(CLOTH)
    light: Colour = (cloth[0] + 24, cloth[1] + 24, cloth[2] + 24)
    pen.box(0.08, 0.86, 0.14, 1.0, WOOD)
    pen.box(0.86, 0.86, 0.92, 1.0, WOOD)
    pen.box(0.06, 0.0, 0.94, 0.7, cloth, radius=0.12)
    pen.box(0.12, 0.46, 0.5, 0.74, light, radius=0.06)
    pen.box(0.5, 0.46, 0.88, 0.74, light, radius=0.06)
    pen.box(0.04, 0.7, 0.96, 0.9, cloth, radius=0.05)
    pen.box(0.0, 0.34, 0.13, 0.9, cloth, radius=0.08)
    pen.box(0.87, 0.34, 1.0, 0.9, cloth, radius=0.08)


def lamp(pen: Pen, _rng: random.Random) -> None:
    pen.line([(0.5, 0.25), (0.5, 0.96)], DARK, 0.02)
    pen.box(0.2, 0.95, 0.8, 1.0, DARK, radius=0.02)
    pen.polygon([(0.26, 0.0), (0.74, 0.0), (1.0, 0.3), (0.0, 0.3)], (250, 220, 140))


def television(pen: Pen, _rng: random.Random) -> None:
    pen.box(0.4, 0.84, 0.6, 0.97, DARK)
    pen.box(0.24, 0.94, 0.76, 1.0, DARK)
    pen.box(0.0, 0.0, 1.0, 0.88, DARK, radius=0.04)
    pen.box(0.04, 0.06, 0.96, 0.82, (120, 180, 214))
    pen.polygon([(0.04, 0.82), (0.3, 0.4), (0.5, 0.66), (0.66, 0.5), (0.96, 0.82)], LEAF)


def picture(pen: Pen, _rng: random.Random) -> None:
    pen.box(0.0, 0.0, 1.0, 1.0, (178, 134, 76))
    pen.box(0.08, 0.1, 0.92, 0.9, (240, 232, 214))
    pen.polygon([(0.12, 0.82), (0.4, 0.36), (0.58, 0.6), (0.7, 0.46), (0.88, 0.82)], CLOTH[3])
    pen.ellipse(0.64, 0.18, 0.8, 0.36, CLOTH[1])


def clock(pen: Pen, rng: random.Random) -> None:
    pen.ellipse(0.0, 0.0, 1.0, 1.0, rng.choice(CLOTH))
    pen.ellipse(0.1, 0.1, 0.9, 0.9, WHITE)
    pen.line([(0.5, 0.5), (0.5, 0.2)], DARK, 0.05)
    pen.line([(0.5, 0.5), (0.72, 0.6)], DARK, 0.05)


def window(pen: Pen, _rng: random.Random) -> None:
    pen.box(0.0, 0.0, 1.0, 1.0, WHITE)
    for left in (0.06, 0.53):
        pen.box(left, 0.06, left + 0.41, 0.94, (176, 214, 236))
        pen.ellipse(left + 0.08, 0.2, left + 0.34, 0.34, WHITE)


def houseplant(pen: Pen, _rng: random.Random) -> None:
    for x, y in ((0.04, 0.24), (0.26, 0.02), (0.52, 0.0), (0.78, 0.05), (0.98, 0.28)):
        pen.polygon([(0.46, 0.7), ((0.3 + x) / 2, 0.3), (x, y), (0.56, 0.7)], LEAF)
    pen.polygon([(0.22, 0.66), (0.78, 0.66), (0.68, 1.0), (0.32, 1.0)], (190, 112, 76))


def guitar(pen: Pen, rng: random.Random) -> None:
    body = rng.choice([(196, 126, 62), (150, 70, 50), (222, 170, 100)])
    pen.line([(0.5, 0.06), (0.5, 0.6)], (74, 52, 42), 0.045)
    pen.box(0.38, 0.0, 0.62, 0.08, DARK, radius=0.01)
    pen.ellipse(0.14, 0.44, 0.86, 0.74, body)
    pen.ellipse(0.0, 0.62, 1.0, 1.0, body)
    pen.ellipse(0.34, 0.62, 0.66, 0.76, (74, 52, 42))
    pen.line([(0.5, 0.08), (0.5, 0.88)], WHITE, 0.008)


def cat(pen: Pen, rng: random.Random) -> None:
    coat = rng.choice([(222, 150, 84), (110, 108, 112), (70, 62, 60), (206, 186, 160)])
    pen.line([(0.74, 0.84), (0.94, 0.7), (0.9, 0.42)], coat, 0.08)
    pen.ellipse(0.14, 0.4, 0.84, 1.0, coat)
    pen.polygon([(0.14, 0.02), (0.34, 0.14), (0.16, 0.3)], coat)
    pen.polygon([(0.7, 0.02), (0.5, 0.14), (0.68, 0.3)], coat)
    pen.ellipse(0.1, 0.1, 0.74, 0.54, coat)
    for x in (0.28, 0.5):
        pen.ellipse(x, 0.24, x + 0.09, 0.33, (240, 220, 110))
        pen.ellipse(x + 0.03, 0.25, x + 0.06, 0.32, DARK)
    pen.polygon([(0.38, 0.38), (0.48, 0.38), (0.43, 0.43)], (206, 120, 120))


INDOORS = {
    "Apple": Drawing(apple, 0.95, 0.14),
    "Banana": Drawing(banana, 1.5, 0.13),
    "Book": Drawing(book, 1.7, 0.13),
    "Cake": Drawing(cake, 1.15, 0.3),
    "Candle": Drawing(candle, 0.4, 0.24),
    "Cat": Drawing(cat, 0.9, 0.22),
    "Clock": Drawing(clock, 1.0, 0.15),
    "Couch": Drawing(couch, 2.1, 0.34),
    "Guitar": Drawing(guitar, 0.38, 0.4),
    "Houseplant": Drawing(houseplant, 0.7, 0.32),
    "Lamp": Drawing(lamp, 0.42, 0.5),
    "Mug": Drawing(mug, 1.0, 0.16),
    "Orange": Drawing(orange, 1.0, 0.13),
    "Picture frame": Drawing(picture, 1.25, 0.2),
    "Plate": Drawing(plate, 3.2, 0.09),
    "Television": Drawing(television, 1.5, 0.28),
    "Vase": Drawing(vase, 0.62, 0.4),
    "Window": Drawing(window, 0.95, 0.3),
}
