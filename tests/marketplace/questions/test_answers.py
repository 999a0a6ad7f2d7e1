"""Converting the fields of a submitted form into answers."""

import pytest

from marketplace.errors import DomainError
from marketplace.questions import answers

FRAME = [("assignmentId", ["3A"]), ("hitId", ["3B"]), ("workerId", ["AC"])]


def test_the_frames_own_fields_are_no_answers_beside_others():
    document = answers.build([*FRAME, ("colour", ["red"])])

    assert "red" in document
    assert "3B" not in document
    assert "AC" not in document


def test_a_form_with_the_frames_fields_alone_is_taken_as_psiturk_sends_it():
    document = answers.build(FRAME)

    assert ("3A" in document, "3B" in document, "AC" in document) == (False, True, True)


def test_such_a_form_can_be_refused_by_a_setting(settings):
    settings.MTURK_FRAME_FIELDS_ALONE_ARE_ANSWERS = False

    with pytest.raises(DomainError, match="contains no answer"):
        answers.build(FRAME)


@pytest.mark.parametrize(("how", "values"), [("join", ["cat|dog"]), ("apart", ["cat", "dog"])])
def test_all_values_of_a_repeated_field_are_read(settings, how, values):
    settings.MTURK_REPEATED_FIELDS = how

    document = answers.build([("animal", ["cat", "dog"])])

    assert answers.read(document) == {"animal": values}


def test_a_form_with_nothing_but_the_assignment_is_refused():
    with pytest.raises(DomainError, match="contains no answer"):
        answers.build(FRAME[:1])


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({"token": "a:b:c", "counts": '{"a": 1, "b": 2}', "caption": " A dog. "}, "A dog."),
        ({"remark": "no idea", "caption": "Two dogs run."}, "Two dogs run."),
        ({"caption": "犬が走る。"}, "犬が走る。"),
        ({"choice": "left", "boxes": "[1, 2]"}, ""),
    ],
)
def test_a_persons_text_is_told_from_other_values(fields, written):
    document = answers.build((name, [value]) for name, value in fields.items())

    assert answers.writing_in(document) == written


def test_a_deleted_answer_has_no_writing():
    assert answers.writing_in("") == ""
