import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotate.evaluation.bootstrap import RESAMPLES
from annotate.evaluation.outside import read_outside
from annotate.evaluation.references import References, make_references, read_references
from annotate.evaluation.report import (
    BASELINE,
    RESULTS,
    SECOND,
    Candidate,
    Choices,
    Report,
    make_report,
)
from annotate.evaluation.results import check_images, read_results
from annotate.evaluation.scoring import ALL, FIGURES, METRICS, SUBSET, Plan
from annotate.evaluation.tokenisers import OFFICIAL, PLAIN
from annotate.management.base import (
    DomainCommand,
    add_domains_option,
    checked_language,
    prepare_database,
    release_named,
)
from annotate.queries.hidden_references import (
    baseline_of_release,
    language_in,
    references_of_release,
)
from annotate.queries.release_domains import domains_of_release

AUTOMATIC = "auto"


class Source(NamedTuple):
    """References, and the human baseline if they are those of a release."""

    references: References
    baseline: dict[int, str] | None


class Command(DomainCommand):
    help = (
        "Score captions against the references of a release or of a captions file in COCO form, "
        "with BLEU, METEOR, ROUGE-L, CIDEr-D and SPICE. Two results files are also compared. The "
        "output has figures of all images and of subsets, never of single images."
    )
    uses_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "references",
            metavar="RELEASE|CAPTIONS.json",
            help="name of a release, or path of a captions file in COCO form",
        )
        parser.add_argument(
            "results",
            type=Path,
            nargs="*",
            metavar="RESULTS.json",
            help="one or two files in the COCO results form: a list of objects with image_id and "
            "caption",
        )
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
            help="language of the captions, as a BCP 47 tag (default: the one that the file names, "
            "or en); of captions in several languages, only those in this one are used. A release "
            "of one language knows its own. Languages other than English are split by our "
            "tokeniser, and have no METEOR and SPICE",
        )
        parser.add_argument(
            "--by-subset", action="store_true", help="also the figures of each domain"
        )
        add_domains_option(parser)
        parser.add_argument(
            "--idf",
            choices=[ALL, SUBSET],
            default=ALL,
            help="count the document frequencies of CIDEr-D in all images (default), or for a "
            "subset's figure in its own images",
        )
        parser.add_argument(
            "--baseline", action="store_true", help="also score the release's human baseline"
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
        parser.add_argument(
            "--resamples",
            type=int,
            default=RESAMPLES,
            metavar="N",
            help=f"resamples for intervals and comparisons; 0: none (default: {RESAMPLES})",
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="seed for the resamples (default: 0)"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object instead")

    def handle(self, *, results: list[Path], **options: Any) -> None:
        check_options(results, **options)
        metrics = chosen_metrics(options["metrics"])
        source = self._source(options["references"], options["domains"], options["language"])
        candidates = candidates_of(source, results, options["scores"])
        if options["baseline"] or not (results or options["leave_one_out"]):
            candidates[BASELINE] = baseline_candidate(source)
        with stopped_by_signals(), steps_shown() as progress:
            report = make_report(
                source.references,
                candidates,
                Plan(
                    metrics,
                    PLAIN if options["tokeniser"] == PLAIN else OFFICIAL,
                    source.references.subsets if options["by_subset"] else None,
                    options["idf"],
                    settings.EVALUATION_JAVA,
                    progress,
                ),
                Choices(
                    options["leave_one_out"],
                    options["tokeniser"] == AUTOMATIC,
                    options["resamples"],
                    options["seed"],
                ),
            )
        self._print(report, as_json=options["json"])

    def _source(self, name: str, domains: str | None, language: str | None) -> Source:
        """The references of a captions file or of a release."""
        path = Path(name)
        if path.is_file() or path.suffix == ".json":
            if domains:
                raise CommandError("--domains needs a release: a captions file has no classes.")
            return Source(read_references(path, language), None)
        prepare_database()
        release = release_named(name)
        chosen = language_in(release, language)
        by_image = domains_of_release(release, self.table_of_domains(domains))
        subsets = {image: domain for image, domain in by_image.items() if domain}
        references = make_references(
            references_of_release(release, chosen),
            subsets,
            name=name,
            language=chosen or release.language,
        )
        return Source(references, baseline_of_release(release, chosen))

    def _print(self, report: Report, *, as_json: bool) -> None:
        lines = [json.dumps(report.as_json())] if as_json else report.lines()
        for line in lines:
            self.stdout.write(line)


def check_options(
    results: Sequence[Path],
    *,
    scores: list[Path],
    resamples: int,
    seed: int,
    by_subset: bool,
    domains: str | None,
    idf: str,
    language: str | None,
    **_: Any,
) -> None:
    """Raises CommandError if the options do not fit together."""
    if language is not None:
        checked_language(language)
    if len(results) > 2:
        raise CommandError("At most two results files can be compared.")
    if scores and len(scores) != len(results):
        raise CommandError("Give --scores once for each results file.")
    if not 0 <= resamples <= 100_000 or seed < 0:
        raise CommandError("--resamples must be from 0 to 100000, and --seed 0 or more.")
    if not by_subset and (domains or idf == SUBSET):
        raise CommandError("--domains and --idf subset need --by-subset.")


def chosen_metrics(words: list[str] | None) -> list[str]:
    """The metrics that --metrics names, all without it; raises CommandError."""
    if words is None:
        return [*METRICS]
    named = [name for word in words for name in word.lower().replace("_", "-").split(",") if name]
    if unknown := [name for name in named if name not in METRICS]:
        raise CommandError(f"There is no metric {unknown[0]!r}: choose from {', '.join(METRICS)}.")
    return named


def candidates_of(
    source: Source, results: Sequence[Path], scores: Sequence[Path]
) -> dict[str, Candidate]:
    """The results with their outside scores; raises DomainError."""
    references = source.references
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
    """The human baseline; raises CommandError if there is none."""
    if source.baseline is None:
        raise CommandError(
            "Name RESULTS.json. Only a release has a human baseline to score without results."
        )
    check_images(source.baseline, wanted=source.references.captions, name="The human baseline")
    return Candidate(source.baseline)


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
