"""Generate scenes whose classes and boxes are known exactly."""

import random
from dataclasses import dataclass, field

from PIL import Image, ImageDraw

from simulation.scenes import backdrops
from simulation.scenes.drawings import DRAWINGS, FIR
from simulation.scenes.pen import Drawing, Pen, Rect

SIZES = [(640, 480), (640, 480), (640, 427), (600, 480)]
# Scenes are drawn at twice their size and shrunk, which makes edges smooth.
SCALE = 2


@dataclass(frozen=True)
class Layer:
    """Classes whose objects stand in one horizontal strip of the image.

    The lower edges of the objects are between `top` and `bottom`, fractions of the image's height.
    """

    names: tuple[str, ...]
    top: float
    bottom: float
    scale: float = 1.0
    floats: bool = False  # has no shadow on the ground


@dataclass(frozen=True)
class Setting:
    name: str
    backdrop: backdrops.Painter
    layers: tuple[Layer, ...]


PEOPLE = ("Man", "Woman", "Boy", "Girl")
SETTINGS = (
    Setting(
        "meadow",
        backdrops.meadow,
        (
            Layer(("Balloon", "Kite", "Airplane", "Bird"), 0.18, 0.4, 1.0, floats=True),
            Layer(("Tree", "House", "Tent"), 0.62, 0.7),
            Layer(("Sheep", "Dog", "Bicycle", *PEOPLE, "Bench"), 0.76, 0.9),
            Layer(("Flower", "Ball", "Butterfly"), 0.92, 0.98),
        ),
    ),
    Setting(
        "street",
        backdrops.street,
        (
            Layer(("Airplane", "Bird", "Balloon"), 0.16, 0.3, 0.8, floats=True),
            Layer(("Tree", "Street light", "Traffic light", "Bench"), 0.7, 0.74),
            Layer(("Bicycle", *PEOPLE, "Dog"), 0.77, 0.84),
            Layer(("Car", "Bus"), 0.9, 0.98, 1.1),
        ),
    ),
    Setting(
        "seaside",
        backdrops.seaside,
        (
            Layer(("Kite", "Bird", "Airplane", "Balloon"), 0.18, 0.36, floats=True),
            Layer(("Boat", "Lighthouse"), 0.6, 0.7, floats=True),
            Layer(("Palm tree", "Umbrella"), 0.84, 0.88),
            Layer((*PEOPLE, "Dog", "Ball"), 0.9, 0.98),
        ),
    ),
    Setting(
        "snow",
        backdrops.snow,
        (
            Layer(("Bird",), 0.2, 0.36, floats=True),
            Layer(("Tree", "House"), 0.64, 0.72),
            Layer(("Snowman", *PEOPLE, "Dog", "Bench", "Street light"), 0.8, 0.96),
        ),
    ),
    Setting(
        "room",
        backdrops.room,
        (
            Layer(("Picture frame", "Window", "Clock"), 0.28, 0.4, floats=True),
            Layer(("Couch", "Lamp", "Houseplant", "Guitar", "Television"), 0.78, 0.82),
            Layer(("Cat", "Dog", *PEOPLE, "Ball", "Book"), 0.88, 0.97),
        ),
    ),
    Setting(
        "table",
        backdrops.table,
        (
            Layer(("Clock", "Picture frame", "Window"), 0.26, 0.34, floats=True),
            Layer(("Vase", "Cake", "Candle", "Houseplant"), 0.64, 0.7),
            Layer(("Mug", "Plate", "Apple", "Orange", "Banana", "Book"), 0.76, 0.9),
        ),
    ),
)
# Classes drawn as a group in one box, with the number of objects.
IN_GROUPS = {"Bird": 5, "Flower": 6, "Sheep": 4, "Apple": 4, "Orange": 4, "Candle": 3}


@dataclass(frozen=True)
class Box:
    """A box of a scene; edges are fractions of the image's width and height."""

    name: str
    left: float
    top: float
    right: float
    bottom: float
    is_group: bool = False
    is_occluded: bool = False


@dataclass(frozen=True)
class Scene:
    setting: str
    image: Image.Image
    boxes: list[Box]


@dataclass
class _Placed:
    name: str
    rect: Rect
    is_group: bool = False
    marks: list[tuple[str, Rect]] = field(default_factory=list)


def draw_scene(rng: random.Random) -> Scene:
    """Generate a scene with one to nine classes, without counting parts."""
    setting = rng.choice(SETTINGS)
    width, height = rng.choice(SIZES)
    surface = Image.new("RGB", (width * SCALE, height * SCALE))
    setting.backdrop(surface, rng)
    wanted = _chosen_names(setting, rng)
    placed: list[_Placed] = []
    for layer in setting.layers:
        for name in layer.names:
            if name in wanted:
                placed += _add(surface, layer, name, placed, rng, in_snow=setting.name == "snow")
    image = surface.resize((width, height), Image.Resampling.LANCZOS)
    return Scene(setting.name, image, _boxes(placed, surface.width, surface.height))


