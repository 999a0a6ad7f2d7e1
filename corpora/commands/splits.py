"""Hold pairs of words out from training, and measure whether a model writes them."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from corpora.captioners.matching import (
    Pair,
    pairs_in_parses,
    pairs_in_words,
    pairs_named,
    read_conllu,
    spacy_parser,
)
from corpora.captioners.splits import (
    Described,
    Occurrences,
    Recall,
    Split,
    count_pairs,
    hold_out,
    read_captions,
    recall,
    recall_by_agreement,
)
from corpora.commands import WrongOptions, note, write
from corpora.errors import DomainError

HELP = (
    "Divide the images of a captions file so that pairs of words, such as `black cat`, are "
    "held out from training, and compute Recall@K (Nikolaus et al. 2019)."
)
VALIDATION_SHARE = 0.5
Found = Iterator[tuple[Described, set[str]]]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "captions", type=Path, metavar="CAPTIONS.json", help="captions in COCO form"
    )
    parser.add_argument(
        "--evaluation",
        type=Path,
        metavar="FILE",
        help="captions of other images for evaluation (default: a part of CAPTIONS.json)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FILE",
        help="generated captions in COCO's results form, K for each image; adds Recall@K",
    )
    parser.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="PAIR",
        help="only this pair, for example 'black cat'; may be repeated (default: all 24)",
    )
    parser.add_argument(
        "--parses",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="dependency parses in CoNLL-U for CAPTIONS.json; repeat it for the file of "
        "--evaluation and for the file of --results, in this order",
    )
    parser.add_argument(
        "--spacy",
        metavar="MODEL",
        help="parse the captions with this installed spaCy model (default without --parses: "
        "a rule for words)",
    )
    parser.add_argument(
        "--validation-share",
        type=float,
        metavar="SHARE",
        help="share of held-out images for validation, without --evaluation (default: "
        f"{VALIDATION_SHARE})",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the draw for validation (default: 0)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder for split.json with the images' ids"
    )
    parser.add_argument("--json", action="store_true", help="print split.json instead")


def run(**options: Any) -> Iterator[str]:
    if options["validation_share"] is None:
        options["validation_share"] = VALIDATION_SHARE
    elif options["evaluation"]:
        raise WrongOptions(
            "--evaluation has the images for evaluation: leave --validation-share out."
        )
    if not 0 <= options["validation_share"] <= 1:
        raise WrongOptions("--validation-share must be a number from 0 to 1.")
    pairs = pairs_named(options["pair"])
    occurrences_by_file = occurrences(pairs, options)
    results = occurrences_by_file.get("results")
    content = {
        "info": {
            "captions": options["captions"].name,
            "found_by": found_by(options),
            "seed": options["seed"],
            "validation_share": None if options["evaluation"] else options["validation_share"],
            # K: the largest number of captions generated for an image.
            "most_captions": max(results.captions.values()) if results else None,
        },
        "pairs": [entry(pair, occurrences_by_file, options) for pair in pairs],
    }
    text = json.dumps(content)
    yield from [text] if options["json"] else lines(content)
    if options["out"]:
        path = options["out"] / "split.json"
        write(path, f"{text}\n")
        note(str(path))


def occurrences(pairs: tuple[Pair, ...], options: dict[str, Any]) -> dict[str, Occurrences]:
    """The pairs in each of the given files; raises WrongOptions."""
    names = [name for name in ("captions", "evaluation", "results") if options[name]]
    parses: list[Path | None] = [*options["parses"]] or [None] * len(names)
    if len(parses) != len(names):
        raise WrongOptions(
            f"--parses is needed once for each of the {len(names)} files: {', '.join(names)}."
        )
    if options["spacy"] and options["parses"]:
        raise WrongOptions("Name --parses or --spacy, not both.")
    return {
        name: occurrences_in(options[name], pairs, parse, options["spacy"])
        for name, parse in zip(names, parses, strict=True)
    }


def occurrences_in(
    path: Path, pairs: tuple[Pair, ...], parses: Path | None, model: str | None
) -> Occurrences:
    """The pairs in the captions of a file."""
    captions = read_captions(path)
    if parses:
        with_pairs = by_conllu(captions, pairs, parses)
    elif model:
        with_pairs = by_spacy(captions, pairs, model)
    else:
        with_pairs = ((caption, pairs_in_words(caption.text, pairs)) for caption in captions)
    return count_pairs(tqdm(with_pairs, path.name, len(captions), unit=" captions", disable=None))


def by_conllu(captions: Iterable[Described], pairs: Sequence[Pair], path: Path) -> Found:
    """Each caption with the names of its pairs, by the parses in a CoNLL-U file.

    Raises DomainError if a caption has none.
    """
    parses = read_conllu(path)
    for caption in captions:
        if caption.id not in parses:
            raise DomainError(f"{path} has no sentence for caption {caption.id}.")
        yield caption, pairs_in_parses(parses[caption.id], pairs)


def by_spacy(captions: Sequence[Described], pairs: Sequence[Pair], model: str) -> Found:
    """Each caption with the names of its pairs, by the parses of a spaCy model."""
    parses = spacy_parser(model)(caption.text for caption in captions)
    for caption, sentences in zip(captions, parses, strict=True):
        yield caption, pairs_in_parses(sentences, pairs)


def found_by(options: dict[str, Any]) -> str:
    """How pairs were found; figures of different ways must not be compared."""
    if options["parses"]:
        return "parses"
    return f"spacy {options['spacy']}" if options["spacy"] else "words"


def entry(pair: Pair, by_file: dict[str, Occurrences], options: dict[str, Any]) -> dict[str, Any]:
    """The split of a pair, and its recall if there are results."""
    split = hold_out(
        pair,
        by_file["captions"],
        evaluation=by_file.get("evaluation"),
        validation_share=options["validation_share"],
        seed=options["seed"],
    )
    scored = recalls(pair, split, by_file) if "results" in by_file else {}
    return {"pair": pair.name, "counts": split.counts, **split._asdict(), **scored}


def recalls(pair: Pair, split: Split, by_file: dict[str, Occurrences]) -> dict[str, Any]:
    """Recall@K on the evaluation images, in total and by the references that have the pair."""
    references, results = by_file.get("evaluation", by_file["captions"]), by_file["results"]
    by_agreement = recall_by_agreement(pair, split.evaluation, references, results)
    return {
        "recall": as_json(recall(pair, split.evaluation, results)),
        "without_results": sum(1 for image in split.evaluation if not results.captions[image]),
        "recall_by_references": {str(n): as_json(result) for n, result in by_agreement.items()},
    }


def as_json(recall: Recall) -> dict[str, Any]:
    return {"images": recall.images, "found": recall.found, "recall": recall.value}


def lines(content: dict[str, Any]) -> Iterator[str]:
    """The table: a line for each pair."""
    k = content["info"]["most_captions"]
    parts = ("training", "validation", "evaluation")
    yield f"Pairs found by {content['info']['found_by']}."
    yield (
        f"{'pair':14}"
        + "".join(f"{part:>12}" for part in parts)
        + (f"{f'Recall@{k}':>12}" * bool(k))
    )
    for entry in content["pairs"]:
        counts = "".join(f"{entry['counts'][part]:12,}" for part in parts)
        yield f"{entry['pair']:14}{counts}" + (f"{shown(entry['recall']):>12}" if k else "")


def shown(recall: dict[str, Any]) -> str:
    return "–" if recall["recall"] is None else f"{recall['recall']:.1%}"
