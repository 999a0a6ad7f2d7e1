"""Generate the demo's images, import them and select a part of them."""

from io import StringIO

from django.core.management import call_command
from tqdm import tqdm

from simulation.scenes.dataset import Dataset, draw_dataset
from simulation.stages.clock import Clock


def draw_and_select(dataset: Dataset, clock: Clock, *, name: str, images: int, seed: int) -> None:
    """Generate about twice as many scenes as needed, and select this number of images."""
    drawn = images * 2 + 6
    with clock("Draw scenes") as notes:
        scenes = draw_dataset(dataset, count=drawn, seed=seed, split=name)
        boxes = sum(tqdm(scenes, total=drawn, disable=None, leave=False))
        notes.append(f"{drawn} images, {boxes} boxes")
    with clock("Import them") as notes:
        call_command(
            "import_openimages",
            classes=dataset.classes,
            hierarchy=dataset.hierarchy,
            images=dataset.images,
            boxes=dataset.boxes,
            files=dataset.files,
            split=name,
            stdout=StringIO(),
        )
        notes.append("classes, hierarchy, images, boxes and files in Open Images' form")
    with clock("Select images") as notes:
        options = {"split": name, "count": images, "name": name, "seed": seed}
        call_command("select_images", **options, stdout=StringIO())
        notes.append(f"{images} of {drawn}, as nocaps did")
