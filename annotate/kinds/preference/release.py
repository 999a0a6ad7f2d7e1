"""Freeze a release of preferences: every vote, the ranking of the sources, and its tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from annotate.exports.files import (
    RESPONSE,
    WORKER,
    describe,
    response_numbers,
    responses_table,
    save_files,
    stored,
)
from annotate.exports.images import image_tables
from annotate.exports.records import image_names
from annotate.exports.tables import Column, Row, Table, Type
from annotate.kinds.freezing import Drawn, as_submitted, save_figures, save_items
from annotate.kinds.preference.pairs import KNOWN, STEPS, Criterion, Preference, votes_of
from annotate.kinds.rating.marks import Marked
from annotate.kinds.rating.release import IMAGE, SOURCE, marked_caption, marks_table
from annotate.kinds.rating.scores import alpha_of, marks_alpha, rounded
from annotate.kinds.rating.sources import captions_of
from annotate.models import Release
from corpora.evaluation.comparisons import Vote, ranking
from corpora.wording import counted
from corpora.writing import json_file, members
from shared.tables import csv_lines

Entry = Mapping[str, Any]


def freeze(release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
    """Save the release's items, its ranking and its files."""
    drawn = as_submitted(drawn)
    marked: list[Marked] = []
    rules = Preference.of(release.campaign.config)
    names = [criterion.name for criterion in rules.criteria]
    entries = [list(_entries(of_task, numbers, names, marked)) for of_task in drawn]
    save_items(release, drawn, numbers, ({"comparisons": of_image} for of_image in entries))
    criteria = [_figures(criterion, drawn, rules, release.seed) for criterion in rules.criteria]
    words = {"alpha_of_wrong_words": rounded(marks_alpha(marked))} if rules.marks else {}
    save_figures(release, {"pairs": rules.pairs, **words, "criteria": criteria})
    save_files(release, _files(release, [*chain.from_iterable(entries)]))


def _entries(
    drawn: Drawn, numbers: Mapping[int, int], names: Sequence[str], marked: list[Marked]
) -> Iterator[dict[str, Any]]:
    """Each comparison of an image; adds the captions with their marks to `marked`."""
    task, captions = drawn.task, captions_of(drawn.task)
    payload = task.payload or {}
    for number, pair in enumerate(payload["pairs"], start=1):
        shown = []
        for place, sources in enumerate(pair["sources"], start=1):
            text = captions[pair["captions"][place - 1]]["text"]
            number_on_page = 2 * number - 2 + place
            marks = marked_caption(drawn, number_on_page, text, numbers)
            marked += [marks] if marks else []
            caption = {"id": f"{task.number}-{number_on_page}", "text": text, "sources": sources}
            shown.append({**caption, **(marks.entry() if marks else {})})
        yield {
            "id": f"{task.number}-{number}",
            "image_id": task.number,
            **image_names(task.image),
            "votes_known": payload.get(KNOWN),
            "a": shown[0],
            "b": shown[1],
            "votes": [
                {"worker": numbers[response.worker_id]}
                # Not every database keeps the order of a JSON object's keys.
                | {name: answer[name] for name in names if name in answer}
                for response in drawn.responses
                if (answer := response.answer.get(str(number)))
            ],
        }


def _figures(
    criterion: Criterion, drawn: Sequence[Drawn], rules: Preference, seed: int
) -> dict[str, Any]:
    """The ranking of the sources on a criterion, and how far raters agree."""
    votes: list[Vote] = []
    units: list[list[int]] = []
    for task, responses in drawn:
        pairs = (task.payload or {})["pairs"]
        for response in responses:
            key = {"image": task.number, "rater": response.worker_id}
            votes += votes_of(pairs, response.answer, criterion.name, **key)
        for number in range(1, len(pairs) + 1):
            given = [
                response.answer.get(str(number), {}).get(criterion.name) for response in responses
            ]
            units.append([step for step in given if step is not None])
    outcome = ranking(votes, [source.name for source in rules.sources], seed)
    steps = Counter(chain.from_iterable(units))
    return {
        "name": criterion.name,
        "question": criterion.question,
        "votes": steps.total(),
        "steps": {str(step): steps[step] for step in range(1, len(STEPS) + 1)},
        "ties": rounded(steps[3] / steps.total() if steps else None),
        "alpha": rounded(alpha_of(units, "ordinal")),
        "ranking": [
            {
                "source": ranked.source,
                "strength": rounded(ranked.strength),
                "low": rounded(ranked.low),
                "high": rounded(ranked.high),
                "votes": ranked.votes,
            }
            for ranked in outcome.ranked
        ],
        "orders": [
            {
                "above": outcome.ranked[above].source,
                "below": outcome.ranked[below].source,
                "chance_wrong": rounded(chance),
            }
            for (above, below), chance in outcome.wrong.items()
        ],
    }


