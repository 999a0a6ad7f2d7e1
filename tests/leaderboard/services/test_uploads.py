"""The JSON file in an upload: plain or zipped, and every wrong archive."""

import io
import zipfile

import pytest

from corpora.errors import DomainError
from leaderboard.services.submissions import (
    MOST_UNPACKED,
    MOST_UPLOADED,
    UploadRefused,
    json_bytes,
    read_upload,
)

FIRST_DAY = (1980, 1, 1, 0, 0, 0)
JSON = b'[{"image_id": 1, "caption": "A dog."}]'


def archive(*files: tuple[str, bytes], method=zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as out:
        for name, content in files:
            # A fixed time, so that every process makes the same bytes.
            out.writestr(zipfile.ZipInfo(name, FIRST_DAY), content, method)
    return made.getvalue()


def test_a_plain_file_is_taken_as_it_is():
    assert json_bytes(JSON) == JSON


@pytest.mark.parametrize("name", ["results.json", "folder/results.JSON", "übung…json.json"])
def test_the_only_file_of_an_archive_is_unpacked(name):
    assert json_bytes(archive((name, JSON))) == JSON


def test_the_folders_that_macos_adds_do_not_count():
    content = archive(("run/", b""), ("run/r.json", JSON), ("__MACOSX/run/._r.json", b"\0"))

    assert json_bytes(content) == JSON


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The file is empty"),
        (b" \n", "The file is empty"),
        (archive(), "has 0 files"),
        (archive(("a.json", JSON), ("b.json", JSON)), "has 2 files"),
        (archive(("a.json", JSON), ("./a.json", JSON)), "has 2 files"),
        (archive(("results.txt", JSON)), "must end in .json"),
        (archive(("../results.json", JSON)), "leads out of its folder"),
        (archive(("a/../../results.json", JSON)), "leads out of its folder"),
        (archive(("/etc/results.json", JSON)), "leads out of its folder"),
        (archive(("..\\results.json", JSON)), "leads out of its folder"),
        (archive(("C:/results.json", JSON)), "leads out of its folder"),
        (archive(("r.json", JSON))[:40], "not a complete ZIP file"),
        (b"PK\x03\x04 and nothing of an archive", "not a complete ZIP file"),
    ],
)
def test_a_wrong_upload_is_refused_with_the_reason(content, reason):
    with pytest.raises(DomainError, match=reason):
        json_bytes(content)


def test_damage_inside_the_archive_is_found():
    content = bytearray(archive(("r.json", JSON), method=zipfile.ZIP_STORED))
    content[content.index(b"A dog")] ^= 1

    with pytest.raises(DomainError, match="not a complete ZIP file"):
        json_bytes(bytes(content))


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_an_archive_with_another_compression_is_refused_before_it_is_unpacked(method):
    content = bytearray(archive(("r.json", JSON), method=method))
    content[50] ^= 255

    with pytest.raises(DomainError, match="use the usual one"):
        json_bytes(bytes(content))


def test_an_archive_with_a_password_is_refused():
    content = bytearray(archive(("r.json", JSON)))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1

    with pytest.raises(DomainError, match="protected by a password"):
        json_bytes(bytes(content))


def test_an_archive_that_unpacks_to_too_much_is_refused():
    bomb = archive(("r.json", b" " * (MOST_UNPACKED + 1)))

    assert len(bomb) < 1_000_000
    with pytest.raises(DomainError, match="unpack to more than 10 MB"):
        json_bytes(bomb)


def test_the_size_that_an_archive_states_is_not_believed():
    bomb = bytearray(archive(("r.json", b" " * (MOST_UNPACKED + 1))))
    at = bomb.index(b"PK\x01\x02") + 24
    bomb[at : at + 4] = (10).to_bytes(4, "little")

    with pytest.raises(DomainError):
        json_bytes(bytes(bomb))


def test_a_large_upload_is_not_read_to_its_end():
    file = io.BytesIO(b" " * (MOST_UPLOADED + 5_000_000))

    with pytest.raises(UploadRefused, match="more than 10 MB"):
        read_upload(file)

    assert file.tell() == MOST_UPLOADED + 1
