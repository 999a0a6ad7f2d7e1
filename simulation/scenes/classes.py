"""The Open Images classes used in scenes, and their hierarchy."""

# Names and labels as in Open Images V4; V7 renamed a few ("Ball (Object)").
LABELS = {
    "Airplane": "/m/0cmf2",
    "Apple": "/m/014j1m",
    "Ball": "/m/018xm",
    "Balloon": "/m/01j51",
    "Banana": "/m/09qck",
    "Bench": "/m/0cvnqh",
    "Bicycle": "/m/0199g",
    "Bicycle wheel": "/m/01bqk0",
    "Bird": "/m/015p6",
    "Boat": "/m/019jd",
    "Book": "/m/0bt_c3",
    "Boy": "/m/01bl7v",
    "Building": "/m/0cgh4",
    "Bus": "/m/01bjv",
    "Butterfly": "/m/0cyf8",
    "Cake": "/m/0fszt",
    "Candle": "/m/0c06p",
    "Car": "/m/0k4j",
    "Cat": "/m/01yrx",
    "Clock": "/m/01x3z",
    "Couch": "/m/02crq1",
    "Dog": "/m/0bt9lr",
    "Door": "/m/02dgv",
    "Flower": "/m/0c9ph5",
    "Girl": "/m/05r655",
    "Guitar": "/m/0342h",
    "House": "/m/03jm5",
    "Houseplant": "/m/03fp41",
    "Human face": "/m/0dzct",
    "Human hair": "/m/03q69",
    "Kite": "/m/02zt3",
    "Lamp": "/m/0dtln",
    "Lighthouse": "/m/04h7h",
    "Man": "/m/04yx4",
    "Mug": "/m/02jvh9",
    "Orange": "/m/0cyhj_",
    "Palm tree": "/m/0cdl1",
    "Picture frame": "/m/06z37_",
    "Plate": "/m/050gv4",
    "Sheep": "/m/07bgp",
    "Snowman": "/m/0152hh",
    "Street light": "/m/033rq4",
    "Television": "/m/07c52",
    "Tent": "/m/01j61q",
    "Traffic light": "/m/015qff",
    "Tree": "/m/07j7r",
    "Umbrella": "/m/0hnnb",
    "Vase": "/m/02s195",
    "Vehicle registration plate": "/m/01jfm_",
    "Wheel": "/m/083wq",
    "Window": "/m/0d4v4",
    "Woman": "/m/03bt1vf",
}
ROOT = "/m/0bl9f"

# Parts of these classes in the real hierarchy. The parts of Building are not hidden from workers
# (see annotate.selection.hierarchy).
PARTS = {
    "Man": ("Human face", "Human hair"),
    "Woman": ("Human face", "Human hair"),
    "Boy": ("Human face", "Human hair"),
    "Girl": ("Human face", "Human hair"),
    "Car": ("Wheel", "Vehicle registration plate"),
    "Bus": ("Wheel", "Vehicle registration plate"),
    "Bicycle": ("Bicycle wheel",),
}
UNDER_BUILDING = ("House", "Lighthouse")
PARTS_OF_BUILDING = ("Window", "Door", "Television", "Guitar")
HIDDEN = frozenset(part for parts in PARTS.values() for part in parts)


def hierarchy() -> dict[str, object]:
    """The hierarchy in the format of the official JSON file."""
    beneath = HIDDEN | {*UNDER_BUILDING, *PARTS_OF_BUILDING, "Building"}
    top = [_node(name) for name in LABELS if name not in beneath]
    building = {
        "LabelName": LABELS["Building"],
        "Subcategory": [_node(name) for name in UNDER_BUILDING],
        "Part": [_node(name) for name in PARTS_OF_BUILDING],
    }
    return {"LabelName": ROOT, "Subcategory": [*top, building]}


def _node(name: str) -> dict[str, object]:
    node: dict[str, object] = {"LabelName": LABELS[name]}
    if name in PARTS:
        node["Part"] = [{"LabelName": LABELS[part]} for part in PARTS[name]]
    return node
