"""Failure patterns of the benchmarks: functions that spoil a real caption. Plain Python.

The flags and the risk model were made with the patterns in `KNOWN`. Nothing was tuned on those in
`UNSEEN`. No language model was used: “machine-written” captions are composed of phrases in this
module.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

FUNCTION_WORDS = """
    a an the of in on at to with and or for from by is are was were be being has have its it his
    her their he she they there this that these those some several two three four many one while
    as up down out into onto over under near next front back top behind background wearing
    sitting standing holding looking made
"""
IGNORED = frozenset(FUNCTION_WORDS.split())


@dataclass(frozen=True)
class Photo:
    """A worker, an image, and the good caption that the worker would write for it."""

    worker: int
    image: int
    text: str


class Scene:
    """What a careless worker can use: the images, and the captions written before."""

    def __init__(self, images: Mapping[int, Sequence[str]], rng: random.Random) -> None:
        self.images = images
        self.rng = rng
        self.ids = list(images)
        self._written: dict[int, list[tuple[int, str]]] = defaultdict(list)

    def note(self, photo: Photo, text: str) -> None:
        self._written[photo.image].append((photo.worker, text))

    def things(self, image: int, count: int) -> list[str]:
        """The words that the image's captions name most often."""
        words = Counter(
            word
            for caption in self.images[image]
            # Each word once. Unlike a set's, the order is the same in every process.
            for word in dict.fromkeys(caption.lower().rstrip(".").replace(",", "").split())
            if word not in IGNORED and len(word) > 2
        )
        return [word for word, _ in words.most_common(count)]

    def thing(self, image: int) -> str:
        return (self.things(image, 1) or ["thing"])[0]

    def other_image(self, image: int) -> int:
        other = self.rng.choice(self.ids)
        return other if other != image else self.other_image(image)

    def of_others(self, photo: Photo) -> list[str]:
        return [text for worker, text in self._written[photo.image] if worker != photo.worker]


def list_keywords(scene: Scene, photo: Photo) -> str:
    """Keywords instead of a sentence."""
    things = scene.things(photo.image, scene.rng.randint(3, 6))
    return scene.rng.choice([", ", " ", " and "]).join(things)


def say_the_same(scene: Scene, photo: Photo) -> str:
    """One sentence that fits any image, with small changes."""
    openings = ["This is a {} of {}.", "A {} showing {}.", "A very {} with {} in it."]
    opening = openings[photo.worker % len(openings)]
    noun = scene.rng.choice(["nice picture", "good photo", "beautiful image", "nice photo"])
    what = scene.rng.choice(["some things in a place", "different things", "things in this place"])
    return opening.format(noun, what)


def describe_another(scene: Scene, photo: Photo) -> str:
    """A caption of another image."""
    return scene.rng.choice(scene.images[scene.other_image(photo.image)])


def truncate(scene: Scene, photo: Photo) -> str:
    """The first half of a caption."""
    words = photo.text.split()
    return " ".join(words[: max(2, round(len(words) * scene.rng.uniform(0.3, 0.6)))])


def shuffle(scene: Scene, photo: Photo) -> str:
    """A caption's words in any order."""
    words = photo.text.rstrip(".").split()
    scene.rng.shuffle(words)
    return " ".join(words)


def copy(scene: Scene, photo: Photo) -> str:
    """Another worker's caption of the image, half of the time without one word."""
    others = scene.of_others(photo)
    if not others:
        return describe_another(scene, photo)
    words = scene.rng.choice(others).split()
    if scene.rng.random() < 0.5 and len(words) > 3:
        del words[scene.rng.randrange(len(words))]
    return " ".join(words)


def have_it_written(scene: Scene, photo: Photo) -> str:
    """An ornate caption by a language model that knows the main thing but not the image."""
    thing = scene.thing(photo.image)
    rng = scene.rng
    adjective = rng.choice(["vibrant", "serene", "captivating", "striking", "charming", "lively"])
    verb = rng.choice(["captures", "showcases", "features", "presents", "depicts"])
    close = rng.choice(
        [
            "bathed in soft natural light, creating a warm and inviting atmosphere.",
            "set against a softly blurred background that draws the viewer's attention.",
            "surrounded by rich textures and colors that highlight everyday life.",
            "evoking a sense of calm and quiet contemplation in a familiar setting.",
        ]
    )
    return f"The image {verb} a {adjective} scene with a {thing} at its center, {close}"


def write_plainly(scene: Scene, photo: Photo) -> str:
    """A short sentence by such a model about the main thing, in the style of the crowd."""
    rng = scene.rng
    thing = scene.thing(photo.image)
    where = rng.choice(["on a sunny day", "in the foreground", "outdoors", "in a quiet place"])
    doing = rng.choice(["is clearly visible", "can be seen", "stands out", "is shown up close"])
    return rng.choice([f"A {thing} {doing} {where}.", f"The {thing} {doing} {where}."])


def add_a_thing(scene: Scene, photo: Photo) -> str:
    """A good caption with a thing that is not there."""
    thing = scene.thing(scene.other_image(photo.image))
    return f"{photo.text.rstrip('. ')} next to a {thing}."


def mistake_the_thing(scene: Scene, photo: Photo) -> str:
    """A good caption in which the main thing is another."""
    things = set(scene.things(photo.image, 3))
    other = scene.thing(scene.other_image(photo.image))
    words = [other if word.strip(".,").lower() in things else word for word in photo.text.split()]
    return " ".join(words)


SWAPS = {
    "red": "blue", "blue": "green", "green": "red", "white": "black", "black": "white",
    "yellow": "purple", "brown": "pink", "man": "woman", "woman": "man", "two": "five",
    "three": "two", "boy": "girl", "girl": "boy", "large": "tiny", "small": "huge",
}  # fmt: skip


def swap_details(_scene: Scene, photo: Photo) -> str:
    """A good caption with wrong colours, numbers and sexes."""
    return " ".join(SWAPS.get(word, word) for word in photo.text.split())


def write_in_spanish(scene: Scene, _photo: Photo) -> str:
    """A sentence in a language that was not asked for."""
    what = scene.rng.choice(["una persona", "un animal", "unas cosas", "varios objetos"])
    where = scene.rng.choice(["en la calle", "sobre la mesa", "cerca de la casa", "en el campo"])
    when = scene.rng.choice(["durante el día", "con mucha luz", "en primer plano", "al fondo"])
    return f"En la fotografía se puede ver {what} {where} {when}."


def fill_a_form(scene: Scene, photo: Photo) -> str:
    """Always the same sentence, filled with the image's keywords."""
    first, second = (scene.things(photo.image, 2) + ["thing", "thing"])[:2]
    return f"A picture of {first} together with {second}."


Spoiler = Callable[[Scene, Photo], str]
KNOWN_SPOILERS: dict[str, Spoiler] = {
    "keyword lists": list_keywords,
    "one sentence again": say_the_same,
    "other images": describe_another,
    "truncated": truncate,
    "shuffled": shuffle,
    "copies of others": copy,
}
UNSEEN_SPOILERS: dict[str, Spoiler] = {
    "machine-written, ornate": have_it_written,
    "machine-written, plain": write_plainly,
    "a thing added": add_a_thing,
    "main thing wrong": mistake_the_thing,
    "details wrong": swap_details,
    "another language": write_in_spanish,
    "a frame with keywords": fill_a_form,
}
SPOILERS = KNOWN_SPOILERS | UNSEEN_SPOILERS
KNOWN = list(KNOWN_SPOILERS)
UNSEEN = list(UNSEEN_SPOILERS)
