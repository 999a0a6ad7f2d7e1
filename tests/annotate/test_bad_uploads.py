"""Bad input in uploads: each kind by the form and by both addresses of the API."""

import io
import json
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.services.api_tokens import issue_token
from annotate.models import Image
from background.models import Job, JobStatus
from tests.jobs import run_jobs
from tests.pictures import photograph
from tests.threads import at_once

pytestmark = pytest.mark.django_db

PAGE, IMPORTS, IMAGES = "/images/import/", "/api/imports/", "/api/images/"
GIGABYTE = 10**9


@pytest.fixture(autouse=True)
def folders(tmp_path, settings, monkeypatch):
    """Folders of their own for what is stored, and for temporary files."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))


@pytest.fixture
def send(user):
    """A function that uploads files to an address, as a browser or a program does."""

    def sent(address, *files, paths=None, **extra):
        client = client_of(user)
        fields = {"split": "mine", **extra.pop("fields", {})}
        if address == IMAGES:
            fields["file"] = list(files)
        else:
            fields |= {"kind": "own", "photographs": list(files)}
        if address == PAGE:
            fields["complete"] = "1"
        if paths is not None:
            fields["paths"] = json.dumps(paths)
        return client.post(address, fields, **extra)

    return sent


def client_of(user):
    """A client that is signed in, and has a token for the API."""
    client = Client()
    client.force_login(user)
    _, text = issue_token(user=user, at=timezone.now())
    client.defaults["HTTP_AUTHORIZATION"] = f"Token {text}"
    return client


def said(response):
    return response.content.decode()


def outcome(response):
    """All that the site says about an upload: the answer, and what its job says."""
    jobs = run_jobs()
    errors = [job.error for job in jobs if job.status != JobStatus.DONE]
    assert all(error.startswith("No image was imported.") for error in errors), errors
    lines = [line.text for job in jobs for line in job.lines.all()]
    return "\n".join([said(response), *lines])


def said_by(job):
    return "\n".join(line.text for line in job.lines.all())


def left_over(settings):
    """Files that are left of uploads: stored, unpacked or temporary."""
    places = (Path(settings.UPLOAD_ROOT), Path(tempfile.gettempdir()))
    return [path for place in places if place.exists() for path in place.rglob("*")]


def file(name, content):
    return SimpleUploadedFile(name, content)


def archive(entries, compression=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as made:
        for name, content in entries:
            made.writestr(name, content)
    return out.getvalue()


def link(name, target):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry, target


def png_of_size(width, height):
    """A valid black PNG file of this size, packed line by line."""

    def chunk(name, content):
        checksum = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + checksum

    packer = zlib.compressobj(9)
    line = bytes(1 + (width + 7) // 8)
    packed = b"".join([*(packer.compress(line) for _ in range(height)), packer.flush()])
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", packed), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


BOMB = png_of_size(20_000, 20_000)


# Archives


@pytest.mark.parametrize("address", [PAGE, IMPORTS])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (archive([("../a.png", b"x"), ("b.png", photograph())]), "leads out of its folder"),
        (archive([("/etc/a.png", b"x"), ("b.png", photograph())]), "leads out of its folder"),
        (archive([link("a.png", "/etc/passwd"), ("b.png", photograph())]), "has a symbolic link"),
        (archive([("bomb.png", bytes(3_000_000))]), "would unpack to more than 2 MB"),
        (archive([(f"{n}.png", b"") for n in range(9)]), "has 9 files; at most 8 are allowed"),
        (archive([("a.png", b"x")], zipfile.ZIP_LZMA), "compressed in an unusual way"),
        (archive([(f"{'folder' * 9}{n}/", b"") for n in range(1500)]), "has too many files"),
        (archive([("a.png", photograph())])[:-30], "is not a complete ZIP file"),
        (b"#!/bin/sh\nexit\n", "is not a complete ZIP file"),
    ],
)
def test_a_bad_archive_is_refused_and_nothing_is_kept(settings, send, address, content, reason):
    settings.UNPACKED_MAX_MB, settings.UNPACKED_MAX_FILES = 2, 8

    response = send(address, file("photos.zip", content), file("c.png", photograph("blue")))

    assert response.status_code == (422 if address == PAGE else 409)
    assert reason in said(response)
    assert not Job.objects.exists()
    assert not Image.objects.exists()
    assert left_over(settings) == []


def test_the_limits_are_those_of_all_archives_together(settings, send):
    settings.UNPACKED_MAX_MB = 2
    half = archive([("big.png", bytes(1_500_000))])

    response = send(PAGE, file("one.zip", half), file("two.zip", half))

    assert "two.zip" in said(response)
    assert not Job.objects.exists()


def test_an_archive_in_an_archive_is_not_unpacked(settings, send):
    bomb = archive([("bomb.png", bytes(3_000_000))])
    content = archive([("inner.zip", bomb), ("a.png", photograph())])
    settings.UNPACKED_MAX_MB = 2

    found = outcome(send(PAGE, file("photos.zip", content)))

    assert "inner.zip: is not an image in a supported format" in found
    assert [image.file_name for image in Image.objects.all()] == ["a.png"]
    assert left_over(settings) == []


# Files that are not what they are called


@pytest.mark.parametrize("address", [PAGE, IMPORTS, IMAGES])
def test_a_jpg_that_is_a_png_is_imported_as_what_it_is(send, address):
    outcome(send(address, file("a.jpg", photograph())))

    image = Image.objects.get()
    assert (image.file_name, Path(image.file).suffix) == ("a.jpg", ".png")


@pytest.mark.parametrize("address", [PAGE, IMPORTS, IMAGES])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(600), "is not an image in a supported format"),
        (b"MZ" + bytes(600), "is not an image in a supported format"),
        (b"#!/bin/sh\nrm -rf /\n", "is not an image in a supported format"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "is not an image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not an image"),
        (photograph(form="JPEG")[:200], "is damaged"),
        (BOMB, "has too many pixels"),
        (b"", "is empty"),
    ],
)
def test_a_file_that_is_not_a_photograph_is_named_and_the_rest_is_imported(
    settings, send, address, content, reason
):
    found = outcome(send(address, file("bad.jpg", content), file("b.png", photograph())))

    if content or address != IMAGES:  # The API refuses empty files before it imports anything.
        assert "bad.jpg" in found
        assert [image.file_name for image in Image.objects.all()] == ["b.png"]
        assert reason in found
    else:
        assert "empty" in found
        assert not Image.objects.exists()
    assert left_over(settings) == []


@pytest.mark.parametrize("number", [1, 7])
def test_an_import_without_any_image_fails_with_the_first_files_and_their_reasons(send, number):
    files = [file(f"notes-{each}.txt", b"no image") for each in range(number)]

    send(PAGE, *files)

    [job] = run_jobs()
    assert job.status == JobStatus.FAILED
    assert job.error.startswith("No image was imported.\n")
    assert "notes-0.txt: is not an image in a supported format" in job.error
    assert ("and 2 more" in job.error) == (number == 7)
    assert ("notes-6.txt" in said_by(job)) == (number == 7)


def test_the_log_of_an_import_says_its_result_once(send):
    send(PAGE, file("a.png", photograph()))

    [job] = run_jobs()
    assert said_by(job).count("1 image imported") == 1


# Names


NAMES = ["صورة.png", "🐕‍🦺🇩🇪.png", f"{'n' * 300}.png", "a b;'\"&<script>.png", "日本/写真.png"]


def test_any_name_is_kept_by_the_form(send):
    colors = ["red", "blue", "green", "white", "black"]
    files = [file("x.png", photograph(color)) for color in colors]

    outcome(send(PAGE, *files, paths=NAMES))

    assert sorted(image.file_name for image in Image.objects.all()) == sorted(NAMES)


@pytest.mark.parametrize("address", [PAGE, IMPORTS, IMAGES])
@pytest.mark.parametrize("name", [f"{'é' * 300}.png", f"é.{'é' * 300}"])
def test_a_name_of_300_characters_is_no_fault(settings, send, address, name):
    # So that the upload goes through a temporary file, which is named by the site.
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10

    response = send(address, file(name, photograph()), file("b.png", photograph("blue")))
    outcome(response)

    assert response.status_code < 400
    assert Image.objects.filter(file_name="b.png").exists()
    assert Image.objects.filter(file_name__startswith="é").exists() == name.endswith(".png")
    assert left_over(settings) == []


def test_a_name_that_is_too_long_for_the_database_is_named(send):
    found = outcome(send(PAGE, file("x.png", photograph()), paths=["n" * 501]))

    assert "has a name of more than 500 characters" in found


@pytest.mark.parametrize("address", [PAGE, IMPORTS, IMAGES])
@pytest.mark.parametrize("first", ["NFC", "NFD"])
def test_a_name_written_in_two_ways_is_one_name(send, address, first):
    second = {"NFC": "NFD", "NFD": "NFC"}[first]
    names = [unicodedata.normalize(form, "Zürich.png") for form in (first, second)]

    outcome(send(address, file(names[0], photograph())))
    found = outcome(send(address, file(names[1], photograph("blue"))))

    assert "has the name of another image of this split" in found
    assert [image.file_name for image in Image.objects.all()] == names[:1]


@pytest.mark.parametrize("name", ["a\0.png", "../a.png", "\ud800.png"])
def test_a_name_that_cannot_be_used_harms_nothing(settings, send, name):
    outcome(send(PAGE, file("x.png", photograph()), paths=[name]))

    assert not Image.objects.exists()
    assert left_over(settings) == []


# Sizes


@pytest.mark.parametrize(
    "address", [PAGE, IMPORTS, IMAGES, "/sign-in/", "/api/jobs/", "/account/team/"]
)
def test_a_request_of_3_gigabytes_is_refused_before_it_is_read(settings, send, address):
    class Unreadable:
        def read(self, *_):
            raise AssertionError("nothing should be read")

        readline = read

    response = send(
        address,
        CONTENT_LENGTH=3 * GIGABYTE,
        HTTP_IDEMPOTENCY_KEY="once",
        **{"wsgi.input": Unreadable()},
    )

    assert response.status_code == 413
    assert "is larger than" in said(response)
    assert left_over(settings) == []


# The same folder at once


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", [PAGE, IMPORTS, IMAGES])
def test_the_same_folder_uploaded_at_once_is_imported_once(settings, user, address):
    contents = [photograph((shade, 0, 0)) for shade in range(0, 240, 20)]

    def upload(client):
        files = [file(f"{number}.png", content) for number, content in enumerate(contents)]
        fields = (
            {"split": "mine", "file": files}
            if address == IMAGES
            else {"kind": "own", "split": "mine", "photographs": files}
        )
        if address == PAGE:
            fields["complete"] = "1"
        response = client.post(address, fields)
        jobs = run_jobs() if address != IMAGES else []
        return response.status_code, [job.status for job in jobs]

    found = at_once(upload, [client_of(user) for _ in range(3)])
    run_jobs()

    assert {status for status, _ in found} == {{PAGE: 302, IMPORTS: 202, IMAGES: 201}[address]}
    assert {job.status for job in Job.objects.all()} <= {JobStatus.DONE}
    assert sorted(image.file_name for image in Image.objects.all()) == sorted(
        f"{number}.png" for number in range(len(contents))
    )
    assert left_over(settings) == []
