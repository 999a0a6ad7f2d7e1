"""Simulated crowds that write real captions and spoil some of them. Plain Python.

One worker in six is careless, with one failure pattern, and spoils 40% or 90% of their captions (a
worker who is “good at first” spoils that share of the second half). The others slip now and then.
The workers are invented: captions are assigned to them at random.

The flags and the risk model were made with the failure patterns in `KNOWN`. Nothing was tuned on
those in `UNSEEN`. “Machine-written” captions are composed of phrases, not by a language model.
"""

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT

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
    """The material of a careless worker: the images, and the captions written before."""

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


WORKERS = 120
CAPTIONS = 22_500
CARELESS = 1 / 6
SPOILED, MOSTLY_SPOILED = 0.4, 0.9
SLIPS = 0.01
LATE = "good at first"
SOURCES = {
    "nocaps": Path("nocaps/nocaps_val_2250_captions.json"),
    "coco": Path("coco/coco_karpathy_val_gt.json"),
}


@dataclass(frozen=True)
class Written:
    """A caption as a worker wrote it, and whether it is bad."""

    worker: int
    image: int
    text: str
    is_bad: bool


@dataclass(frozen=True)
class Crowd:
    """Captions in the order of writing, and the failure pattern of each careless worker."""

    captions: list[Written]
    patterns: Mapping[int, str]


# A function from the numbers of workers, images and captions to each worker's number of captions.
Law = Callable[[int, int, int], Mapping[int, float]]
# In `mostly_few`: the most captions of the less active half, and those of the busiest worker.
FEW, MOST = 5, 400


def by_rank(workers: int, images: int, captions: int) -> Mapping[int, float]:
    """Proportional to 1/rank, so that a few workers write thousands; at most one per image."""
    total = min(CAPTIONS, captions)
    volumes = {worker: 1 / (worker + 1) for worker in range(workers)}
    for _ in range(10):  # What the busiest cannot write goes to the others.
        scale = total / sum(volumes.values())
        volumes = {worker: min(images * 0.9, v * scale) for worker, v in volumes.items()}
    return volumes


def mostly_few(workers: int, images: int, captions: int) -> Mapping[int, float]:
    """Half of the workers write one to five captions, and a few of the others write hundreds. In a
    real batch of 61 workers, 35 wrote at most five. If there are not enough captions, all numbers
    are reduced in proportion."""
    few = workers // 2
    step = (MOST / (FEW + 1)) ** (1 / max(1, workers - few - 1))
    many = [min(images * 0.9, (FEW + 1) * step**place) for place in range(workers - few)]
    volumes = [*(1.0 + worker % FEW for worker in range(few)), *many]
    share = min(1.0, captions / sum(volumes))
    return {worker: volume * share for worker, volume in enumerate(volumes)}


def shared_data() -> Path:
    """The folder of real captions; raises SystemExit if it is absent."""
    folder = Path(os.environ.get("SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        raise SystemExit(f"{folder} is absent; SHARED_DATA names the folder of real captions.")
    return folder


def read_captions(source: str) -> dict[int, list[str]]:
    """The real captions of each image of `nocaps` or `coco`."""
    content = json.loads((shared_data() / SOURCES[source]).read_text(encoding="utf-8"))
    images: dict[int, list[str]] = defaultdict(list)
    for annotation in content["annotations"]:
        images[annotation["image_id"]].append(annotation["caption"].strip())
    return dict(images)


def gather(
    images: Mapping[int, Sequence[str]],
    *,
    seed: int,
    workers: int = WORKERS,
    patterns: Sequence[str] = (*KNOWN, LATE),
    slips: float = SLIPS,
    law: Law = by_rank,
    spoils: float = SPOILED,
) -> Crowd:
    """A crowd that writes the images' captions; the same seed gives the same crowd.

    Careless workers spoil the share `spoils` of their captions, each with one failure pattern. Good
    workers spoil the share `slips` on average, with any of the known patterns.
    """
    rng = random.Random(seed)
    lines = _assign(images, law, workers, rng)
    careless = _draw_careless(workers, patterns, rng)
    spoiled = _draw_spoiled(lines, careless, spoils, slips, rng)
    scene = Scene(images, rng)
    captions = []
    for number, (worker, image, text) in enumerate(lines):
        photo = Photo(worker, image, text)
        if number in spoiled:
            text = _spoiler(careless.get(worker), rng)(scene, photo)
        scene.note(photo, text)
        captions.append(Written(worker, image, text, number in spoiled))
    return Crowd(captions, careless)


def _assign(
    images: Mapping[int, Sequence[str]], law: Law, workers: int, rng: random.Random
) -> list[tuple[int, int, str]]:
    """(worker, image, caption) in the order of writing; a worker writes one caption per image."""
    texts = {image: list(captions) for image, captions in images.items()}
    images_to_caption = [image for image, captions in texts.items() for _ in captions]
    rng.shuffle(images_to_caption)
    left = dict(law(workers, len(texts), len(images_to_caption)))
    total = round(sum(left.values()))
    done: dict[int, set[int]] = defaultdict(set)
    lines = []
    for image in images_to_caption[:total]:
        free = [worker for worker in left if worker not in done[image]]
        worker = rng.choices(free, [left[worker] + 0.01 for worker in free])[0]
        left[worker] = max(0, left[worker] - 1)
        done[image].add(worker)
        lines.append((worker, image, texts[image].pop(rng.randrange(len(texts[image])))))
    return lines


def _draw_careless(workers: int, patterns: Sequence[str], rng: random.Random) -> dict[int, str]:
    chosen = rng.sample(range(workers), round(workers * CARELESS))
    order = rng.sample(list(patterns), len(patterns))
    return {worker: order[i % len(order)] for i, worker in enumerate(chosen)}


def _draw_spoiled(
    lines: Sequence[tuple[int, int, str]],
    careless: Mapping[int, str],
    spoils: float,
    slips: float,
    rng: random.Random,
) -> set[int]:
    """The indices of the lines to spoil."""
    work: dict[int, list[int]] = defaultdict(list)
    for number, (worker, _, _) in enumerate(lines):
        work[worker].append(number)
    spoiled: set[int] = set()
    for worker, numbers in work.items():
        if worker in careless:
            candidates = numbers[len(numbers) // 2 :] if careless[worker] == LATE else numbers
            spoiled.update(rng.sample(candidates, round(spoils * len(candidates))))
        elif slips:
            # Good workers differ: most hardly ever slip, a few slip much more often.
            own_share = min(rng.expovariate(1 / slips), 0.05)
            spoiled.update(number for number in numbers if rng.random() < own_share)
    return spoiled


def _spoiler(pattern: str | None, rng: random.Random) -> Spoiler:
    if pattern is None or pattern == LATE:
        return SPOILERS[rng.choice(KNOWN)]
    return SPOILERS[pattern]
