"""Score captions with the metrics of COCO and nocaps."""

import json
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from corpora.commands import WrongOptions, checked_language
from corpora.evaluation.bootstrap import RESAMPLES
from corpora.evaluation.java import Java
from corpora.evaluation.metrics import FIGURES, METRICS
from corpora.evaluation.references import References, read_references
from corpora.evaluation.report import (
    BASELINE,
    RESULTS,
    SECOND,
    Candidate,
    Choices,
    make_report,
)
from corpora.evaluation.results import check_images, read_outside, read_results
from corpora.evaluation.scoring import ALL, SUBSET, Plan
from corpora.evaluation.tokenisers import OFFICIAL, PLAIN

HELP = (
    "Score captions against references, with BLEU, METEOR, ROUGE-L, CIDEr-D and SPICE. Two results "
    "files are also compared. The output has figures of all images and of subsets, never of single "
    "images."
)
AUTOMATIC = "auto"


class Source(NamedTuple):
    """References, and the human baseline if they have one."""

    references: References
    baseline: dict[int, str] | None = None


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "references", type=Path, metavar="REFERENCES.json", help="captions file in COCO form"
    )
    add_options(parser)
    parser.add_argument(
        "--spice-models",
        type=Path,
        metavar="DIR",
        help="folder with the two files of Stanford CoreNLP 3.6.0 that SPICE needs (default: no "
        "SPICE)",
    )


def add_options(parser: ArgumentParser) -> None:
    """Add everything but the references."""
    parser.add_argument(
        "results",
        type=Path,
        nargs="*",
        metavar="RESULTS.json",
        help="one or two files in the COCO results form: a list of objects with image_id and "
        "caption",
    )
    add_scoring_options(parser)
    parser.add_argument("--by-subset", action="store_true", help="also the figures of each domain")
    parser.add_argument(
        "--idf",
        choices=[ALL, SUBSET],
        default=ALL,
        help="count the document frequencies of CIDEr-D in all images (default), or for a "
        "subset's figure in its own images",
    )
    parser.add_argument(
        "--leave-one-out",
        action="store_true",
        help="also score each reference against the other references of its image",
    )
    parser.add_argument(
        "--scores",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="scores of each image by a metric computed elsewhere; give it once for each "
        "results file, in the same order",
    )
    add_resampling_options(parser)


def add_scoring_options(parser: ArgumentParser) -> None:
    """Add --metrics, --tokeniser and --language."""
    parser.add_argument(
        "--metrics",
        nargs="+",
        metavar="METRIC",
        help=f"only these metrics: {', '.join(METRICS)}; separated by spaces or commas",
    )
    parser.add_argument(
        "--tokeniser",
        choices=[AUTOMATIC, OFFICIAL, PLAIN],
        default=AUTOMATIC,
        help="ptb: the official one, which needs Java; plain: ours; auto: the official one "
        "where it can run (default)",
    )
    parser.add_argument(
        "--language",
        metavar="TAG",
        help="language of the captions, as a BCP 47 tag (default: the one that the references "
        "name, or en); of captions in several languages, only those in this one are used. "
        "Languages other than English are split by our tokeniser, and have no METEOR and SPICE",
    )


