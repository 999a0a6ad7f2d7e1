from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from tqdm import tqdm

from annotate.management.base import DomainCommand
from annotate.selection import DEFAULT_SAMPLE
from annotate.services import selections


class Command(DomainCommand):
    help = (
        "Draw a selection of a split's images by the procedure of nocaps: upright images of two "
        "classes or more, all that have more than six, the others so that the classes come out "
        "as even as can be. The same numbers draw the same images again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--split", required=True, help="the split to draw from")
        parser.add_argument("--count", type=int, required=True, help="how many images")
        parser.add_argument("--name", required=True, help="the new selection's name")
        parser.add_argument(
            "--sample",
            type=int,
            default=DEFAULT_SAMPLE,
            help=f"images drawn at random for each choice (default: {DEFAULT_SAMPLE})",
        )
        parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
        parser.add_argument(
            "--ignore",
            action="append",
            default=[],
            metavar="CLASS",
            help="a class to leave out besides parts and the broadest classes; may be repeated",
        )

    def handle(self, *, count: int, **options: Any) -> None:
        numbers: dict[str, Any] = {
            name: options[name] for name in ("name", "split", "sample", "seed", "ignore")
        }
        if selections.find_selection(count=count, **numbers):
            self.stdout.write(f"{numbers['name']} was drawn before by the same numbers.")
            return
        with tqdm(total=count, unit=" images", disable=None) as bar:
            drawn = selections.draw_selection(
                count=count, at=timezone.now(), progress=bar.update, **numbers
            )
        self.show(drawn)

    def show(self, drawn: selections.Drawn) -> None:
        pool, chosen = drawn.pool, drawn.chosen
        self.stdout.write(f"{'':18}{'pool':>10}{'chosen':>10}")
        for classes, number in pool.by_classes.items():
            words = f"{classes} class{'' if classes == 1 else 'es'}"
            self.stdout.write(f"{words:18}{number:10}{chosen.by_classes.get(classes, 0):10}")
        self.stdout.write(
            f"{'images':18}{sum(pool.by_classes.values()):10}{sum(chosen.by_classes.values()):10}"
        )
        self.stdout.write(f"{'entropy (nats)':18}{pool.entropy:10.4f}{chosen.entropy:10.4f}")
        if drawn.rich_left_out:
            self.stdout.write(
                f"More images have over six classes than were asked for: {drawn.rich_left_out} of "
                "them were left out at random."
            )
        self.stdout.write(f"{drawn.selection.name}: {drawn.selection.count} images drawn.")
