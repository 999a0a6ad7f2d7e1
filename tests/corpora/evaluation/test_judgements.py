"""Wrong files of ratings end in a message that names what is wrong."""

from pathlib import Path
from typing import Any

import pytest

from corpora.errors import DomainError
from corpora.evaluation.judgements import captions_in


def shown(**changes: Any) -> dict[str, Any]:
    return {"text": "a dog", "sources": ["good"]} | changes


@pytest.mark.parametrize(
    ("comparison", "message"),
    [
        ({"a": shown(sources=None)}, "`sources` of `a` is a list of names"),
        ({"b": shown(sources=[1])}, "`sources` of `b` is a list of names"),
        ({"b": shown(text=1)}, "`b` has the text and sources of a caption"),
        ({"votes": [{"better": 10**400}]}, "is not a finite number"),
    ],
)
def test_wrong_comparisons_are_refused(
    tmp_path: Path, comparison: dict[str, Any], message: str
) -> None:
    right = {"image_id": 1, "a": shown(), "b": shown(sources=["poor"]), "votes": [{"better": 1}]}

    with pytest.raises(DomainError, match=message):
        captions_in(tmp_path / "p.json", {"comparisons": [right, right | comparison]})
