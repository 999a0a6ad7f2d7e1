"""How simulated workers fill in a page that asks for captions."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from simulation.workers.pages import CaptionItem, TaskForm
from simulation.workers.writers import Limits, Sight, Writer


@dataclass(frozen=True)
class Captioner:
    """Writes a caption for each image; `sights` are the images' contents by URL."""

    writer: Writer
    limits: Limits
    sights: Mapping[str, Sight]

    def fill(self, task: TaskForm, rng: random.Random, *, refused: bool) -> dict[str, str]:
        return {
            item.name: self.writer.write(self._sight(item), self.limits, rng, refused=refused)
            for item in task.items
            if isinstance(item, CaptionItem)
        }

    def _sight(self, item: CaptionItem) -> Sight:
        """The contents of the image, or the keywords if the dataset has no boxes for it."""
        seen = self.sights.get(item.image)
        if seen is not None and seen.things:
            return seen
        return Sight(dict.fromkeys(item.keywords, 1))
