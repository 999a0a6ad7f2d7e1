"""Reading captions that were collected elsewhere."""

import csv
import gzip
import io
import json
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.datasets.collected import Collected, Columns, Fault, read_collected
from corpora.datasets.image_names import image_names
from corpora.reading.files import MalformedFile

# The columns of a batch-results file, in the requester site's order.
HEADER = [
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime",
    "MaxAssignments", "RequesterAnnotation", "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds", "Expiration", "NumberOfSimilarHITs", "LifetimeInSeconds",
    "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime", "AutoApprovalTime",
    "ApprovalTime", "RejectionTime", "RequesterFeedback", "WorkTimeInSeconds",
    "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
]  # fmt: skip
NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
ROW = {
    "WorkerId": "A1",
    "AssignmentStatus": "Approved",
    "WorkTimeInSeconds": "42",
    "SubmitTime": "Wed Oct 07 05:12:31 PDT 2015",
    "Input.image_url": "https://images.example/0013ea2087020901.jpg",
    "Answer.caption": "A dog runs.",
}
EXPECTED = Collected(
    line=2,
    image="https://images.example/0013ea2087020901.jpg",
    worker="A1",
    caption="A dog runs.",
    seconds=42,
    submitted_at=datetime(2015, 10, 7, 12, 12, 31, tzinfo=UTC),
)


@pytest.fixture
def write(tmp_path):
    def write_bytes(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_bytes


def batch(*rows):
    """A batch-results file; each row is ROW with the given changes."""
    rows = [{**ROW, **row} for row in rows or [{}]]
    names = HEADER + [name for name in rows[0] if name not in HEADER] + ["Approve", "Reject"]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([row.get(name, "") for name in names[:-2]])
    return out.getvalue()


def read(path, **columns):
    return list(read_collected(path, columns=Columns(**columns), at=NOW))


def read_line(write, **entry):
    """The only entry of a JSON lines file."""
    entry = {"image": "0013ea", "worker": "w", "caption": "A dog.", **entry}
    (found,) = read(write(json.dumps(entry)))
    return found


def test_a_batch_results_file_needs_no_options(write):
    assert read(write(batch())) == [EXPECTED]


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(lambda text: text.encode("utf-8-sig"), id="byte order mark"),
        pytest.param(lambda text: text.replace("\r\n", "\n").encode(), id="line feeds"),
        pytest.param(lambda text: text.replace("\r\n", "\r").encode(), id="carriage returns"),
        pytest.param(lambda text: text.encode("utf-16"), id="UTF-16"),
        pytest.param(lambda text: text.encode("utf-16-be"), id="UTF-16 without a mark"),
        pytest.param(lambda text: text.encode("utf-32"), id="UTF-32"),
        pytest.param(lambda text: text.replace('","', '";"').encode(), id="semicolons"),
        pytest.param(lambda text: text.replace('","', '"\t"').encode(), id="tabs"),
    ],
)
def test_marks_encodings_separators_and_line_ends_of_a_table_do_not_matter(write, packed):
    assert read(write(packed(batch()))) == [EXPECTED]


def test_a_packed_file_is_unpacked(write):
    assert read(write(gzip.compress(batch().encode()), "results.csv.gz")) == [EXPECTED]


def test_quotes_commas_and_line_breaks_in_a_caption_stay_and_lines_are_counted(write):
    text = 'A "dog", brown,\nruns.'

    found = read(write(batch({"Answer.caption": text}, {"Answer.caption": "A cat."})))

    assert [(entry.line, entry.caption) for entry in found] == [(2, text), (4, "A cat.")]


def test_columns_are_named_where_more_than_one_can_be_meant(write):
    path = write(batch({"Answer.caption2": "A cat.", "Input.image2_url": "b.jpg"}))

    with pytest.raises(MalformedFile, match=r"--image-column .*Input\.image_url, Input\.image2_ur"):
        read(path)
    with pytest.raises(MalformedFile, match=r"--caption-column .*Answer\.caption, Answer\.caption"):
        read(path, image="Input.image2_url")

    (found,) = read(path, image="Input.image2_url", caption="Answer.caption2")
    assert (found.image, found.caption) == ("b.jpg", "A cat.")


def test_of_several_columns_the_one_that_sounds_like_it_is_taken(write):
    (found,) = read(write(batch({"Answer.comments": "nice", "Input.city": "Lima"})))

    assert (found.image, found.caption) == (EXPECTED.image, EXPECTED.caption)


