"""A worker's answer for programs: the links of each word, and the boxes to choose from.

Boxes have the same ids as in the files of a release.
"""

from typing import Any

from annotate.kinds.correspondence.answers import kinds, links
from annotate.kinds.correspondence.brackets import bracketed
from annotate.kinds.correspondence.rules import rules_of
from annotate.kinds.correspondence.shown_boxes import numbered_boxes
from annotate.kinds.correspondence.writing import box_id
from annotate.language.tokens import tokens
from annotate.models import Response


def judge_payload(response: Response) -> dict[str, Any]:
    """The `caption`, and the `answer` in several forms.

    The answer has the caption with links in brackets, `links` and `kinds` by the numbers of the
    words in `tokens`, and the image's boxes.
    """
    task, said = response.task, response.correspondence.words
    caption, image = task.subject.text if task.subject else "", task.image.key
    shown = numbered_boxes([task.image_id], parts=rules_of(task.campaign.config).parts)
    numbers = {box.key: box.number for box in shown[task.image_id]}
    linked: dict[int, tuple[int, ...]] = {}
    # A submission may name a box that the campaign does not show. Ignore it.
    known = [(word, numbers[box]) for word, box in links(said) if box in numbers]
    for word, number in sorted(known):
        linked[word] = (*linked.get(word, ()), number)
    return {
        "caption": caption,
        "answer": {
            "brackets": bracketed(caption, linked),
            "tokens": [token._asdict() for token in tokens(caption)],
            "links": {
                str(word): [box_id(image, number) for number in boxes]
                for word, boxes in linked.items()
            },
            "kinds": {str(word): kind for word, kind in sorted(kinds(said).items())},
            "boxes": {
                box_id(image, box.number): {
                    "number": box.number,
                    "label": box.name,
                    "fractions": [box.x_min, box.y_min, box.x_max, box.y_max],
                }
                for box in shown[task.image_id]
            },
        },
    }