def _chosen_names(setting: Setting, rng: random.Random) -> set[str]:
    """The classes to draw: few or many, and at least one on the ground."""
    names = [name for layer in setting.layers for name in layer.names]
    on_the_ground = rng.choice(setting.layers[-1].names + setting.layers[-2].names)
    return {on_the_ground, *rng.sample(names, rng.choice((0, 1, 2, 3, 4, 4, 5, 5, 6, 7, 8)))}


def _add(
    surface: Image.Image,
    layer: Layer,
    name: str,
    placed: list[_Placed],
    rng: random.Random,
    *,
    in_snow: bool,
) -> list[_Placed]:
    """Draw one to three objects of a class, or a group of them, if there is space."""
    drawing = FIR if in_snow and name == "Tree" else DRAWINGS[name]
    if name in IN_GROUPS and rng.random() < 0.25:
        frame = _free_frame(surface, layer, drawing, placed, rng, spread=2.2)
        return [_group(surface, frame, name, drawing, rng)] if frame else []
    added: list[_Placed] = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3)) if drawing.height < 0.4 else 1):
        frame = _free_frame(surface, layer, drawing, [*placed, *added], rng)
        if frame is not None:
            added.append(_thing(surface, frame, layer, name, drawing, rng))
    return added


def _free_frame(
    surface: Image.Image,
    layer: Layer,
    drawing: Drawing,
    placed: list[_Placed],
    rng: random.Random,
    *,
    spread: float = 1.0,
) -> Rect | None:
    """A frame in the layer that hides little of the existing objects; None if none was found."""
    for _ in range(40):
        height = drawing.height * layer.scale * rng.uniform(0.85, 1.2) * surface.height
        width = height * drawing.aspect * spread
        bottom = rng.uniform(layer.top, layer.bottom) * surface.height
        if bottom - height < 4 or width > 0.9 * surface.width:
            continue
        left = rng.uniform(0.02 * surface.width, 0.98 * surface.width - width)
        frame = Rect(left, bottom - height, left + width, bottom)
        if all(frame.overlap(p.rect) < 0.12 and p.rect.overlap(frame) < 0.16 for p in placed):
            return frame
    return None


def _thing(
    surface: Image.Image,
    frame: Rect,
    layer: Layer,
    name: str,
    drawing: Drawing,
    rng: random.Random,
) -> _Placed:
    draw = ImageDraw.Draw(surface, "RGBA")
    if not layer.floats:
        depth = (frame.right - frame.left) * 0.05
        draw.ellipse(
            (frame.left, frame.bottom - depth, frame.right, frame.bottom + depth),
            fill=(0, 0, 0, 40),
        )
    pen = Pen(draw, frame, mirrored=rng.random() < 0.5)
    drawing.draw(pen, rng)
    return _Placed(name, pen.extent or frame, marks=pen.marks)


def _group(
    surface: Image.Image, frame: Rect, name: str, drawing: Drawing, rng: random.Random
) -> _Placed:
    """Draw several small objects of a class next to each other, in one box."""
    draw, count, extent = ImageDraw.Draw(surface, "RGBA"), IN_GROUPS[name], None
    height = (frame.bottom - frame.top) * 0.75
    width = height * drawing.aspect
    step = (frame.right - frame.left - width) / (count - 1)
    for number in range(count):
        left = frame.left + number * step
        bottom = frame.bottom - rng.uniform(0, 0.25) * (frame.bottom - frame.top)
        pen = Pen(draw, Rect(left, bottom - height, left + width, bottom))
        drawing.draw(pen, rng)
        if pen.extent is not None:
            extent = pen.extent.joined(extent) if extent else pen.extent
    return _Placed(name, extent or frame, is_group=True)


def _boxes(placed: list[_Placed], width: int, height: int) -> list[Box]:
    boxes = []
    for index, thing in enumerate(placed):
        over = [later.rect for later in placed[index + 1 :]]
        hidden = any(thing.rect.overlap(rect) > 0.02 for rect in over)
        boxes.append(_box(thing.name, thing.rect, width, height, thing.is_group, hidden))
        boxes += [
            _box(part, rect, width, height, False, any(rect.overlap(r) > 0.02 for r in over))
            for part, rect in thing.marks
        ]
    return boxes


def _box(name: str, rect: Rect, width: int, height: int, is_group: bool, is_occluded: bool) -> Box:
    return Box(
        name,
        max(0.0, rect.left / width),
        max(0.0, rect.top / height),
        min(1.0, rect.right / width),
        min(1.0, rect.bottom / height),
        is_group,
        is_occluded,
    )
