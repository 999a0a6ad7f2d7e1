"""The demo's two campaigns: captions of images, then links from their words to boxes."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from pathlib import Path

from django.utils import timezone

from annotate.kinds.caption.export import write_captions
from annotate.kinds.correspondence.export import write_correspondences
from annotate.kinds.reading import read_config
from annotate.models import Campaign, Release
from annotate.services.campaigns import create_campaign

CAPTIONS_TOML = """\
# The demonstration's first campaign: nocaps' procedure on drawn scenes.
name = "demo"
preset = "nocaps"
selection = "demo"
seed = {seed}
budget = {budget}

[hit]
reward = 0.10

[review]
share = 0.10
first = 2
approve_after_hours = 0  # simulated workers are paid at once
"""
LINKS_TOML = """\
# The demonstration's second campaign: which word of these captions refers to which box.
name = "demo-words"
preset = "imageclef"
release = "demo"
responses = 15  # three do not outvote their errors, which are in every fifth word
seed = {seed}
budget = {budget}

[correspondence]
images = {images}
captions_per_image = {captions}

[hit]
reward = 0.15
images = 3

[review]
share = 0.10
first = 1
approve_after_hours = 0
"""


@dataclass(frozen=True)
class Part:
    """One campaign of the demo, with its workers and its export.

    `cost` is the price in dollars of the answers to one image or caption. `careless` is the number
    of careless workers; the others get a share `errors` of words wrong.
    """

    name: str
    toml: str
    answers: str
    verb: str
    people: str
    cost: Decimal
    export: Callable[[Release, Path], list[Path]]
    careless: int = 0
    errors: float = 0.0

    def create(self, folder: Path, *, seed: int, images: int, captions: int = 1) -> Campaign:
        """Create the campaign from a campaign file, which stays in the folder."""
        # 1.5 times the cost of the answers, because discarded ones have to be replaced.
        budget = (images * captions * self.cost * Decimal("1.5")).quantize(1, ROUND_UP)
        path = folder / f"{self.name}.toml"
        text = self.toml.format(seed=seed, budget=budget, images=images, captions=captions)
        path.write_text(text, encoding="utf-8")
        return create_campaign(config=read_config(path), endpoint="local", at=timezone.now())


CAPTIONS = Part(
    name="demo",
    toml=CAPTIONS_TOML,
    answers="captions",
    verb="write",
    people="four of the workers are careless",
    cost=11 * Decimal("0.12"),
    export=write_captions,
    careless=4,
)
LINKS = Part(
    name="demo-words",
    toml=LINKS_TOML,
    answers="answers",
    verb="link",
    people="all workers get one word in five wrong",
    cost=5 * Decimal("0.18"),
    export=write_correspondences,
    errors=0.2,
)