def test_a_named_column_must_be_there_and_an_empty_name_reads_none(write):
    path = write(batch({"SubmitTime": "yesterday"}))

    with pytest.raises(MalformedFile, match=r"no column When; .* --time-column"):
        read(path, submitted_at="When")

    (found,) = read(path, submitted_at="")
    assert found.submitted_at is None


def test_a_plain_table_needs_no_options_and_no_column_of_statuses(write):
    plain = write("\nimage,worker,caption\n0013ea,w1,A dog.\n,,\n\n0013ea,w2,A cat.\n")
    more = write("caption;worker;image;seconds;status\nA dog.;w1;0013ea;12;rejected\n", "more")

    first, second = read(plain)
    (rejected,) = read(more)

    assert first == Collected(3, "0013ea", "w1", "A dog.")
    assert (second.line, second.worker) == (6, "w2")
    assert rejected == Collected(2, "0013ea", "w1", "A dog.", seconds=12, is_rejected=True)


def test_batch_results_without_statuses_are_refused_unless_that_is_said(write):
    path = write(batch().replace("AssignmentStatus", "State"))

    with pytest.raises(MalformedFile, match="no column AssignmentStatus.* --status-column"):
        read(path)

    assert read(path, status="") == read(path, status="State") == [EXPECTED]


@pytest.mark.parametrize("status", ["Returned", "", "NotReviewed"])
def test_a_status_that_is_not_known_is_a_fault_with_its_line(write, status):
    path = write(batch({}, {"AssignmentStatus": status}, {}))

    found = read(path)

    reason = f"the status is {status!r}, not Approved, Rejected or Submitted"
    assert found[1] == Fault(3, reason)
    assert [type(entry) for entry in found] == [Collected, Fault, Collected]


def test_answers_packed_as_json_are_unpacked(write):
    one = [{"caption": "A dog runs.", "sure": {"yes": True}}]
    two = [{"caption": "A dog runs.", "comment": "nice"}]
    answers = [json.dumps(one), json.dumps(two), "[]", "no JSON"]
    text = batch(*({"Answer.taskAnswers": cell} for cell in answers))
    path = write(text.replace("Answer.caption", "Input.note"))

    guessed = read(path)
    named = read(path, caption="Answer.taskAnswers.comment")

    assert [type(entry) for entry in guessed] == [Collected, Fault, Fault, Fault]
    assert guessed[0].caption == "A dog runs."
    assert "Answer.taskAnswers.caption, Answer.taskAnswers.comment" in guessed[1].reason
    assert [entry.caption for entry in named if isinstance(entry, Collected)] == ["nice"]


def test_rejected_assignments_are_marked(write):
    found = read(write(batch({"AssignmentStatus": "Rejected"}, {"AssignmentStatus": "Submitted"})))

    assert [entry.is_rejected for entry in found] == [True, False]


def test_a_row_that_is_too_long_is_a_fault_and_the_next_is_read(write):
    lines = batch({}, {}).split("\r\n")
    lines[1] += ',"","","",""'

    found = read(write("\r\n".join(lines)))

    assert found[0] == Fault(2, "31 fields are expected, there are 33")
    assert found[1] == EXPECTED._replace(line=3)


def test_json_lines_give_what_they_know(write):
    full = {"seconds": 12.6, "submitted_at": "2026-11-02T12:00:00+02:00", "pasted": True}
    text = "\ufeff" + json.dumps({"image": 7, "worker": 1, "caption": "A dog."}) + "\r\n\r\n"
    text += json.dumps({"image": "7", "worker": "1", "caption": "A cat.", "other": 1, **full})

    assert read(write(text)) == [
        Collected(1, "7", "1", "A dog."),
        Collected(3, "7", "1", "A cat.", 13, datetime(2026, 11, 2, 10, tzinfo=UTC), True),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '[{"image": 1, "worker": 1, "caption": "A dog."}, '
        '{"image": 2, "worker": 1, "caption": "B"}]',
        '[\n{"image": 1, "worker": 1,\n"caption": "A dog."},\n\n 7,\n{"image": 2,\n"worker": 1, '
        '"caption": "A cat."}\n]\n\n',
        ' \n[{"image": 1, "worker": 1, "caption": "A\\u0000"}]',
        "[]",
    ],
)
def test_an_array_gives_its_objects_with_the_lines_where_they_begin(write, text):
    expected = {
        "[{": [(1, "A dog."), (1, "B")],
        "[\n": [(2, "A dog."), (5, None), (6, "A cat.")],
        " \n": [(2, None)],
        "[]": [],
    }

    found = read(write(text))

    assert [
        (entry.line, entry.caption if isinstance(entry, Collected) else None) for entry in found
    ] == expected[text[:2]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[\n{"a": 1}', ":2: not valid JSON: a comma or ] is expected"),
        ('[\n{"a": 1},\n]', ":3: not valid JSON: a value is expected after the comma"),
        ('[\n{"a": 1}\n{"a": 2}]', ":3: not valid JSON: a comma or ]"),
        ('[\n{"a": 1}]\nmore', ":3: there is more text after the end"),
        ('[\n\n{"a": \n x}]', ":4: not valid JSON: Expecting value"),
        ("[" * 200_000, ":1: the JSON is nested too deeply"),
        ("[\n" + "[" * 200_000 + "]" * 200_001, ":2: the JSON is nested too deeply"),
        ("[\n" + "9" * 5_000 + "]", ":2: a number has more digits"),
        ("[", ":1: not valid JSON"),
    ],
)
def test_an_array_that_is_not_valid_is_refused_with_the_line(write, text, reason):
    with pytest.raises(MalformedFile, match=reason):
        read(write(text))


