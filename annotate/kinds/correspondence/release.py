"""Freeze a release of word–box links: compute its rows, statistics and files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from annotate.exports.files import describe, rows_of
from annotate.exports.records import create_in_chunks, save_images
from annotate.kinds.base import Candidate, Drawn
from annotate.kinds.correspondence import writing
from annotate.kinds.correspondence.aggregation import Answers, Word, aggregate
from annotate.kinds.correspondence.agreement import alpha, units
from annotate.kinds.correspondence.answers import Referent, Words, rules_of
from annotate.kinds.correspondence.boxes import NumberedBox, numbered_boxes
from annotate.kinds.correspondence.export import SENTENCES
from annotate.kinds.correspondence.writing import Picture, Sentence
from annotate.kinds.freezing import save_answers
from annotate.models import Release, ReleasedFile, ReleasedImage, Task
from corpora.wording import counted

ABOUT = ("width", "height", "file_name", "coco_url")


def freeze(release: Release, drawn: Iterable[Drawn], numbers: Mapping[int, int]) -> None:
    """Save the release's rows, its statistics and its files."""
    config = rules_of(release.campaign.config)
    # In the order of submission, because the order of the draw has no meaning here.
    drawn = [Drawn(task, sorted(responses, key=_key)) for task, responses in drawn]
    boxes = numbered_boxes({task.image_id for task, _ in drawn}, parts=config.parts)
    answers = [_answers(responses, boxes[task.image_id], numbers) for task, responses in drawn]
    agreed = aggregate(answers, config.aggregation)
    sentences = [
        _sentence(task, given, words)
        for (task, _), given, words in zip(drawn, answers, agreed, strict=True)
    ]
    outcomes = ({"bracketed": each.bracketed, "agreement": each.agreement} for each in sentences)
    images = save_images(release, [task for task, _ in drawn], outcomes)
    save_answers(images, drawn, numbers)
    overall = alpha(unit for given in answers for unit in units(given.words))
    release.figures = {"aggregation": config.aggregation, "alpha": writing.rounded(overall)}
    release.save(update_fields=["figures"])
    create_in_chunks(ReleasedFile, _files(release, sentences, list(_pictures(images, boxes))))


def _key(response: Candidate) -> int:
    return response.pk


def _answers(
    responses: Sequence[Candidate], boxes: Sequence[NumberedBox], numbers: Mapping[int, int]
) -> Answers:
    """The drawn answers for a caption, by worker number."""
    by_key = {box.key: box.number for box in boxes}
    return Answers(
        [numbers[response.worker_id] for response in responses],
        [_by_number(response.answer, by_key) for response in responses],
    )


def _by_number(words: Words, numbers: Mapping[int, int]) -> dict[str, Referent]:
    """The answer with box numbers in place of keys.

    Boxes that are no longer shown are removed, and words without remaining boxes, too.
    """
    found = {
        word: said
        if isinstance(said, str)
        else sorted(numbers[box] for box in said if box in numbers)
        for word, said in words.items()
    }
    # Sorted, because not every database keeps the order of a JSON object's keys.
    return {word: said for word, said in sorted(found.items(), key=_number) if said}


def _number(item: tuple[str, Referent]) -> int:
    return int(item[0])


def _sentence(task: Task, answers: Answers, words: Mapping[int, Word]) -> Sentence:
    subject = task.subject
    assert subject is not None, "a task of this kind is about a caption"
    return Sentence(
        task.number, task.image.key, subject.annotation_id, subject.text, answers, words
    )


def _pictures(
    images: Iterable[ReleasedImage], boxes: Mapping[int, Sequence[NumberedBox]]
) -> Iterator[Picture]:
    """Each image once, in the order of its first caption."""
    seen: set[int] = set()
    for image in images:
        task = image.task
        if task.image_id not in seen:
            seen.add(task.image_id)
            about = {name: image.record[name] for name in ABOUT}
            yield Picture(task.image.key, about, boxes[task.image_id])


def _files(
    release: Release, sentences: Sequence[Sentence], pictures: Sequence[Picture]
) -> Iterator[ReleasedFile]:
    """The rows of all files, file by file."""
    about = describe(release, f"words of {counted(len(sentences), 'caption')} linked to boxes")
    files = {
        "correspondences.json": writing.correspondences_file(about | release.figures, sentences),
        "boxes.json": writing.boxes_file(pictures),
        "gold.json": writing.gold_file(sentences),
        "mentions.json": writing.mentions_file(sentences),
        "brackets.txt": writing.brackets_file(sentences),
    }
    for name, texts in files.items():
        yield from rows_of(release, name, texts)
    for key, text in writing.sentence_files(sentences, pictures):
        yield ReleasedFile(release=release, name=f"{SENTENCES}{key}.txt", text=text)
