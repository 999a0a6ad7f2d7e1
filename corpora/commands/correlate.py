"""Correlate metrics with what people said of the same captions."""

import json
import math
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from corpora.commands import WrongOptions, checked_language
from corpora.commands.evaluate import (
    AUTOMATIC,
    add_resampling_options,
    add_scoring_options,
    check_resampling,
    chosen_metrics,
    steps_shown,
    stopped_by_signals,
)
from corpora.errors import DomainError
from corpora.evaluation.correlation import (
    COEFFICIENTS,
    Agreement,
    Coefficient,
    agreement,
    judged_of,
)
from corpora.evaluation.java import Java
from corpora.evaluation.judgements import (
    Caption,
    captions_in,
    criteria_of,
    is_text_of,
    read_figures,
    systems_in,
)
from corpora.evaluation.metrics import FIGURES, Floats, Measured, measured_means
from corpora.evaluation.references import References, read_references
from corpora.evaluation.report import (
    EXPLAINED,
    NAMES,
    RESULTS,
    Candidate,
    Choices,
    aligned,
    make_report,
)
from corpora.evaluation.results import listed, read_results
from corpora.evaluation.scoring import Plan
from corpora.evaluation.tokenisers import OFFICIAL, PLAIN
from corpora.reading.files import is_json
from corpora.reading.json_files import read_coco
from corpora.wording import counted

HELP = (
    "Say how far metrics agree with people: Kendall's tau-b and tau-c, Spearman's and Pearson's "
    "coefficients and pairwise accuracy, per caption and per system, with 95 % intervals, beside "
    "how far one person agrees with the others."
)
PERSON, PEOPLE = "one person", "people"
# Names that no column of figures can have.
TAKEN = {*FIGURES, PERSON, PEOPLE}
TITLES = dict(zip(COEFFICIENTS, ("tau-b", "tau-c", "Spearman", "Pearson", "accuracy"), strict=True))


class Rated(NamedTuple):
    """Captions that people rated, and the references of their images, if there are any.

    `numbers` has the image's number in the references and in results files by its own.
    """

    captions: Sequence[Caption]
    references: References | None
    numbers: Mapping[int, int]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ratings",
        type=Path,
        metavar="RATINGS.json",
        help="ratings.json of a release of ratings, or preferences.json of one of comparisons",
    )
    parser.add_argument(
        "--references",
        type=Path,
        metavar="CAPTIONS.json",
        help="captions file in COCO form with the same image ids; without it, only columns of "
        "--results are correlated",
    )
    add_options(parser)


def add_options(parser: ArgumentParser) -> None:
    """Add everything but the ratings and the references."""
    parser.add_argument(
        "--results",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="a results file in COCO form (.json): only systems whose results are given are "
        "compared, and their rated captions must be in the file; or a CSV file with the columns "
        "image_id and source, and columns of numbers of the captions by other metrics",
    )
    add_scoring_options(parser)
    add_resampling_options(parser)


def run(*, ratings: Path, references: Path | None, **options: Any) -> Iterator[str]:
    captions = captions_in(ratings, read_coco(ratings))
    known_references = read_references(references, options["language"]) if references else None
    numbers = {caption.image: caption.image for caption in captions}
    return correlate(Rated(captions, known_references, numbers), java=Java(), **options)


def correlate(
    rated: Rated,
    *,
    results: Sequence[Path],
    metrics: list[str] | None,
    tokeniser: str,
    language: str | None,
    resamples: int,
    seed: int,
    java: Java,
    **options: Any,
) -> Iterator[str]:
    """The coefficients as lines; raises DomainError."""
    check_resampling(resamples, seed)
    if language is not None:
        checked_language(language)
    if rated.references is None and (metrics is not None or tokeniser != AUTOMATIC):
        raise WrongOptions("--metrics and --tokeniser need --references.")
    tables = [path for path in results if not is_json(path)]
    captions = _of_systems(rated, [path for path in results if path not in tables])
    plan = Plan(chosen_metrics(metrics), PLAIN if tokeniser == PLAIN else OFFICIAL, java=java)
    with stopped_by_signals(), steps_shown() as progress:
        plan = plan._replace(progress=progress)
        measured, about = _scored(captions, rated, plan, may_be_plain=tokeniser == AUTOMATIC)
        for path in tables:
            measured += _of_table(path, captions, measured)
        if not measured:
            raise WrongOptions(
                "There is nothing to compare people with. Name --references, or a CSV file of "
                "figures with --results."
            )
        progress("intervals")
        agreements = {
            name: _agreements(captions, name, measured, resamples, seed)
            for name in criteria_of(captions)
        }
    about |= {
        "images": len({caption.image for caption in captions}),
        "captions": len(captions),
        "systems": _systems(captions),
        "resamples": resamples,
        "seed": seed,
    }
    about["notes"] = list(_notes(about, agreements))
    systems = {name: _systems(_rated_by(captions, name)) for name in agreements}
    if options["json"]:
        criteria = {name: _as_json(rows, systems[name]) for name, rows in agreements.items()}
        yield json.dumps(about | {"criteria": criteria})
    else:
        yield from _lines(about, agreements, systems)