@pytest.mark.parametrize(
    "line", ["[" * 200_000, "{", "[1]", "7", '{"a": 1}}', '{"seconds": ' + "9" * 5000 + "}"]
)
def test_a_line_that_is_not_an_object_is_a_fault(write, line):
    good = json.dumps({"image": "a", "worker": "w", "caption": "A dog."})

    found = read(write(f"{good}\n{line}\n{good}\n"))

    assert [type(entry) for entry in found] == [Collected, Fault, Collected]
    assert found[1].line == 2


@pytest.mark.parametrize(
    "name", ["Screenshot at 9.41\u202fAM.png", "می\u200cروم.jpg", "👩\u200d🚀.jpg", "a\u00a0b.png"]
)
def test_names_of_files_may_have_narrow_spaces_and_joiners(write, name):
    [found] = read(write(json.dumps([{"image": name, "worker": "w", "caption": "A dog."}])))

    assert found.image == name


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"image": ""}, "there is no image"),
        ({"image": None}, "there is no image"),
        ({"image": True}, "there is no image"),
        ({"worker": " "}, "there is no worker"),
        ({"worker": "w" * 65}, "too long"),
        ({"worker": "a\x00b"}, r"NUL character \(U\+0000\)"),
        ({"image": "\ud800"}, r"half of a surrogate pair \(U\+D800\)"),
        ({"image": "a\nb"}, "cannot be printed"),
        ({"worker": "a\u200bb"}, "cannot be printed"),
        ({"caption": "A dog\x00."}, "NUL character"),
        ({"caption": "x" * 10_001}, "has 10,001 characters"),
        ({"other": [{"\udfff": 1}]}, "surrogate pair"),
        ({"status": "Returned"}, "the status is 'Returned'"),
        ({"status": 1}, "the status is 1"),
        ({"seconds": 10**400}, "not a number of seconds"),
        ({"caption": " \n"}, "the caption is empty"),
        ({"caption": None}, "the caption is empty"),
        ({"caption": ["A dog."]}, "the caption is not a text"),
        ({"seconds": "soon"}, "not a number of seconds: 'soon'"),
        ({"seconds": -1}, "not a number of seconds"),
        ({"seconds": True}, "not a number of seconds"),
        ({"seconds": 1e12}, "not a number of seconds"),
        ({"submitted_at": "Wed Oct 07 05:12:31 XYZ 2015"}, "not a time"),
        ({"submitted_at": "Wed Foo 07 05:12:31 PDT 2015"}, "not a time"),
        ({"submitted_at": 5}, "not a time"),
        ({"primed": 5}, "primed is neither true nor false: 5"),
        ({"submitted_at": "0002-02-22"}, "the time '0002-02-22' is not between 2005 and tomorrow"),
        ({"submitted_at": "2004-12-31T23:59:59"}, "is not between 2005 and tomorrow"),
        ({"submitted_at": "Fri Dec 31 05:12:31 PST 1999"}, "is not between 2005 and tomorrow"),
        ({"submitted_at": "2026-11-03T12:00:01"}, "is not between 2005 and tomorrow"),
        ({"pasted": "yes"}, "pasted is neither"),
    ],
)
def test_a_field_that_cannot_be_used_is_a_fault_that_names_it(write, entry, reason):
    found = read_line(write, **entry)

    assert isinstance(found, Fault)
    assert re.search(reason, found.reason)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Wed Oct 07 05:12:31 PDT 2015", datetime(2015, 10, 7, 12, 12, 31, tzinfo=UTC)),
        ("Thu Jan  1 05:12:31 PST 2015", datetime(2015, 1, 1, 13, 12, 31, tzinfo=UTC)),
        ("Thu Oct 09 07:30:20 UTC 2025", datetime(2025, 10, 9, 7, 30, 20, tzinfo=UTC)),
        ("2026-11-02T12:00:00Z", datetime(2026, 11, 2, 12, tzinfo=UTC)),
        ("2026-11-02 12:00:00", datetime(2026, 11, 2, 12, tzinfo=UTC)),
        ("2026-11-02", datetime(2026, 11, 2, tzinfo=UTC)),
        ("", None),
        (None, None),
    ],
)
def test_times_are_read_in_both_forms(write, text, at):
    assert read_line(write, submitted_at=text).submitted_at == at


