"""Time and figures of scoring 4,500 images with 10 references each, without METEOR and SPICE, by
each tokeniser; and the figures of COCO's own example.

The captions are 2,250 real images of nocaps, each twice. One reference of each image is scored
against the others and one further copy, so that there are ten."""

import argparse
from functools import partial

from annotate.evaluation.references import read_references
from annotate.evaluation.results import read_results
from annotate.evaluation.scoring import METRICS, score
from annotate.evaluation.tokenisers import OFFICIAL, PLAIN
from benchmarks.crowds import read_captions, shared_data
from benchmarks.harness import Line, Report, main, ratio, seconds

IMAGES = 4_500
AIM_SECONDS = 60
QUICK = ("bleu", "rouge-l", "cider")


def measure(options: argparse.Namespace) -> Report:
    report = Report()
    references, results = nocaps_twice()
    for tokeniser in (OFFICIAL, PLAIN):
        taken = seconds(
            partial(score, references, results, metrics=QUICK, tokeniser=tokeniser),
        )
        report.lines.append(
            Line(
                f"scoring of {IMAGES:,} × 10, {tokeniser}",
                f"{taken:.1f} s",
                f"{AIM_SECONDS} s",
                ratio(taken, AIM_SECONDS),
                1.0,
            )
        )
        report.figures[f"{tokeniser}_s"] = round(taken, 2)
    compare_tokenisers(report, tuple(METRICS) if options.full else QUICK)
    return report


def nocaps_twice() -> tuple[dict[int, list[str]], dict[int, str]]:
    """Ten references and one caption for each image."""
    captions = list(read_captions("nocaps").values())
    both = dict(enumerate(captions + captions))
    others = {image: [*texts[1:], texts[-1]] for image, texts in both.items()}
    return others, {image: texts[0] for image, texts in both.items()}


def compare_tokenisers(report: Report, metrics: tuple[str, ...]) -> None:
    """Add the figures of COCO's example by both tokenisers, side by side."""
    folder = shared_data() / "coco"
    references = read_references(folder / "captions_val2014_fakecap1000.derived.json").captions
    results = read_results(folder / "captions_val2014_fakecap_results.json")
    by_tokeniser = {
        name: score(references, results, metrics=metrics, tokeniser=name).overall
        for name in (OFFICIAL, PLAIN)
    }
    for figure, official in by_tokeniser[OFFICIAL].items():
        plain = by_tokeniser[PLAIN].get(figure)
        shown = "" if plain is None else f"plain {plain:.4f}"
        report.lines.append(Line(f"COCO's example, {figure}", f"ptb {official:.4f}", shown))
    report.figures["coco_example"] = by_tokeniser


if __name__ == "__main__":
    main(measure, name="evaluation", description=__doc__)
