"""One drawing function per object class, in coordinates from (0, 0) to (1, 1)."""

import random

from simulation.scenes.drawings_indoors import INDOORS
from simulation.scenes.pen import DARK, WHITE, WOOD, Colour, Drawing, Pen

BRIGHT: list[Colour] = [
    (214, 73, 64),
    (238, 150, 60),
    (246, 200, 82),
    (86, 160, 112),
    (66, 133, 190),
    (120, 96, 170),
    (226, 122, 140),
]
SKIN: list[Colour] = [(246, 214, 184), (224, 172, 128), (176, 122, 84), (122, 80, 54)]
HAIR: list[Colour] = [(50, 38, 34), (104, 70, 44), (196, 150, 84), (150, 74, 44)]
COAT: list[Colour] = [(150, 104, 66), (96, 72, 56), (212, 176, 128), (120, 120, 124)]
GLASS: Colour = (190, 222, 238)


def person(pen: Pen, rng: random.Random, *, skirt: bool = False, long_hair: bool = False) -> None:
    skin, hair = rng.choice(SKIN), rng.choice(HAIR)
    top, bottom = rng.sample(BRIGHT, 2)
    pen.line([(0.38, 0.62), (0.36, 0.96)], bottom, 0.075)
    pen.line([(0.62, 0.62), (0.64, 0.96)], bottom, 0.075)
    if skirt:
        pen.polygon([(0.3, 0.5), (0.7, 0.5), (0.85, 0.76), (0.15, 0.76)], bottom)
    pen.line([(0.3, 0.32), (0.07, 0.54)], skin, 0.05)
    pen.line([(0.7, 0.32), (0.93, rng.choice((0.54, 0.14)))], skin, 0.05)
    pen.box(0.26, 0.25, 0.74, 0.62, top, radius=0.06)
    with pen.mark("Human hair"):
        pen.ellipse(0.27, 0.0, 0.73, 0.2, hair)
        if long_hair:
            pen.box(0.27, 0.08, 0.73, 0.29, hair, radius=0.05)
    with pen.mark("Human face"):
        pen.ellipse(0.31, 0.045, 0.69, 0.245, skin)
    pen.ellipse(0.39, 0.12, 0.45, 0.145, DARK)
    pen.ellipse(0.55, 0.12, 0.61, 0.145, DARK)
    pen.line([(0.43, 0.19), (0.5, 0.2), (0.57, 0.19)], (150, 60, 56), 0.01)


def woman(pen: Pen, rng: random.Random) -> None:
    person(pen, rng, skirt=True, long_hair=True)


def man(pen: Pen, rng: random.Random) -> None:
    person(pen, rng)


def wheel(pen: Pen, x: float, y: float, across: float, down: float) -> None:
    with pen.mark("Wheel"):
        pen.ellipse(x - across, y - down, x + across, y + down, DARK)
        pen.ellipse(x - across / 2, y - down / 2, x + across / 2, y + down / 2, (190, 192, 198))


def car(pen: Pen, rng: random.Random) -> None:
    paint = rng.choice(BRIGHT)
    pen.polygon([(0.2, 0.45), (0.33, 0.04), (0.68, 0.04), (0.84, 0.45)], paint)
    pen.polygon([(0.28, 0.42), (0.37, 0.13), (0.5, 0.13), (0.5, 0.42)], GLASS)
    pen.polygon([(0.54, 0.42), (0.54, 0.13), (0.65, 0.13), (0.75, 0.42)], GLASS)
    pen.box(0.0, 0.4, 1.0, 0.82, paint, radius=0.16)
    pen.ellipse(0.93, 0.48, 0.99, 0.6, (255, 240, 180))
    with pen.mark("Vehicle registration plate"):
        pen.box(0.01, 0.62, 0.1, 0.72, WHITE)
    wheel(pen, 0.23, 0.8, 0.1, 0.2)
    wheel(pen, 0.77, 0.8, 0.1, 0.2)


