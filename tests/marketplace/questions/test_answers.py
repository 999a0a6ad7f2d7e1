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


def test_a_form_with_nothing_but_the_assignment_is_refused():
    with pytest.raises(DomainError, match="contains no answer"):
        answers.build(FRAME[:1])