def _files(release: Release, entries: Sequence[Entry]) -> dict[str, Iterable[str]]:
    info = describe(release, counted(len(entries), "comparison"))
    content = {"info": info, "steps": STEPS, **release.figures, "comparisons": iter(entries)}
    image = ["image_id", "image", "file_name"]
    columns = [*image, "comparison_id", "a", "b", "worker", "criterion", "step"]
    return {
        "preferences.json": json_file(content),
        "votes.csv": csv_lines(columns, _votes_of_all(release, entries)),
        "ranking.csv": csv_lines(
            ["criterion", *(column.name for column in RANKING)], _ranking(release)
        ),
    }


def _votes_of_all(release: Release, entries: Iterable[Entry]) -> Iterator[Row]:
    """A row for each comparison, worker and criterion, with the names of the sources of A and B."""
    for entry in entries:
        sides = (", ".join(entry[side]["sources"]) for side in "ab")
        image = (entry["image_id"], entry["image"], entry["file_name"])
        place = (*image, entry["id"], *sides)
        for vote in entry["votes"]:
            for criterion in release.figures["criteria"]:
                if (name := criterion["name"]) in vote:
                    yield (*place, vote["worker"], name, vote[name])


RANKING = [
    SOURCE,
    Column("strength", Type.NUMBER, "Bradley-Terry strength in logits; all sum to 0"),
    Column("low", Type.NUMBER, "lower end of the 95% interval"),
    Column("high", Type.NUMBER, "upper end of the 95% interval"),
    Column("votes", Type.INTEGER, "comparisons that the source was in"),
]


def tables(release: Release) -> list[Table]:
    """`images`, `boxes`, `captions`, `votes`, `ranking`, `orders`, `marks` and `responses`."""
    criterion = Column("criterion", Type.TEXT, "name of the criterion")
    a = Column("a", Type.TEXT, "id of text A", refers_to="captions.id")
    b = Column("b", Type.TEXT, "id of text B", refers_to="captions.id")
    votes_known = Column("votes_known", Type.INTEGER, "responses known when the pair was chosen")
    return [
        *image_tables(release),
        Table(
            "captions",
            "One row for each text of a comparison.",
            [
                Column("id", Type.TEXT, "id of the text in this release"),
                IMAGE,
                Column("caption", Type.TEXT, "the text as workers saw it"),
                Column("sources", Type.TEXTS, "names of its sources"),
            ],
            partial(_captions, release),
            listed="caption",
        ),
        Table(
            "votes",
            "One row for each comparison, worker and criterion.",
            [
                *(IMAGE, a, b, votes_known, RESPONSE, WORKER, criterion),
                Column("step", Type.INTEGER, "from 1, A is much better, to 5, B is much better"),
            ],
            partial(_votes, release),
        ),
        Table(
            "ranking",
            "One row for each criterion and source, the strongest first.",
            [criterion, *RANKING],
            partial(_ranking, release),
        ),
        Table(
            "orders",
            "One row for each criterion and two sources.",
            [
                criterion,
                Column("above", Type.TEXT, "the stronger source"),
                Column("below", Type.TEXT, "the weaker one"),
                Column("chance_wrong", Type.NUMBER, "chance that their order is wrong"),
            ],
            partial(_orders, release),
        ),
        marks_table(_sides_of_all, release),
        responses_table(release, IMAGE),
    ]


def _comparisons(release: Release) -> Iterator[Entry]:
    return members(stored(release, name="preferences.json"), "comparisons")


def _sides_of_all(release: Release) -> Iterator[Entry]:
    """Both captions of each comparison, with the number of their image."""
    for entry in _comparisons(release):
        yield from ({"image_id": entry["image_id"], **entry[side]} for side in "ab")


def _captions(release: Release) -> Iterator[Row]:
    for side in _sides_of_all(release):
        yield (side["id"], side["image_id"], side["text"], side["sources"])


def _votes(release: Release) -> Iterator[Row]:
    numbers = response_numbers(release)
    names = [criterion["name"] for criterion in release.figures["criteria"]]
    for entry in _comparisons(release):
        place = (entry["image_id"], entry["a"]["id"], entry["b"]["id"], entry["votes_known"])
        for vote in entry["votes"]:
            worker = vote["worker"]
            response = numbers[entry["image_id"], worker]
            given = ((name, vote[name]) for name in names if name in vote)
            yield from ((*place, response, worker, *answer) for answer in given)


def _ranking(release: Release) -> Iterator[Row]:
    for criterion in release.figures["criteria"]:
        for ranked in criterion["ranking"]:
            yield (criterion["name"], *(ranked[column.name] for column in RANKING))


def _orders(release: Release) -> Iterator[Row]:
    for criterion in release.figures["criteria"]:
        for order in criterion["orders"]:
            yield (criterion["name"], order["above"], order["below"], order["chance_wrong"])