@given(
    st.datetimes(datetime(2005, 1, 2), datetime(2026, 11, 3)),
    st.sampled_from([("PST", -8), ("PDT", -7), ("EST", -5), ("UTC", 0)]),
)
def test_the_requester_sites_time_of_any_moment_is_read_back(tmp_path_factory, moment, zone):
    name, hours = zone
    at = moment.replace(microsecond=0, tzinfo=timezone(timedelta(hours=hours)))
    path = tmp_path_factory.getbasetemp() / "moment.csv"
    path.write_text(batch({"SubmitTime": at.strftime(f"%a %b %d %H:%M:%S {name} %Y")}))

    (found,) = read(path)

    assert found.submitted_at == at


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
        ("HITId,Answer.caption\n1,A dog.\n", "WorkerId"),
        ("a sentence\n", r"no column WorkerId; .* \(the columns are a sentence\)"),
        (b'{"image": "\xff"}', ":1: byte 0xFF at offset 11 is not UTF-8"),
        (batch().encode("utf-16")[:-1], ":3: byte 0x0A at offset .* is not UTF-16"),
        (batch() + '"an open quote\n\n', ":3: unexpected end of data: a quotation mark"),
        ("WorkerId,WorkerId\n", ":1: the header names a column twice"),
        (b"PK\x03\x04\x00\x00", "NUL character"),
    ],
)
def test_a_file_of_neither_form_is_refused(write, content, reason):
    with pytest.raises(MalformedFile, match=reason):
        read(write(content))


def test_a_bad_byte_far_down_is_named_with_the_line_that_an_editor_shows(write):
    rows = [{"Answer.caption": f'A "dog",\r\nnumber {n}.'} for n in range(1, 2_000)]
    content = batch(*rows).encode().replace(b"number 1500.", b"number \x92 1500.")
    line = content[: content.index(b"\x92")].count(b"\n") + 1

    with pytest.raises(MalformedFile, match=f":{line}: byte 0x92 at offset .* it is '’'"):
        read(write(content))


def test_a_cell_longer_than_csvs_own_limit_is_read_and_its_row_alone_is_a_fault(write):
    found = read(write(batch({}, {"Answer.caption": "x" * 200_000}, {})))

    assert [type(entry) for entry in found] == [Collected, Fault, Collected]
    assert found[1] == Fault(3, "the caption has 200,000 characters, more than 10,000")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(MalformedFile, match="No such file"):
        read(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0013ea2087020901", ["0013ea2087020901"]),
        ("val/0013ea2087020901.jpg", ["val/0013ea2087020901.jpg", "0013ea2087020901"]),
        ("https://a.example/x/b7.JPEG?s=1#f", ["https://a.example/x/b7.JPEG?s=1#f", "b7"]),
        (
            "COCO_val2014_000000391895.jpg",
            ["COCO_val2014_000000391895.jpg", "COCO_val2014_000000391895", "391895"],
        ),
        ("000000391895", ["000000391895", "391895"]),
        ("v1.2", ["v1.2"]),
    ],
)
def test_an_image_goes_by_its_id_its_files_name_and_cocos_number(text, names):
    assert image_names(text) == names


@given(st.text())
def test_any_text_is_some_images_name(text):
    assert image_names(text)[0] == text


@given(st.binary(max_size=300))
def test_no_file_brings_the_reader_down(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(b"image,worker,caption\n" + content)

    try:
        found = read(path, worker="worker")
    except MalformedFile:
        return

    assert all(isinstance(entry, Collected | Fault) for entry in found)