def _of_table(
    path: Path, captions: Sequence[Caption], measured: Sequence[Measured]
) -> Iterator[Measured]:
    """The figures of a CSV file, whose names nothing measured before may have."""
    taken = TAKEN.union(*(metric.names for metric in measured))
    for name, figures in read_figures(path, captions, taken).items():
        own = [figures[caption.image, caption.source] for caption in captions]
        yield measured_means(name, own)


def _systems(captions: Sequence[Caption]) -> list[str]:
    return sorted({caption.source for caption in captions})


def _rated_by(captions: Sequence[Caption], criterion: str) -> list[Caption]:
    """The captions that people rated by this criterion, perhaps not those of all systems."""
    return [caption for caption in captions if criterion in caption.ratings]


def _of_systems(rated: Rated, results: Sequence[Path]) -> Sequence[Caption]:
    """The captions of the systems whose results are given, all without any."""
    if not results:
        return rated.captions
    chosen: set[str] = set()
    for path in results:
        given = read_results(path)
        texts = {own: given.get(number, "") for own, number in rated.numbers.items()}
        chosen |= (systems := systems_in(rated.captions, texts))
        if not systems:
            raise DomainError(f"{path}: no system's captions that people rated are in it.")
    return [caption for caption in rated.captions if caption.source in chosen]


def _scored(
    captions: Sequence[Caption], rated: Rated, plan: Plan, *, may_be_plain: bool
) -> tuple[list[Measured], dict[str, Any]]:
    """The metrics of each caption, and what they were computed with.

    A caption that is one of its image's references is scored against the others.
    """
    if rated.references is None:
        return [], {}
    references = rated.references.captions
    numbers = [rated.numbers.get(caption.image, -1) for caption in captions]
    pairs = zip(captions, numbers, strict=True)
    if lacking := sorted({caption.image for caption, number in pairs if number not in references}):
        raise DomainError(
            f"The references lack {counted(len(lacking), 'image')} that people rated: "
            f"{listed(lacking)}. Name references of all of them with --references."
        )
    against: dict[int, list[str]] = {}
    for row, (caption, number) in enumerate(zip(captions, numbers, strict=True)):
        against[row] = list(references[number])
        own = [text for text in against[row] if is_text_of(caption, text)]
        if own:
            against[row].remove(own[0])
        if not against[row]:
            raise DomainError(
                f"Image {caption.image} has one reference, which people rated, so that no other is "
                "left to score it against. Name the systems to compare with --results, or other "
                "references with --references."
            )
    report = make_report(
        References(against, {}, language=rated.references.language),
        {RESULTS: Candidate({row: caption.text for row, caption in enumerate(captions)})},
        plan,
        Choices(may_be_plain=may_be_plain, resamples=0),
    )
    scores = report.scores[RESULTS]
    about = {"tokeniser": scores.tokeniser, "failures": dict(scores.failures)}
    return list(scores.whole.measured), about


def _agreements(
    captions: Sequence[Caption],
    criterion: str,
    measured: Sequence[Measured],
    resamples: int,
    seed: int,
) -> dict[str, Agreement]:
    """How far each figure agrees with the mean of the ratings, and one person with the others."""
    rows = [row for row, caption in enumerate(captions) if criterion in caption.ratings]
    rated = _rated_by(captions, criterion)
    means = [fmean(caption.ratings[criterion]) for caption in rated]
    judged = judged_of(rated, means, _systems(rated))
    agreements = {
        figure: agreement(
            judged,
            metric._replace(statistics=metric.statistics[rows]),
            figure,
            resamples=resamples,
            seed=seed,
        )
        for metric in measured
        for figure in metric.names
    }
    several = [caption for caption in rated if len(caption.ratings[criterion]) > 1]
    if several:
        drawn = [_one_and_others(caption, criterion, seed) for caption in several]
        judged = judged_of(several, [others for _, others in drawn], _systems(several))
        person = measured_means(PERSON, [own for own, _ in drawn])
        agreements[PERSON] = agreement(judged, person, PERSON, resamples=resamples, seed=seed)
    return agreements


