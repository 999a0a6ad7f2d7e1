"""A crowd of simulated workers for a campaign of real captions: few who do most, and some careless.

The images are new ones, and each stands for an image with real captions, which the crowd writes.
The careless workers spoil their captions, each with one failure pattern. The crowd remembers which
captions it spoiled, so that a reviewer can be asked for the truth.
"""

import math
import random
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.crowds import SPOILERS, Photo, Scene
from benchmarks.lean_browser import LeanBrowser
from corpora.language.text import normalise

# nocaps (Agrawal et al. 2019, section 3.1): 727 workers with 228 captions each on average.
MEAN_CAPTIONS = 228
# Half of a crowd's workers write at most this many; the median of the distribution.
MEDIAN_CAPTIONS = 20
CARELESS = 0.08
SPOILED = 0.6
# Patterns that the task page accepts, and by whose text the truth is known: a copy of another
# worker's caption is good or bad by its writer.
PATTERNS = (
    "one sentence again",
    "other images",
    "truncated",
    "shuffled",
    "a frame with keywords",
)
LEAST_WORDS = 8


def volumes(workers: int, captions: int, *, most: int, seed: int) -> list[int]:
    """How many captions each worker writes: log-normal, as in crowds where half of the workers
    write few and some write thousands, scaled to the sum. Nobody writes more than `most`."""
    # The mean of a log-normal distribution is its median times exp(sigma² / 2).
    sigma = (2 * math.log(MEAN_CAPTIONS / MEDIAN_CAPTIONS)) ** 0.5
    rng = random.Random(f"{seed}/volumes")
    drawn = [rng.lognormvariate(0, sigma) for _ in range(workers)]
    for _ in range(30):  # What the busiest cannot write goes to the others.
        scale = captions / sum(drawn)
        drawn = [min(float(most), volume * scale) for volume in drawn]
    return [max(1, round(volume)) for volume in drawn]


@dataclass
class Member:
    """A simulated worker, and how many captions are still to come."""

    number: int
    browser: LeanBrowser
    left: int
    pattern: str = ""


class Writers:
    """Writes captions for images by their addresses. Threads can share one."""

    def __init__(self, captions: Mapping[int, Sequence[str]], *, seed: int) -> None:
        self.images = {
            image: [normalise(text) for text in texts if len(text.split()) >= LEAST_WORDS]
            for image, texts in captions.items()
        }
        self.images = {image: texts for image, texts in self.images.items() if texts}
        self.keys = sorted(self.images)
        self.rng = random.Random(f"{seed}/writers")
        self.scene = Scene(self.images, self.rng)
        self.spoiled: set[tuple[str, str]] = set()
        self._written: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def write(self, member: Member, address: str) -> str:
        """A caption for the image at this address, by this worker."""
        text = self.write_well(address)
        if not member.pattern:
            return text
        with self._lock:
            if self.rng.random() >= SPOILED:
                return text
            photo = Photo(member.number, self._image(address), text)
            spoiled = self._long_enough(photo, member.pattern)
            if spoiled != text:
                self.spoiled.add((address, spoiled))
        return spoiled

    def write_well(self, address: str) -> str:
        """A good caption for the image at this address: each real one once, then variations."""
        texts = self.images[self._image(address)]
        with self._lock:
            turn = self._written[address]
            self._written[address] += 1
        text = texts[turn % len(texts)]
        if turn >= len(texts):
            # There are ten real captions, and each image needs eleven and more.
            text = f"The picture shows {text[0].lower()}{text[1:]}"
        return text

    def _image(self, address: str) -> int:
        return self.keys[zlib.crc32(address.encode()) % len(self.keys)]

    def is_bad(self, address: str, text: str) -> bool:
        return (address, text) in self.spoiled

    def _long_enough(self, photo: Photo, pattern: str) -> str:
        """A spoiled caption that the task page accepts, for a page refuses short ones."""
        text = normalise(SPOILERS[pattern](self.scene, photo))
        while len(text.split()) < LEAST_WORDS:
            text = f"{text} {normalise(SPOILERS[pattern](self.scene, photo))}"
        return text


def make_members(
    browsers: Sequence[LeanBrowser], *, captions: int, images: int, seed: int
) -> list[Member]:
    """The crowd's members, who write this many captions together; 8% are careless."""
    count = len(browsers)
    planned = volumes(count, captions, most=max(1, round(images * 0.9)), seed=seed)
    rng = random.Random(f"{seed}/careless")
    careless = rng.sample(range(count), round(count * CARELESS))
    patterns = {number: PATTERNS[place % len(PATTERNS)] for place, number in enumerate(careless)}
    return [
        Member(number, browser, planned[number], patterns.get(number, ""))
        for number, browser in enumerate(browsers)
    ]


@contextmanager
def at_work(loops: Iterable[Callable[[], None]], is_over: threading.Event) -> Iterator[None]:
    """Run each loop in a thread while the block runs, and then set `is_over`, which ends them."""
    threads = [threading.Thread(target=loop) for loop in loops]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
