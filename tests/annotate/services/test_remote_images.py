"""Images from URLs and from buckets: fetched once, from public addresses, with their source."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import boto3
import pytest
from django.core.management import CommandError, call_command

from annotate.images.files import file_path
from annotate.models import Image
from annotate.services.own_images import files_at_urls
from background.outgoing.exchange import RequestFailed, check_public, fetch
from tests.amazon import running_moto
from tests.hooks import endless
from tests.pictures import photograph

KEYS = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}


@pytest.fixture(autouse=True)
def media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.IMAGES_FROM_PRIVATE_NETWORKS = True


class Site:
    """A web server with files; `asked` has the paths of the requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.asked: list[str] = []
        self.url = ""


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            if self.path in site.redirects:
                self.send_response(302)
                self.send_header("Location", site.redirects[self.path])
                self.end_headers()
                return
            content = site.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as found:
        yield found


@pytest.fixture
def listing(tmp_path, site):
    """Write a list of these paths of the site."""

    def write(*paths):
        file = tmp_path / "urls.txt"
        file.write_text("# photographs\n\n" + "".join(f"{site.url}{path}\n" for path in paths))
        return file

    return write


def import_urls(file) -> str:
    out = io.StringIO()
    call_command("import_images", file, "--urls", "--split", "mine", stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_images_at_urls_are_imported_with_their_source(site, listing):
    site.files = {
        "/a%20cat.jpg": photograph(form="JPEG"),
        "/image?id=7": photograph("blue", "JPEG"),
    }

    import_urls(listing(*site.files))

    images = dict(Image.objects.values_list("file_name", "url"))
    assert images == {
        "a cat.jpg": f"{site.url}/a%20cat.jpg",
        "image?id=7": f"{site.url}/image?id=7",
    }
    image = Image.objects.get(file_name="a cat.jpg")
    assert file_path(image).read_bytes() == photograph(form="JPEG")


def test_an_address_with_an_unusual_separator_in_it_is_one_address(site, listing):
    file = listing("/a\u2028b.jpg", "/c.jpg")

    assert [image.name for image in files_at_urls(file)] == ["a\u2028b.jpg", "c.jpg"]


@pytest.mark.django_db
@pytest.mark.database
def test_a_name_that_cannot_be_stored_stops_no_other_file(site, listing):
    paths = ["/a%00.jpg", "/b.j%00pg", "/c%0A.jpg", "/d%ED%A0%80.jpg", "/%2e%2e/e.jpg", "/f?%00"]
    colors = ["red", "blue", "green", "white", "black", "gray"]
    site.files = {path: photograph(color) for path, color in zip(paths, colors, strict=True)}

    with serving() as other:
        # Its name is taken, and with its host it has the character of its query.
        other.files = {"/f?%00": photograph("pink")}
        file = listing(*paths)
        file.write_text(f"{file.read_text()}\n{other.url}/f?%00\n")
        said = import_urls(file)

    assert said.count("has a name with a NUL character; rename it") == 3
    assert f"{site.url}/a%00.jpg" in said
    assert set(Image.objects.values_list("file_name", flat=True)) == {
        "c\n.jpg",
        "d\ufffd\ufffd\ufffd.jpg",
        "../e.jpg",
        "f?%00",
    }


@pytest.mark.django_db
def test_images_of_the_same_path_at_two_hosts_are_both_imported(site, tmp_path):
    with serving() as other:
        site.files = {"/a.jpg": photograph("red", "JPEG")}
        other.files = {"/a.jpg": photograph("blue", "JPEG")}
        file = tmp_path / "urls.txt"
        file.write_text(f"{site.url}/a.jpg\n{other.url}/a.jpg\n")

        said = [import_urls(file), import_urls(file)]

    images = dict(Image.objects.values_list("file_name", "url"))
    assert images == {
        "a.jpg": f"{site.url}/a.jpg",
        f"{other.url.removeprefix('http://')}/a.jpg": f"{other.url}/a.jpg",
    }
    assert [text.splitlines()[0] for text in said] == [
        "2 images imported, 0 were there already.",
        "0 images imported, 2 were there already.",
    ]


@pytest.mark.django_db
def test_each_address_is_fetched_once(site, listing):
    site.files = {"/a.jpg": photograph(form="JPEG")}
    file = listing("/a.jpg", "/a.jpg")

    import_urls(file)
    again = import_urls(file)

    assert site.asked == ["/a.jpg"]
    assert Image.objects.count() == 1
    assert "1" in again


@pytest.mark.django_db
def test_addresses_that_cannot_be_fetched_are_named_with_the_reason(site, listing):
    site.files = {"/text.jpg": b"no image", "/good.jpg": photograph(form="JPEG")}

    said = import_urls(listing("/gone.jpg", "/text.jpg", "/good.jpg"))

    assert "gone.jpg" in said
    assert "The server's answer was 404." in said
    assert "text.jpg" in said
    assert Image.objects.get().file_name == "good.jpg"


@pytest.mark.django_db
def test_a_redirect_to_no_address_stops_no_other_file(site, listing):
    site.redirects, site.files = {"/a.jpg": "http://[none"}, {"/good.jpg": photograph(form="JPEG")}

    said = import_urls(listing("/a.jpg", "/good.jpg"))

    assert "It leads to http://[none, which is not a valid URL." in said
    assert Image.objects.get().file_name == "good.jpg"


@pytest.mark.django_db
def test_a_list_without_urls_and_a_missing_list_are_refused(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n")

    with pytest.raises(CommandError, match="has no URL"):
        import_urls(empty)
    with pytest.raises(CommandError, match="No such file"):
        import_urls(tmp_path / "none.txt")


@pytest.mark.django_db
def test_addresses_inside_the_network_are_refused_unless_the_operator_allows_them(
    site, listing, settings
):
    settings.IMAGES_FROM_PRIVATE_NETWORKS = False
    site.files = {"/a.jpg": photograph(form="JPEG")}

    said = import_urls(listing("/a.jpg"))

    assert "is an address of this machine or a private network" in said
    assert (site.asked, Image.objects.count()) == ([], 0)


def test_a_redirect_is_checked_like_the_first_address(site, monkeypatch):
    site.redirects = {"/a": "/b", "/b": "/c.jpg"}
    site.files = {"/c.jpg": b"content"}
    limits = {"seconds": 10, "most_bytes": 100}

    assert fetch(f"{site.url}/a", **limits, allows_private=True) == b"content"

    # The name counts as public once; what it redirects to does not.
    asked = []

    def check_once(host, addresses):
        asked.append(host)
        if len(asked) > 1:
            check_public(host, addresses)

    monkeypatch.setattr("background.outgoing.exchange.check_public", check_once)
    with pytest.raises(RequestFailed, match="private network"):
        fetch(f"{site.url}/a", **limits)


def test_endless_redirects_end(site):
    site.redirects = {"/a": "/a"}

    with pytest.raises(RequestFailed, match="more than 3 redirects"):
        fetch(f"{site.url}/a", seconds=10, most_bytes=100, allows_private=True)


def test_a_file_that_is_too_large_is_not_read_to_its_end(site):
    site.files = {"/large": b"x" * 1001}

    with pytest.raises(RequestFailed, match=r"larger than 0\.001 MB"):
        fetch(f"{site.url}/large", seconds=10, most_bytes=1000, allows_private=True)


@pytest.mark.parametrize("byte", [b"", b"x"])
def test_an_answer_that_never_ends_has_a_time_limit(byte):
    with endless(byte) as url, pytest.raises(RequestFailed, match="nothing complete within 0.2 s"):
        fetch(url, seconds=0.2, most_bytes=10**9, allows_private=True)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://user@example.org/", "no url"])
def test_other_addresses_are_refused(url):
    with pytest.raises(RequestFailed):
        fetch(url, seconds=1, most_bytes=10)


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """URL of a server with the protocol of S3."""
    with running_moto() as url:
        yield url


@pytest.fixture
def bucket(s3, settings, request):
    """A bucket of this test, to which the site has keys."""
    settings.S3_ENDPOINT_URL = s3
    settings.S3_ACCESS_KEY_ID, settings.S3_SECRET_ACCESS_KEY = KEYS.values()
    client = boto3.client("s3", endpoint_url=s3, region_name="us-east-1", **KEYS)
    name = request.node.name.replace("_", "-")[:60].strip("-")
    client.create_bucket(Bucket=name)

    def put(key, content):
        client.put_object(Bucket=name, Key=key, Body=content)

    put.name = name
    return put


@pytest.mark.django_db
def test_a_folder_of_a_bucket(bucket):
    bucket("trip/day 1/a.jpg", photograph(form="JPEG"))
    bucket("trip/.hidden.jpg", photograph("green", "JPEG"))
    bucket("trip/", b"")
    bucket("tripods/b.jpg", photograph("blue", "JPEG"))
    address = f"s3://{bucket.name}/trip"

    for _ in range(2):
        call_command("import_images", address, "--split", "mine", stdout=io.StringIO())

    image = Image.objects.get()
    assert image.file_name == "day 1/a.jpg"
    assert image.url == f"{address}/day 1/a.jpg"
    assert file_path(image).read_bytes() == photograph(form="JPEG")


@pytest.mark.django_db
def test_images_of_one_name_in_three_folders_of_a_bucket_are_all_imported(bucket):
    for folder, colour in [("one", "red"), ("two", "green"), ("three", "blue")]:
        bucket(f"{folder}/a.jpg", photograph(colour, "JPEG"))
        address = f"s3://{bucket.name}/{folder}"
        call_command("import_images", address, "--split", "mine", stdout=io.StringIO())

    names = Image.objects.order_by("pk").values_list("file_name", flat=True)
    assert list(names) == ["a.jpg", f"{bucket.name}/two/a.jpg", f"{bucket.name}/three/a.jpg"]


@pytest.mark.django_db
def test_a_whole_bucket_of_more_than_a_page(bucket, monkeypatch):
    for number in range(3):
        bucket(f"{number}.jpg", photograph((number * 80, 0, 0), "JPEG"))

    call_command("import_images", f"s3://{bucket.name}", "--split", "mine", stdout=io.StringIO())

    assert set(Image.objects.values_list("file_name", flat=True)) == {"0.jpg", "1.jpg", "2.jpg"}


@pytest.mark.django_db
def test_a_file_of_a_bucket_that_is_too_large_is_not_fetched(bucket, settings):
    settings.IMAGE_MAX_MB = 0
    bucket("a.jpg", photograph(form="JPEG"))
    out = io.StringIO()

    call_command("import_images", f"s3://{bucket.name}", "--split", "mine", stdout=out)

    assert "It is larger than 0 MB." in out.getvalue()
    assert not Image.objects.exists()


@pytest.mark.django_db
def test_a_bucket_that_does_not_exist_is_an_error_in_words(bucket):
    with pytest.raises(CommandError, match="s3://none-of-mine cannot be listed: .*NoSuchBucket"):
        call_command("import_images", "s3://none-of-mine", "--split", "mine")
    with pytest.raises(CommandError, match="is not an address such as"):
        call_command("import_images", "s3://", "--split", "mine")


@pytest.mark.django_db
def test_an_empty_folder_of_a_bucket_is_an_error(bucket):
    with pytest.raises(CommandError, match="has no files"):
        call_command("import_images", f"s3://{bucket.name}/none", "--split", "mine")