def add_resampling_options(parser: ArgumentParser) -> None:
    """Add --resamples, --seed and --json."""
    parser.add_argument(
        "--resamples",
        type=int,
        default=RESAMPLES,
        metavar="N",
        help=f"resamples for intervals and comparisons; 0: none (default: {RESAMPLES})",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed for the resamples (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def run(*, references: Path, spice_models: Path | None, **options: Any) -> Iterator[str]:
    return evaluate(
        lambda language: Source(read_references(references, language)),
        java=Java(spice_models=spice_models),
        **options,
    )


def evaluate(
    read: Callable[[str | None], Source],
    *,
    results: Sequence[Path],
    java: Java,
    baseline: bool = False,
    **options: Any,
) -> Iterator[str]:
    """The scores as lines. `read` gets the language of the captions, and gives the references.

    With `baseline`, or if there is nothing else to score, the human baseline is scored, too. Raises
    DomainError.
    """
    check_options(results, **options)
    metrics = chosen_metrics(options["metrics"])
    source = read(options["language"])
    candidates = candidates_of(source.references, results, options["scores"])
    if baseline or not (results or options["leave_one_out"]):
        candidates[BASELINE] = baseline_candidate(source)
    with stopped_by_signals(), steps_shown() as progress:
        report = make_report(
            source.references,
            candidates,
            Plan(
                metrics=metrics,
                tokeniser=PLAIN if options["tokeniser"] == PLAIN else OFFICIAL,
                subsets=source.references.subsets if options["by_subset"] else None,
                idf=options["idf"],
                java=java,
                progress=progress,
            ),
            Choices(
                leave_one_out=options["leave_one_out"],
                may_be_plain=options["tokeniser"] == AUTOMATIC,
                resamples=options["resamples"],
                seed=options["seed"],
            ),
        )
    yield from [json.dumps(report.as_json())] if options["json"] else report.lines()


def check_options(
    results: Sequence[Path],
    *,
    scores: list[Path],
    resamples: int,
    seed: int,
    by_subset: bool,
    idf: str,
    language: str | None,
    **_: Any,
) -> None:
    """Raises WrongOptions if the options do not fit together."""
    if language is not None:
        checked_language(language)
    if len(results) > 2:
        raise WrongOptions("At most two results files can be compared.")
    if scores and len(scores) != len(results):
        raise WrongOptions("Give --scores once for each results file.")
    check_resampling(resamples, seed)
    if idf == SUBSET and not by_subset:
        raise WrongOptions("--idf subset needs --by-subset.")


def check_resampling(resamples: int, seed: int) -> None:
    """Raises WrongOptions."""
    if not 0 <= resamples <= 100_000 or seed < 0:
        raise WrongOptions("--resamples must be from 0 to 100000, and --seed 0 or more.")


def chosen_metrics(words: list[str] | None) -> list[str]:
    """The metrics that --metrics names, all without it; raises WrongOptions."""
    if words is None:
        return [*METRICS]
    named = [name for word in words for name in word.lower().replace("_", "-").split(",") if name]
    if unknown := [name for name in named if name not in METRICS]:
        raise WrongOptions(f"There is no metric {unknown[0]!r}: choose from {', '.join(METRICS)}.")
    if not named:
        raise WrongOptions(f"--metrics names no metric: choose from {', '.join(METRICS)}.")
    return named


def candidates_of(
    references: References, results: Sequence[Path], scores: Sequence[Path]
) -> dict[str, Candidate]:
    """The results with their outside scores; raises DomainError."""
    candidates = {}
    for number, path in enumerate(results):
        captions = read_results(path)
        check_images(
            captions, wanted=references.captions, without=references.without, name=str(path)
        )
        outside = None
        if scores:
            outside = read_outside(scores[number], taken=FIGURES, images=references.captions)
        candidates[(RESULTS, SECOND)[number]] = Candidate(captions, outside)
    return candidates


def baseline_candidate(source: Source) -> Candidate:
    """The human baseline; raises WrongOptions if there is none."""
    references, baseline = source
    if not baseline:
        raise WrongOptions(
            "Name RESULTS.json, or --leave-one-out: there is no human baseline. Only a release of "
            "a campaign with `baselines` has one."
        )
    check_images(
        baseline,
        wanted=references.captions,
        without=references.without,
        name="The human baseline",
    )
    return Candidate(baseline)


@contextmanager
def steps_shown() -> Iterator[Any]:
    """Show the current step on a terminal."""
    with tqdm(bar_format="{desc} ({elapsed})", leave=False, disable=None) as bar:
        yield bar.set_description_str


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let SIGTERM end the block like an exception, so that no process or file is left behind."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
