"""Score the boxes that a system selects against those that descriptions mention."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora.commands import WrongOptions
from corpora.content_selection.baselines import run_baselines
from corpora.content_selection.files import read_boxes, read_gold, read_mentions, read_results
from corpora.content_selection.report import draw_figures, make_report
from corpora.errors import DomainError

HELP = (
    "Score the boxes selected for each image against those that its descriptions mention "
    "(Wang and Gaizauskas, ENLG 2015). The output also has the human upper bound and, with "
    "--boxes, the paper's baselines."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "gold",
        type=Path,
        metavar="GOLD",
        help="JSON object from image id to its descriptions, each a list of box ids",
    )
    parser.add_argument(
        "results",
        type=Path,
        nargs="?",
        metavar="RESULTS",
        help="JSON object from image id to a list of box ids; optional with --boxes",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument(
        "--boxes",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="run the baselines on these boxes, a boxes.json of export_correspondences; may "
        "be repeated",
    )
    parser.add_argument(
        "--development",
        type=Path,
        metavar="FILE",
        help="descriptions of other images, in the form of GOLD, that the baselines learn from",
    )
    parser.add_argument(
        "--mentions",
        type=Path,
        metavar="FILE",
        help="the order in which descriptions of development images mention their boxes, a "
        "mentions.json of export_correspondences; adds the baselines bigram and combined",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="draw the baselines' scores into this folder"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed for the baselines' random choices (default: 0)",
    )


def run(
    *,
    gold: Path,
    results: Path | None,
    boxes: list[Path],
    development: Path | None,
    mentions: Path | None,
    out: Path | None,
    **options: Any,
) -> Iterator[str]:
    check_options(results, boxes, development, {"--mentions": mentions, "--out": out})
    descriptions = read_gold(gold)
    curves = {}
    if development:
        curves = run_baselines(
            descriptions,
            read_gold(development),
            read_boxes(boxes),
            mentions=read_mentions(mentions) if mentions else None,
            seed=options["seed"],
        )
    report = make_report(descriptions, read_results(results) if results else None, curves)
    try:
        drawn = draw_figures(report.baselines, report.human, out) if out else []
    except OSError as error:
        raise DomainError(f"{out}: {error.strerror}") from error
    if options["json"]:
        yield json.dumps(report.as_json())
    else:
        yield from [*report.lines(), *map(str, drawn)]


def check_options(
    results: Path | None,
    boxes: list[Path],
    development: Path | None,
    for_baselines: dict[str, Path | None],
) -> None:
    """Raises WrongOptions where one option is without the other that it needs."""
    if bool(boxes) != bool(development):
        raise WrongOptions("The baselines need both --boxes and --development.")
    if not results and not boxes:
        raise WrongOptions("Name RESULTS, or --boxes and --development for the baselines.")
    for option, path in for_baselines.items():
        if path and not boxes:
            raise WrongOptions(
                f"{option} is for the baselines, so it needs --boxes and --development."
            )
