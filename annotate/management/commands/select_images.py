from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm

from accounts.management.base import DomainCommand, add_team_option, team_named
from annotate.services import selections
from corpora.datasets.image_names import read_image_ids
from corpora.selection.choose import DEFAULT_SAMPLE
from corpora.wording import counted
from shared.number_fields import STORED


class Command(DomainCommand):
    help = (
        "Select images from a split by the nocaps procedure. Only upright images with at least two "
        "classes qualify. All images with more than six classes are selected. The others are "
        "chosen so that classes are as evenly represented as possible. With --all, every image of "
        "the split is selected; with --random, the images are drawn whatever their classes; with "
        "--ids, a list of images is selected. The same options always select the same images."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--split", required=True, help="split to select from")
        number = parser.add_mutually_exclusive_group(required=True)
        number.add_argument("--count", type=int, help="number of images")
        number.add_argument("--all", action="store_true", help="select every image of the split")
        number.add_argument(
            "--ids",
            type=Path,
            metavar="FILE",
            help="select the images whose ids or own file names a file lists, one in each line or "
            "as JSON, in its order; ids that are not in the split are counted and named",
        )
        parser.add_argument(
            "--random",
            action="store_true",
            help="draw --count images at random, whatever their classes",
        )
        parser.add_argument("--name", required=True, help="name of the new selection")
        parser.add_argument(
            "--sample",
            type=STORED,
            help=f"number of random images compared for each choice (default: {DEFAULT_SAMPLE})",
        )
        parser.add_argument(
            "--seed", type=STORED, default=0, help="seed of the random choices (default: 0)"
        )
        parser.add_argument(
            "--ignore",
            action="append",
            default=[],
            metavar="CLASS",
            help="class to ignore in addition to parts and the broadest classes; repeatable",
        )
        add_team_option(parser, "that owns the selection (default: the first team)")

    def handle(self, *, count: int | None, team: str | None, **options: Any) -> None:
        if options["random"] and count is None:
            raise CommandError("--random goes with --count.")
        if count is None or options["random"]:
            for name in ("sample", "ignore"):
                if options[name]:
                    raise CommandError(f"--{name} goes with --count, without --random.")
        options["team"] = team_named(team)
        if options["ids"]:
            self.select_listed(**options)
        elif options["all"] or options["random"]:
            self.select_plainly(count, **options)
        elif count is not None:
            self.select_by_nocaps(count, options)

    def select_listed(self, ids: Path, **options: Any) -> None:
        selection, unknown = selections.select_listed(
            ids=read_image_ids(ids),
            at=timezone.now(),
            **{name: options[name] for name in ("name", "split", "team")},
        )
        self.stdout.write(f"{selection.name}: {counted(selection.count, 'image')} selected.")
        if unknown:
            self.stderr.write(selections.unknown_ids(unknown, selection.split))

    def select_plainly(self, count: int | None, **options: Any) -> None:
        chosen = {name: options[name] for name in ("name", "split", "team")}
        chosen["at"] = timezone.now()
        if count is None:
            selection = selections.select_all(**chosen)
        else:
            selection = selections.select_random(count=count, seed=options["seed"], **chosen)
        self.stdout.write(f"{selection.name}: {counted(selection.count, 'image')} selected.")

    def select_by_nocaps(self, count: int, options: dict[str, Any]) -> None:
        numbers: dict[str, Any] = {
            name: options[name] for name in ("name", "split", "seed", "ignore", "team")
        }
        numbers["sample"] = DEFAULT_SAMPLE if options["sample"] is None else options["sample"]
        if selections.find_selection(count=count, **numbers):
            self.stdout.write(f"{numbers['name']} already exists with the same options.")
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
                "There are more images with over six classes than requested: "
                f"{drawn.rich_left_out} of them were left out at random."
            )
        self.stdout.write(
            f"{drawn.selection.name}: {counted(drawn.selection.count, 'image')} selected."
        )