def bus(pen: Pen, rng: random.Random) -> None:
    paint = rng.choice(BRIGHT)
    pen.box(0.0, 0.0, 1.0, 0.86, paint, radius=0.08)
    for number in range(4):
        left = 0.05 + number * 0.2
        pen.box(left, 0.13, left + 0.16, 0.42, GLASS, radius=0.03)
    pen.box(0.85, 0.13, 0.96, 0.78, GLASS, radius=0.03)
    pen.box(0.0, 0.52, 0.82, 0.58, WHITE)
    with pen.mark("Vehicle registration plate"):
        pen.box(0.02, 0.7, 0.11, 0.77, WHITE)
    wheel(pen, 0.22, 0.85, 0.07, 0.15)
    wheel(pen, 0.72, 0.85, 0.07, 0.15)


def bicycle(pen: Pen, rng: random.Random) -> None:
    paint = rng.choice(BRIGHT)
    for left in (0.0, 0.58):
        with pen.mark("Bicycle wheel"):
            pen.ring(left, 0.3, left + 0.42, 1.0, DARK, 0.05)
    pen.line([(0.21, 0.65), (0.36, 0.25), (0.5, 0.68), (0.21, 0.65)], paint, 0.045)
    pen.line([(0.38, 0.3), (0.72, 0.28), (0.5, 0.68)], paint, 0.045)
    pen.line([(0.79, 0.65), (0.69, 0.1), (0.8, 0.04)], paint, 0.045)
    pen.line([(0.29, 0.2), (0.42, 0.2)], DARK, 0.07)


def four_legs(pen: Pen, coat: Colour) -> None:
    """Draw the body and legs that dogs and sheep share."""
    for x in (0.2, 0.3, 0.62, 0.72):
        pen.line([(x, 0.6), (x, 0.96)], coat, 0.08)
    pen.box(0.12, 0.38, 0.8, 0.72, coat, radius=0.16)


def dog(pen: Pen, rng: random.Random) -> None:
    coat, ear = rng.sample(COAT, 2)
    pen.line([(0.14, 0.46), (0.03, 0.2)], coat, 0.08)
    four_legs(pen, coat)
    pen.ellipse(0.62, 0.06, 0.96, 0.5, coat)
    pen.ellipse(0.8, 0.24, 1.0, 0.46, coat)
    pen.ellipse(0.6, 0.06, 0.74, 0.42, ear)
    pen.ellipse(0.95, 0.27, 1.0, 0.34, DARK)
    pen.ellipse(0.82, 0.17, 0.87, 0.24, DARK)


def sheep(pen: Pen, _rng: random.Random) -> None:
    four_legs(pen, (86, 80, 80))
    for left, top in ((0.06, 0.3), (0.22, 0.18), (0.4, 0.16), (0.54, 0.26), (0.3, 0.38)):
        pen.ellipse(left, top, left + 0.32, top + 0.42, (240, 236, 226))
    pen.ellipse(0.74, 0.14, 1.0, 0.5, (86, 80, 80))
    pen.ellipse(0.76, 0.1, 0.92, 0.28, (240, 236, 226))
    pen.ellipse(0.88, 0.26, 0.92, 0.31, WHITE)