def _one_and_others(caption: Caption, criterion: str, seed: int) -> tuple[float, float]:
    """The rating of one person, the same for all captions of an image, and the others' mean."""
    ratings = list(caption.ratings[criterion])
    drawn = ratings.pop(Random(f"{seed}/{caption.image}").randrange(len(ratings)))
    return drawn, fmean(ratings)


def _as_json(agreements: Mapping[str, Agreement], systems: Sequence[str]) -> dict[str, Any]:
    return {
        "captions": {
            name: _coefficients(agreement.captions) for name, agreement in agreements.items()
        },
        "systems": {
            name: _coefficients(agreement.systems) for name, agreement in agreements.items()
        },
        "people": _by_system(next(iter(agreements.values())).scores, systems),
        "figures": {
            name: _by_system(agreement.figures, systems)
            for name, agreement in agreements.items()
            if name != PERSON
        },
    }


def _by_system(figures: Floats, systems: Sequence[str]) -> dict[str, float | None]:
    return dict(zip(systems, map(_number, figures.tolist()), strict=True))


def _number(figure: float) -> float | None:
    return None if math.isnan(figure) else figure


def _coefficients(coefficients: Mapping[str, Coefficient]) -> dict[str, Any]:
    return {
        name: {
            "value": _number(coefficient.value),
            "interval": list(coefficient.interval) if coefficient.interval else None,
        }
        for name, coefficient in coefficients.items()
    }


def _lines(
    about: Mapping[str, Any],
    criteria: Mapping[str, Mapping[str, Agreement]],
    systems: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """A table per caption and one per system for each criterion."""
    size = f"{counted(about['captions'], 'caption')} of {counted(about['images'], 'image')}"
    every = about["systems"]
    yield f"{size} by {counted(len(every), 'system')}: {', '.join(every)}"
    if "tokeniser" in about:
        yield EXPLAINED[about["tokeniser"]].capitalize()
    if any(PERSON in rows for rows in criteria.values()):
        yield f"{PERSON}: the rating of one person beside the mean of the others"
    for criterion, rows in criteria.items():
        for title, per in (("per caption", "captions"), ("per system", "systems")):
            yield ""
            table = {name: getattr(agreement, per) for name, agreement in rows.items()}
            heads = [TITLES[name] for name in next(iter(table.values()))]
            cells = [
                [NAMES.get(n, n), *map(_cell, coefficients.values())]
                for n, coefficients in table.items()
            ]
            yield from aligned([[f"{criterion}, {title}", *heads], *cells])
        yield ""
        columns = {PEOPLE: next(iter(rows.values())).scores} | {
            NAMES.get(name, name): agreement.figures
            for name, agreement in rows.items()
            if name != PERSON
        }
        body = zip(systems[criterion], *columns.values(), strict=True)
        yield from aligned(
            [[f"{criterion}, means", *columns]]
            + [[system, *(f"{figure:.3f}" for figure in figures)] for system, *figures in body]
        )
    for metric, reason in about.get("failures", {}).items():
        yield f"No figure of {metric}: {reason}"
    if about["notes"]:
        yield ""
        yield from about["notes"]


def _notes(
    about: Mapping[str, Any], criteria: Mapping[str, Mapping[str, Agreement]]
) -> Iterator[str]:
    """Why coefficients or intervals are missing, if some are."""
    every = [
        coefficient
        for rows in criteria.values()
        for row in rows.values()
        for coefficient in (*row.captions.values(), *row.systems.values())
    ]
    if any(math.isnan(coefficient.value) for coefficient in every):
        yield (
            "A coefficient that is missing (–, in JSON null) is not defined: people, or the "
            "metric, say the same of all that it compares, or there is only one system."
        )
    if any(coefficient.is_constant for coefficient in every):
        yield (
            "A coefficient with no interval (in JSON null) is the same in nearly all resamples of "
            "the images, as that of a perfect order is. They do not say how certain it is."
        )
    if all(
        coefficient.interval or coefficient.is_constant or math.isnan(coefficient.value)
        for coefficient in every
    ):
        return
    if not about["resamples"]:
        yield "There are no intervals, because --resamples is 0."
    elif about["images"] == 1:
        yield "There are no intervals, because all captions are of one image."
    else:
        yield (
            "A coefficient without an interval (in JSON null) is not defined in some resamples of "
            "the images, in which all figures or all ratings are the same, or a system has no "
            "rated caption. Rate more images."
        )


def _cell(coefficient: Coefficient) -> str:
    if math.isnan(coefficient.value):
        return "–"
    interval = coefficient.interval
    ends = f" [{interval.low:.2f}, {interval.high:.2f}]" if interval else ""
    return f"{coefficient.value:.2f}{ends}"
