from pathlib import Path

import pytest

from corpora.evaluation.references import References, read_references
from corpora.evaluation.results import read_results
from corpora.evaluation.scoring import Scores, score


@pytest.fixture(scope="session")
def coco_references(shared_data: Path) -> References:
    return read_references(shared_data / "coco" / "captions_val2014_fakecap1000.derived.json")


@pytest.fixture(scope="session")
def coco_results(shared_data: Path) -> dict[int, str]:
    return read_results(shared_data / "coco" / "captions_val2014_fakecap_results.json")


@pytest.fixture(scope="session")
def coco_scores(coco_references: References, coco_results: dict[int, str]) -> Scores:
    """The scores of COCO's example by the official tokeniser and METEOR, which take a while."""
    return score(coco_references.captions, coco_results)