def bird(pen: Pen, rng: random.Random) -> None:
    colour = rng.choice(BRIGHT)
    pen.polygon([(0.0, 0.35), (0.3, 0.5), (0.2, 0.7)], colour)
    pen.ellipse(0.14, 0.36, 0.74, 0.84, colour)
    pen.ellipse(0.56, 0.22, 0.88, 0.6, colour)
    pen.polygon([(0.86, 0.36), (1.0, 0.44), (0.86, 0.5)], (240, 170, 60))
    pen.polygon([(0.28, 0.5), (0.6, 0.5), (0.3, 0.0)], tuple(c * 3 // 4 for c in colour))  # type: ignore[arg-type]
    pen.ellipse(0.71, 0.32, 0.77, 0.4, DARK)
    pen.line([(0.42, 0.82), (0.42, 0.97)], (240, 170, 60), 0.04)
    pen.line([(0.52, 0.82), (0.52, 0.97)], (240, 170, 60), 0.04)


def butterfly(pen: Pen, rng: random.Random) -> None:
    wings, spots = rng.sample(BRIGHT, 2)
    for left, right in ((0.0, 0.5), (0.5, 1.0)):
        pen.ellipse(left, 0.05, right, 0.6, wings)
        pen.ellipse(left + 0.08, 0.5, right - 0.08, 1.0, spots)
        pen.ellipse(left + 0.17, 0.2, right - 0.17, 0.42, WHITE)
    pen.line([(0.5, 0.2), (0.5, 0.85)], DARK, 0.08)
    pen.line([(0.38, 0.03), (0.5, 0.2), (0.62, 0.03)], DARK, 0.03)


def tree(pen: Pen, rng: random.Random) -> None:
    leaves = rng.choice([(74, 140, 84), (98, 158, 84), (58, 122, 92), (206, 140, 62)])
    shade: Colour = (leaves[0] * 6 // 7, leaves[1] * 6 // 7, leaves[2] * 6 // 7)
    pen.polygon([(0.44, 0.5), (0.56, 0.5), (0.6, 1.0), (0.4, 1.0)], WOOD)
    pen.ellipse(0.0, 0.22, 0.58, 0.66, shade)
    pen.ellipse(0.42, 0.22, 1.0, 0.66, shade)
    pen.ellipse(0.16, 0.0, 0.84, 0.52, leaves)


def fir(pen: Pen, _rng: random.Random) -> None:
    pen.box(0.43, 0.8, 0.57, 1.0, WOOD)
    for top, edge in ((0.44, 0.0), (0.22, 0.12), (0.0, 0.24)):
        pen.polygon([(0.5, top), (1 - edge, top + 0.42), (edge, top + 0.42)], (54, 112, 88))
        pen.polygon([(0.5, top), (0.62, top + 0.12), (0.38, top + 0.12)], WHITE)


def palm(pen: Pen, _rng: random.Random) -> None:
    pen.line([(0.4, 0.98), (0.46, 0.6), (0.55, 0.25)], WOOD, 0.06)
    for x, y in ((0.04, 0.3), (0.12, 0.06), (0.5, 0.0), (0.95, 0.06), (0.98, 0.34), (0.3, 0.46)):
        middle = ((0.55 + x) / 2, min(0.22, y) - 0.0)
        pen.polygon([(0.55, 0.2), middle, (x, y), (0.55, 0.3)], (76, 150, 92))
    pen.ellipse(0.48, 0.24, 0.58, 0.32, (120, 80, 50))


def house(pen: Pen, rng: random.Random) -> None:
    wall = rng.choice([(240, 222, 190), (226, 190, 160), (214, 226, 224), (250, 240, 220)])
    pen.box(0.72, 0.04, 0.82, 0.3, (150, 90, 76))
    pen.box(0.08, 0.4, 0.92, 1.0, wall)
    pen.polygon([(0.0, 0.42), (0.5, 0.0), (1.0, 0.42)], rng.choice(BRIGHT[:2] + BRIGHT[4:6]))
    with pen.mark("Door"):
        pen.box(0.42, 0.62, 0.6, 1.0, WOOD)
    pen.ellipse(0.55, 0.8, 0.58, 0.84, (246, 200, 82))
    for left in (0.16, 0.7):
        with pen.mark("Window"):
            pen.box(left, 0.52, left + 0.16, 0.74, WHITE)
            pen.box(left + 0.015, 0.535, left + 0.145, 0.725, GLASS)
        pen.line([(left + 0.08, 0.54), (left + 0.08, 0.72)], WHITE, 0.015)


def flower(pen: Pen, rng: random.Random) -> None:
    petals = rng.choice(BRIGHT)
    pen.line([(0.5, 0.35), (0.5, 0.97)], (86, 140, 80), 0.05)
    pen.polygon([(0.5, 0.85), (0.85, 0.6), (0.7, 0.85)], (86, 140, 80))
    for left, top in ((0.0, 0.13), (0.5, 0.13), (0.25, 0.0), (0.25, 0.27)):
        pen.ellipse(left, top, left + 0.5, top + 0.26, petals)
    pen.ellipse(0.33, 0.18, 0.67, 0.34, (250, 214, 100) if petals != BRIGHT[2] else WOOD)


def ball(pen: Pen, rng: random.Random) -> None:
    first, second = rng.sample(BRIGHT, 2)
    pen.ellipse(0.0, 0.0, 1.0, 1.0, first)
    pen.ellipse(0.3, 0.0, 0.7, 1.0, WHITE)
    pen.ellipse(0.42, 0.0, 0.58, 1.0, second)


def kite(pen: Pen, rng: random.Random) -> None:
    first, second = rng.sample(BRIGHT, 2)
    pen.line([(0.45, 0.6), (0.3, 0.8), (0.5, 0.88), (0.35, 0.98)], DARK, 0.012)
    pen.polygon([(0.5, 0.0), (0.98, 0.28), (0.45, 0.64), (0.02, 0.28)], first)
    pen.polygon([(0.5, 0.0), (0.98, 0.28), (0.48, 0.28)], second)
    pen.polygon([(0.02, 0.28), (0.48, 0.28), (0.45, 0.64)], second)


def balloon(pen: Pen, rng: random.Random) -> None:
    first, second = rng.sample(BRIGHT, 2)
    pen.polygon([(0.06, 0.5), (0.94, 0.5), (0.62, 0.8), (0.38, 0.8)], first)
    pen.ellipse(0.0, 0.0, 1.0, 0.72, first)
    pen.ellipse(0.3, 0.0, 0.7, 0.74, second)
    pen.line([(0.4, 0.78), (0.42, 0.9)], DARK, 0.01)
    pen.line([(0.6, 0.78), (0.58, 0.9)], DARK, 0.01)
    pen.box(0.38, 0.88, 0.62, 1.0, WOOD, radius=0.02)


def airplane(pen: Pen, rng: random.Random) -> None:
    paint = rng.choice(BRIGHT)
    pen.polygon([(0.02, 0.1), (0.12, 0.1), (0.26, 0.45), (0.08, 0.45)], paint)
    pen.polygon([(0.4, 0.36), (0.52, 0.36), (0.5, 0.0), (0.44, 0.0)], (214, 220, 228))
    pen.box(0.03, 0.32, 1.0, 0.64, WHITE, radius=0.16)
    for number in range(6):
        pen.ellipse(0.3 + number * 0.09, 0.4, 0.34 + number * 0.09, 0.5, (90, 130, 170))
    pen.polygon([(0.42, 0.56), (0.6, 0.56), (0.4, 1.0), (0.32, 1.0)], paint)


def boat(pen: Pen, rng: random.Random) -> None:
    hull, sail = rng.sample(BRIGHT, 2)
    pen.line([(0.48, 0.02), (0.48, 0.8)], WOOD, 0.03)
    pen.polygon([(0.52, 0.04), (0.52, 0.68), (0.95, 0.68)], WHITE)
    pen.polygon([(0.45, 0.12), (0.45, 0.68), (0.1, 0.68)], sail)
    pen.polygon([(0.0, 0.76), (1.0, 0.76), (0.84, 1.0), (0.16, 1.0)], hull)


def lighthouse(pen: Pen, rng: random.Random) -> None:
    stripe = rng.choice(BRIGHT[:1] + BRIGHT[4:5])
    pen.polygon([(0.28, 0.2), (0.72, 0.2), (0.95, 1.0), (0.05, 1.0)], WHITE)
    for top in (0.34, 0.62):
        inset = 0.28 - 0.29 * (top - 0.2)
        pen.polygon(
            [
                (inset, top),
                (1 - inset, top),
                (1 - inset + 0.04, top + 0.14),
                (inset - 0.04, top + 0.14),
            ],
            stripe,
        )
    pen.box(0.2, 0.17, 0.8, 0.21, DARK)
    pen.box(0.34, 0.07, 0.66, 0.17, (255, 232, 140))
    pen.polygon([(0.26, 0.08), (0.5, 0.0), (0.74, 0.08)], stripe)


def umbrella(pen: Pen, rng: random.Random) -> None:
    first, second = rng.sample(BRIGHT, 2)
    pen.line([(0.5, 0.1), (0.5, 0.97)], WOOD, 0.03)
    pen.polygon([(0.0, 0.42), (0.14, 0.16), (0.5, 0.0), (0.86, 0.16), (1.0, 0.42)], first)
    pen.polygon([(0.33, 0.42), (0.5, 0.0), (0.67, 0.42)], second)


def bench(pen: Pen, _rng: random.Random) -> None:
    for x in (0.1, 0.9):
        pen.line([(x, 0.1), (x, 0.95)], DARK, 0.07)
    for top in (0.0, 0.22, 0.52):
        pen.box(0.0, top, 1.0, top + 0.15, WOOD, radius=0.04)


def street_light(pen: Pen, _rng: random.Random) -> None:
    pen.line([(0.3, 0.98), (0.3, 0.1), (0.45, 0.04), (0.8, 0.06)], DARK, 0.025)
    pen.box(0.55, 0.05, 1.0, 0.09, (255, 236, 160), radius=0.02)
    pen.box(0.14, 0.94, 0.46, 1.0, DARK)


def traffic_light(pen: Pen, rng: random.Random) -> None:
    pen.box(0.4, 0.4, 0.6, 1.0, DARK)
    pen.box(0.0, 0.0, 1.0, 0.48, DARK, radius=0.04)
    lit = rng.randrange(3)
    colours: list[Colour] = [(226, 70, 60), (244, 190, 70), (90, 190, 110)]
    for number, colour in enumerate(colours):
        top = 0.03 + number * 0.15
        pen.ellipse(0.2, top, 0.8, top + 0.13, colour if number == lit else (86, 84, 84))


def tent(pen: Pen, rng: random.Random) -> None:
    paint = rng.choice(BRIGHT)
    pen.polygon([(0.4, 0.0), (0.8, 0.05), (1.0, 0.95), (0.75, 1.0)], paint)
    pen.polygon([(0.4, 0.0), (0.78, 1.0), (0.0, 1.0)], tuple(c * 5 // 6 for c in paint))  # type: ignore[arg-type]
    pen.polygon([(0.4, 0.3), (0.54, 1.0), (0.26, 1.0)], DARK)


def snowman(pen: Pen, rng: random.Random) -> None:
    pen.line([(0.3, 0.5), (0.04, 0.36)], WOOD, 0.025)
    pen.line([(0.7, 0.5), (0.96, 0.36)], WOOD, 0.025)
    pen.ellipse(0.12, 0.56, 0.88, 1.0, WHITE)
    pen.ellipse(0.22, 0.34, 0.78, 0.68, (242, 244, 248))
    pen.ellipse(0.3, 0.12, 0.7, 0.4, WHITE)
    pen.box(0.3, 0.36, 0.7, 0.41, rng.choice(BRIGHT), radius=0.02)
    pen.box(0.26, 0.12, 0.74, 0.16, DARK)
    pen.box(0.34, 0.0, 0.66, 0.14, DARK)
    pen.ellipse(0.4, 0.2, 0.45, 0.235, DARK)
    pen.ellipse(0.55, 0.2, 0.6, 0.235, DARK)
    pen.polygon([(0.5, 0.25), (0.72, 0.29), (0.5, 0.3)], (238, 140, 60))


OUTDOORS = {
    "Airplane": Drawing(airplane, 2.2, 0.13),
    "Ball": Drawing(ball, 1.0, 0.1),
    "Balloon": Drawing(balloon, 0.8, 0.26),
    "Bench": Drawing(bench, 1.9, 0.15),
    "Bicycle": Drawing(bicycle, 1.65, 0.2),
    "Bird": Drawing(bird, 1.25, 0.09),
    "Boat": Drawing(boat, 1.0, 0.28),
    "Boy": Drawing(man, 0.42, 0.26),
    "Bus": Drawing(bus, 1.9, 0.3),
    "Butterfly": Drawing(butterfly, 1.1, 0.08),
    "Car": Drawing(car, 2.1, 0.17),
    "Dog": Drawing(dog, 1.25, 0.16),
    "Flower": Drawing(flower, 0.55, 0.17),
    "Girl": Drawing(woman, 0.42, 0.26),
    "House": Drawing(house, 1.1, 0.42),
    "Kite": Drawing(kite, 0.75, 0.24),
    "Lighthouse": Drawing(lighthouse, 0.36, 0.5),
    "Man": Drawing(man, 0.4, 0.38),
    "Palm tree": Drawing(palm, 0.8, 0.5),
    "Sheep": Drawing(sheep, 1.25, 0.16),
    "Snowman": Drawing(snowman, 0.62, 0.34),
    "Street light": Drawing(street_light, 0.3, 0.55),
    "Tent": Drawing(tent, 1.4, 0.24),
    "Traffic light": Drawing(traffic_light, 0.28, 0.4),
    "Tree": Drawing(tree, 0.8, 0.46),
    "Umbrella": Drawing(umbrella, 0.9, 0.34),
    "Woman": Drawing(woman, 0.4, 0.37),
}
# In snow, a Tree is drawn as a fir.
FIR = Drawing(fir, 0.62, 0.44)
DRAWINGS = OUTDOORS | INDOORS
