from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotate.evaluation.results import check_images, read_results
from annotate.management.base import (
    DomainCommand,
    checked_language,
    prepare_database,
    release_named,
)
from annotate.queries.hidden_references import language_in
from annotate.report.build import make_report, write_report
from annotate.report.captions_file import read_dataset
from annotate.report.dataset import Dataset
from annotate.report.features import read_features
from annotate.report.released import read_release
from annotate.report.sections import SECTIONS
from annotate.report.sections.base import Inputs
from annotate.selection.domains import DomainTable, table_named


class Command(DomainCommand):
    help = (
        "Write statistics and figures of a release, or of a captions file in COCO form: a page "
        "without external files, all numbers in report.json, and the figures as SVG and PNG."
    )

    # Only releases are in the database; `dataset_named` prepares it.
    uses_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "dataset",
            metavar="RELEASE|CAPTIONS.json",
            help="name of the release, or path of a captions file in COCO form",
        )
        parser.add_argument(
            "--out",
            type=Path,
            required=True,
            metavar="DIR",
            help="folder to create; an earlier report in it is replaced",
        )
        parser.add_argument(
            "--against",
            type=Path,
            metavar="CAPTIONS.json",
            help="captions file in COCO form to compare with",
        )
        for option, metavar in (("--boxes", "the captions file"), ("--against-boxes", "--against")):
            parser.add_argument(
                option,
                type=Path,
                metavar="INSTANCES.json",
                help=f"COCO instances file with the boxes of {metavar}",
            )
        parser.add_argument(
            "--domains",
            metavar="TABLE",
            help="table of the classes' domains: coco-80, nocaps-119 or a CSV file (default: the "
            "release's own; for captions files nocaps-119)",
        )
        parser.add_argument(
            "--language",
            metavar="TAG",
            help="language of the captions, as a BCP 47 tag (default: the one that a file names, "
            "or en); of captions in several languages, only those in this one are used",
        )
        parser.add_argument(
            "--results",
            type=Path,
            metavar="RESULTS.json",
            help="a system's captions of the images, in COCO's results form",
        )
        for option, whose in (("--features", "the images"), ("--against-features", "--against")):
            parser.add_argument(
                option,
                type=Path,
                metavar="FILE.npy",
                help=f"NumPy array with a row of features for each image of {whose}, in the order "
                "of the captions file",
            )
        parser.add_argument(
            "--seed", type=int, default=0, help="seed for samples and intervals (default: 0)"
        )

    def handle(self, *, dataset: str, out: Path, **options: Any) -> None:
        inputs = read_inputs(dataset, **options)
        with tqdm(total=len(SECTIONS), unit=" sections", disable=None) as bar:

            def show(title: str) -> None:
                bar.set_description(title)
                bar.update(bool(bar.n or bar.desc != f"{title}: "))

            report = make_report(inputs, show)
        for path in write_report(report, out):
            self.stdout.write(str(path))


def read_inputs(dataset: str, **options: Any) -> Inputs:
    """The files and the release that the options name; raises CommandError and DomainError."""
    for option in ("boxes", "features"):
        if options[f"against_{option}"] and not options["against"]:
            raise CommandError(f"--against-{option} belongs to --against, which is missing.")
    table = table_named(options["domains"]) if options["domains"] else None
    language = options["language"] and checked_language(options["language"])
    own = dataset_named(dataset, options["boxes"], table, language)
    second = options["against"]
    return read_rest(
        own,
        read_dataset(second, options["against_boxes"], language=language) if second else None,
        options,
    )


def read_rest(own: Dataset, second: Dataset | None, options: Mapping[str, Any]) -> Inputs:
    """The datasets with the further files about their images."""
    results, features, others = (
        options[name] for name in ("results", "features", "against_features")
    )
    return Inputs(
        dataset=own,
        against=second,
        results=results_of(results, own) if results else None,
        features=read_features(features, own) if features else None,
        against_features=read_features(others, second) if others and second else None,
        seed=options["seed"],
    )


def results_of(path: Path, dataset: Dataset) -> dict[int, str]:
    """A caption for each image that has references; raises MalformedFile and WrongResults."""
    results = read_results(path)
    described = {dataset.images[caption.image].number for caption in dataset.captions}
    others = {image.number for image in dataset.images} - described
    check_images(results, wanted=described, without=others, name=str(path))
    return results


def dataset_named(
    name: str, boxes: Path | None, table: DomainTable | None, language: str | None
) -> Dataset:
    """The dataset in the file of this path, or else of the release of this name."""
    path = Path(name)
    if path.is_file() or path.suffix == ".json":
        return read_dataset(path, boxes, table, language)
    if boxes:
        raise CommandError("A release has its own boxes. --boxes is for captions files.")
    prepare_database()
    release = release_named(name)
    return read_release(release, table, language_in(release, language))
