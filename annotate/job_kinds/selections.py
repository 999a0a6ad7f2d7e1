"""Select images by the procedure of nocaps, which takes minutes with a large split."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotate.jobs.registry import JobKind, register
from annotate.jobs.work import Result, Work
from annotate.services import selections


def select_images(work: Work) -> Result:
    options = {**work.arguments, "team": work.job.team}
    url = reverse("images:selection", args=[options["name"]])
    if selections.find_selection(**options):
        return Result("The selection exists already with the same options.", url=url)
    work.step(f"Choosing {options['count']:,} images", total=options["count"])
    chosen = 0

    def progress(number: int) -> None:
        nonlocal chosen
        chosen += number
        work.progress(chosen)

    drawn = selections.draw_selection(**options, at=timezone.now(), progress=progress)
    return Result(f"{drawn.selection.count:,} images selected.", url=url)


def _title(arguments: Mapping[str, Any], *_: Any) -> str:
    return f"Select images: {arguments['name']}"


register(JobKind(name="select_images", label="Select images", work=select_images, title=_title))
