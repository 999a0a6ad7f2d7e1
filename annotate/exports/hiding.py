"""Which images of a release have hidden captions: those of some splits, or a random share."""

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.errors import DomainError
from annotate.models import Task

# As Release.hidden has it: {"splits": […]}, or {"share": …, "seed": …}.
Rule = Mapping[str, Any]


class HidingRefused(DomainError):
    """The captions cannot be hidden in this way."""


def rule_of(*, splits: Sequence[str] = (), share: float | None = None) -> dict[str, Any] | None:
    """The rule that a person asks for, without a seed; None to hide nothing.

    Raises HidingRefused.
    """
    if splits and share is not None:
        raise HidingRefused("Hide captions by split or by a share, not both.")
    if splits:
        return {"splits": sorted(set(splits))}
    if share is None:
        return None
    if not 0 < share <= 1:
        raise HidingRefused("The share of images with hidden captions must be above 0 and up to 1.")
    return {"share": share}


def hidden_images(rule: Rule | None, tasks: Iterable[Task]) -> set[int]:
    """Primary keys of the images whose captions are hidden; raises HidingRefused.

    A share is drawn from the images in the order of the tasks.
    """
    if rule is None:
        return set()
    images = {task.image_id: task.image.split for task in tasks}
    hidden = _in_splits if "splits" in rule else _share
    return hidden(rule, images)


def _in_splits(rule: Rule, images: Mapping[int, str]) -> set[int]:
    splits = set(images.values())
    if unknown := sorted(set(rule["splits"]) - splits):
        raise HidingRefused(
            f"The release has no image of the split {', '.join(unknown)}. Its splits are "
            f"{', '.join(sorted(splits))}."
        )
    return {image for image, split in images.items() if split in rule["splits"]}


def _share(rule: Rule, images: Mapping[int, str]) -> set[int]:
    count = round(rule["share"] * len(images))
    if count == 0:
        raise HidingRefused(
            f"A share of {rule['share']:g} of {len(images)} images is less than one image."
        )
    return set(random.Random(f"{rule['seed']}/hidden").sample([*images], count))
