"""The nocaps domain of an image: whether its classes are among the 80 categories of COCO."""

from collections.abc import Iterable

IN_DOMAIN, NEAR_DOMAIN, OUT_OF_DOMAIN = "in-domain", "near-domain", "out-domain"

# COCO's categories and the Open Images classes with the same meaning, by their names in V4 and, if
# different, in V7. COCO has one category each for people and for balls, Open Images several
# classes.
COCO_CATEGORIES: dict[str, tuple[str, ...]] = {
    "person": ("Person", "Man", "Woman", "Boy", "Girl"),
    "bicycle": ("Bicycle",),
    "car": ("Car",),
    "motorcycle": ("Motorcycle",),
    "airplane": ("Airplane", "Fixed-wing aircraft"),
    "bus": ("Bus",),
    "train": ("Train",),
    "truck": ("Truck",),
    "boat": ("Boat",),
    "traffic light": ("Traffic light",),
    "fire hydrant": ("Fire hydrant",),
    "stop sign": ("Stop sign",),
    "parking meter": ("Parking meter",),
    "bench": ("Bench",),
    "bird": ("Bird",),
    "cat": ("Cat",),
    "dog": ("Dog",),
    "horse": ("Horse",),
    "sheep": ("Sheep",),
    "cow": ("Cattle",),
    "elephant": ("Elephant",),
    "bear": ("Bear",),
    "zebra": ("Zebra",),
    "giraffe": ("Giraffe",),
    "backpack": ("Backpack",),
    "umbrella": ("Umbrella",),
    "handbag": ("Handbag",),
    "tie": ("Tie",),
    "suitcase": ("Suitcase",),
    "frisbee": ("Flying disc",),
    "skis": ("Ski",),
    "snowboard": ("Snowboard",),
    "sports ball": (
        "Ball",
        "Ball (Object)",
        "Cricket ball",
        "Football",
        "Golf ball",
        "Rugby ball",
        "Tennis ball",
        "Volleyball",
        "Volleyball (Ball)",
    ),
    "kite": ("Kite",),
    "baseball bat": ("Baseball bat",),
    "baseball glove": ("Baseball glove",),
    "skateboard": ("Skateboard",),
    "surfboard": ("Surfboard",),
    "tennis racket": ("Tennis racket",),
    "bottle": ("Bottle",),
    "wine glass": ("Wine glass",),
    "cup": ("Coffee cup", "Mug"),
    "fork": ("Fork",),
    "knife": ("Knife",),
    "spoon": ("Spoon",),
    "bowl": ("Bowl",),
    "banana": ("Banana",),
    "apple": ("Apple",),
    "sandwich": ("Sandwich",),
    "orange": ("Orange", "Orange (fruit)"),
    "broccoli": ("Broccoli",),
    "carrot": ("Carrot",),
    "hot dog": ("Hot dog",),
    "pizza": ("Pizza",),
    "donut": ("Doughnut",),
    "cake": ("Cake",),
    "chair": ("Chair",),
    "couch": ("Couch",),
    "potted plant": ("Houseplant",),
    "bed": ("Bed",),
    "dining table": ("Kitchen & dining room table",),
    "toilet": ("Toilet",),
    "tv": ("Television",),
    "laptop": ("Laptop",),
    "mouse": ("Computer mouse",),
    "remote": ("Remote control",),
    "keyboard": ("Computer keyboard",),
    "cell phone": ("Mobile phone",),
    "microwave": ("Microwave oven",),
    "oven": ("Oven",),
    "toaster": ("Toaster",),
    "sink": ("Sink",),
    "refrigerator": ("Refrigerator",),
    "book": ("Book",),
    "clock": ("Clock", "Alarm clock", "Digital clock", "Wall clock"),
    "vase": ("Vase",),
    "scissors": ("Scissors",),
    "teddy bear": ("Teddy bear",),
    "hair drier": ("Hair dryer",),
    "toothbrush": ("Toothbrush",),
}
# The category names themselves are not included: the mouse of Open Images is an animal.
KNOWN_TO_COCO = frozenset(name for names in COCO_CATEGORIES.values() for name in names)


def domain_of(class_names: Iterable[str]) -> str:
    """`in-domain` if COCO has all the classes, `near-domain` if it has some, else `out-domain`.

    The names are those of Open Images classes, without the hidden parts, because COCO has no parts.
    An image without classes is in-domain.
    """
    known = {name in KNOWN_TO_COCO for name in class_names}
    if known == {True, False}:
        return NEAR_DOMAIN
    return OUT_OF_DOMAIN if known == {False} else IN_DOMAIN
