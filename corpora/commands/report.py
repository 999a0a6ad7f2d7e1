"""Statistics and figures of captions."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from corpora.commands import WrongOptions, checked_language
from corpora.errors import DomainError
from corpora.evaluation.results import check_images, read_results
from corpora.report.build import make_report, write_report
from corpora.report.captions_file import read_dataset, read_features
from corpora.report.dataset import Dataset
from corpora.report.sections import SECTIONS
from corpora.report.sections.base import Inputs, Matrix
from corpora.selection.domains import DomainTable, table_named

HELP = (
    "Write statistics and figures of captions: a page without external files, all numbers in "
    "report.json, and the figures as SVG and PNG."
)
# Reads the captions of one language, with the boxes of an instances file and a table of domains.
Read = Callable[[Path | None, DomainTable | None, str | None], Dataset]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "dataset", type=Path, metavar="CAPTIONS.json", help="captions file in COCO form"
    )
    add_options(parser)


def add_options(parser: ArgumentParser) -> None:
    """Add everything but the captions."""
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
        "dataset's own, or nocaps-119)",
    )
    parser.add_argument(
        "--language",
        metavar="TAG",
        help="language of the captions, as a BCP 47 tag (default: the one that the file names, "
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


def run(*, dataset: Path, **options: Any) -> Iterator[str]:
    return report(lambda *chosen: read_dataset(dataset, *chosen), **options)


def report(read: Read, *, out: Path, **options: Any) -> Iterator[str]:
    """Write the report; the paths of its files as lines. Raises DomainError."""
    inputs = read_inputs(read, **options)
    with tqdm(total=len(SECTIONS), unit=" sections", disable=None) as bar:

        def show(title: str) -> None:
            bar.set_description(title)
            bar.update(bool(bar.n or bar.desc != f"{title}: "))

        made = make_report(inputs, show)
    yield from map(str, write_report(made, out))


def read_inputs(read: Read, **options: Any) -> Inputs:
    """The captions and the files that the options name; raises DomainError."""
    for option in ("boxes", "features"):
        if options[f"against_{option}"] and not options["against"]:
            raise WrongOptions(f"--against-{option} belongs to --against, which is missing.")
    table = table_named(options["domains"]) if options["domains"] else None
    language = options["language"] and checked_language(options["language"])
    own = read(options["boxes"], table, language)
    path = options["against"]
    second = read_dataset(path, options["against_boxes"], language=language) if path else None
    if second and second.name == own.name:
        second = replace(second, name=f"{second.name} (second dataset)")
    return read_rest(own, second, options)


def read_rest(own: Dataset, second: Dataset | None, options: Mapping[str, Any]) -> Inputs:
    """The datasets with the further files about their images."""
    results, features, others = (
        options[name] for name in ("results", "features", "against_features")
    )
    own_features = read_features(features, own) if features else None
    second_features = read_features(others, second) if others and second else None
    check_widths(own_features, second_features)
    return Inputs(
        dataset=own,
        against=second,
        results=results_of(results, own) if results else None,
        features=own_features,
        against_features=second_features,
        seed=options["seed"],
    )


def check_widths(own: Matrix | None, second: Matrix | None) -> None:
    """Raise DomainError if the features of the two datasets are of different models."""
    if own is not None and second is not None and own.shape[1] != second.shape[1]:
        raise DomainError(
            f"The rows of --features have {own.shape[1]:,} numbers, and those of "
            f"--against-features {second.shape[1]:,}. Both must come from one model."
        )


def results_of(path: Path, dataset: Dataset) -> dict[int, str]:
    """A caption for each image that has references; raises MalformedFile and WrongResults."""
    results = read_results(path)
    described = {dataset.images[place].number for place in dataset.image_of[dataset.references]}
    others = {image.number for image in dataset.images} - described
    check_images(results, wanted=described, without=others, name=str(path))
    return results
