"""What simulated workers see in images: the objects in the dataset."""

from collections import defaultdict

from annotate.images.copies import display_url
from annotate.models import Box, Campaign
from annotate.queries.keywords import hidden_class_numbers
from simulation.workers.writers import Sight

# Number of objects that a box around a group stands for.
GROUP = 6


def sights_of(campaign: Campaign) -> dict[int, Sight]:
    """The contents of each of a campaign's images by primary key, without parts of objects."""
    things: dict[int, dict[str, int]] = defaultdict(dict)
    hidden = hidden_class_numbers()
    rows = (
        Box.objects.verified()
        .filter(image__tasks__campaign=campaign)
        .values_list("image_id", "object_class_id", "object_class__name", "is_group")
    )
    for image, object_class, name, is_group in rows.iterator():
        if object_class not in hidden:
            things[image][name] = things[image].get(name, 0) + (GROUP if is_group else 1)
    images = campaign.tasks.values_list("image_id", flat=True)
    return {image: Sight(things.get(image, {})) for image in images}


def sights_by_address(campaign: Campaign) -> dict[str, Sight]:
    """The contents of each image by the URL that the task page uses."""
    sights = sights_of(campaign)
    tasks = campaign.tasks.select_related("image")
    return {display_url(task.image): sights[task.image_id] for task in tasks}
