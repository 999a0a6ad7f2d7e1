"""Score several results of the same images, and report the figures as a table and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from corpora.evaluation.bootstrap import RESAMPLES, Difference, Interval, compare, intervals
from corpora.evaluation.java import JavaFailed
from corpora.evaluation.metrics import NoFigure, Sentences
from corpora.evaluation.references import References
from corpora.evaluation.scoring import (
    ALL,
    Group,
    Outside,
    Plan,
    Scores,
    leave_one_out,
    score_sentences,
    tokenise,
)
from corpora.evaluation.tokenisers import ENGLISH_ONLY, OFFICIAL, PLAIN
from corpora.language.languages import is_english
from corpora.wording import counted

# Usual names of figures whose keys are those of COCO's evaluation.
NAMES = {f"Bleu_{length}": f"BLEU-{length}" for length in range(1, 5)} | {
    "ROUGE_L": "ROUGE-L",
    "CIDEr": "CIDEr-D",
}
RESULTS, SECOND, BASELINE, LEFT_OUT = "results", "second", "human_baseline", "leave_one_out"
TITLES = {RESULTS: "results", SECOND: "second", BASELINE: "human baseline", LEFT_OUT: "people"}
EXPLAINED = {
    OFFICIAL: "the official tokeniser (ptb)",
    PLAIN: "our tokeniser (plain); do not compare these with figures of the official tokeniser",
}


class Candidate(NamedTuple):
    """Captions to score, and their scores by metrics computed elsewhere."""

    captions: Mapping[int, str]
    outside: Outside | None = None


class Choices(NamedTuple):
    """What to compute beside the figures; 0 resamples give no intervals.

    With `may_be_plain`, our tokeniser is used where the official one fails or does not know the
    language.
    """

    leave_one_out: bool = False
    may_be_plain: bool = False
    resamples: int = RESAMPLES
    seed: int = 0


class Report(NamedTuple):
    """The scores of each candidate by its key, such as RESULTS, and what they were made of."""

    references: References
    plan: Plan
    choices: Choices
    scores: Mapping[str, Scores]
    note: str

    def as_json(self) -> dict[str, Any]:
        """One object; the figures of the first results are direct members."""
        content: dict[str, Any] = {
            "language": self.references.language,
            "tokeniser": self.plan.tokeniser,
            "idf": self.plan.idf,
            "images": len(self.references.captions),
            "images_without_references": len(self.references.without),
            "references": {"fewest": self.references.fewest, "most": self.references.most},
            "resamples": self.choices.resamples,
            "seed": self.choices.seed,
        }
        for key, scores in self.scores.items():
            part = self._scores_as_json(scores)
            content |= part if key == RESULTS else {key: part}
        if {RESULTS, SECOND} <= self.scores.keys():
            content["differences"] = {
                "overall": _as_json(self.differences(None)),
                "by_subset": {
                    name: _as_json(self.differences(name)) for name in self.scores[RESULTS].subsets
                },
            }
        return content

    def _scores_as_json(self, scores: Scores) -> dict[str, Any]:
        return {
            "scores": scores.overall,
            "intervals": _as_json(self.intervals(scores.whole)),
            "by_subset": {
                name: {
                    "images": len(group.images),
                    "scores": group.figures,
                    "intervals": _as_json(self.intervals(group)),
                }
                for name, group in scores.subsets.items()
            },
            "failures": dict(scores.failures),
        }

    def intervals(self, group: Group) -> dict[str, Interval]:
        """The interval of each figure by name; none without resamples."""
        if not self.choices.resamples:
            return {}
        return intervals(group, resamples=self.choices.resamples, seed=self.choices.seed)

    def differences(self, subset: str | None) -> dict[str, Difference]:
        """The second results' figures minus the first's, of a subset or of all images."""
        if not self.choices.resamples:
            return {}
        first, second = (_group(self.scores[key], subset) for key in (RESULTS, SECOND))
        return compare(first, second, resamples=self.choices.resamples, seed=self.choices.seed)

    def lines(self) -> Iterator[str]:
        yield f"{self._about_references()}, {EXPLAINED[self.plan.tokeniser]}"
        if self.note:
            yield f"The official tokeniser was not used: {self.note}"
        if self.references.without:
            yield f"Images without references, left out: {len(self.references.without):,}"
        source = "all images" if self.plan.idf == ALL else "the images of each subset"
        yield f"Document frequencies of CIDEr-D: from {source}"
        if LEFT_OUT in self.scores:
            yield "people: each reference scored against the others, of which there is one fewer"
        subsets = dict.fromkeys(chain.from_iterable(s.subsets for s in self.scores.values()))
        for subset in (None, *subsets):
            yield ""
            yield from self._table(subset)
        for key, scores in self.scores.items():
            for metric, reason in scores.failures.items():
                yield f"No figure of {metric} ({TITLES[key]}): {reason}"

    def _about_references(self) -> str:
        fewest, most = self.references.fewest, self.references.most
        images = counted(len(self.references.captions), "image")
        if fewest == most:
            return f"{images}, {counted(fewest, 'reference')} each"
        return f"{images}, {fewest} to {most} references each"

    def _table(self, subset: str | None) -> Iterator[str]:
        groups = {key: _group(scores, subset) for key, scores in self.scores.items()}
        title = subset or "all images"
        size = len(next(iter(groups.values())).images)
        heads = [f"{title} ({size:,})", *(TITLES[key] for key in groups)]
        columns = [_cells(group.figures, self.intervals(group)) for group in groups.values()]
        if {RESULTS, SECOND} <= groups.keys() and self.choices.resamples:
            heads.append("second − results")
            columns.append(_difference_cells(self.differences(subset)))
        figures = dict.fromkeys(chain.from_iterable(columns))
        yield from aligned(
            [heads]
            + [[NAMES.get(f, f), *(column.get(f, "") for column in columns)] for f in figures]
        )


def make_report(
    references: References,
    candidates: Mapping[str, Candidate],
    plan: Plan,
    choices: Choices,
) -> Report:
    """Score all candidates with the same tokeniser.

    If the official one fails or does not know the language and `may_be_plain`, ours is used; else
    raises JavaFailed, or NoFigure for the language.
    """
    note = ""
    captions = [candidate.captions for candidate in candidates.values()]
    try:
        if plan.tokeniser == OFFICIAL and not is_english(references.language):
            raise NoFigure(ENGLISH_ONLY)
        others, own = tokenise(references.captions, captions, plan)
    except (JavaFailed, NoFigure) as error:
        if not choices.may_be_plain:
            raise
        plan, note = plan._replace(tokeniser=PLAIN), str(error)
        others, own = tokenise(references.captions, captions, plan)
    images = [*references.captions]
    scores = {
        key: score_sentences(images, Sentences(others, words), plan, candidate.outside)
        for (key, candidate), words in zip(candidates.items(), own, strict=True)
    }
    if choices.leave_one_out:
        scores[LEFT_OUT] = leave_one_out(images, others, plan)
    return Report(references, plan, choices, scores, note)


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()


def _group(scores: Scores, subset: str | None) -> Group:
    return scores.whole if subset is None else scores.subsets[subset]


def _cells(figures: Mapping[str, float], ranges: Mapping[str, Interval]) -> dict[str, str]:
    return {
        name: f"{figure:.3f}"
        + (f" [{ranges[name].low:.3f}, {ranges[name].high:.3f}]" if name in ranges else "")
        for name, figure in figures.items()
    }


def _difference_cells(differences: Mapping[str, Difference]) -> dict[str, str]:
    return {
        name: f"{difference.difference:+.3f}"
        + (
            f" [{difference.interval.low:+.3f}, {difference.interval.high:+.3f}]"
            if difference.interval
            else ""
        )
        + f", p {difference.p:.3f}"
        for name, difference in differences.items()
    }


def _as_json(figures: Mapping[str, Interval] | Mapping[str, Difference]) -> dict[str, Any]:
    return {
        name: list(figure)
        if isinstance(figure, Interval)
        else {
            "difference": figure.difference,
            "interval": figure.interval and list(figure.interval),
            "p": figure.p,
        }
        for name, figure in figures.items()
    }
