"""Copies of images in a bucket of a server with the protocol of S3."""

import io
import runpy
from pathlib import Path

import boto3
import pytest
from django.core.exceptions import ImproperlyConfigured
from PIL import Image as Picture

import config
from annotate.images import copies as image_copies
from annotate.images import files as image_files
from annotate.models import Image
from annotate.services import images
from annotate.tasks import make_copies
from tests.amazon import running_moto
from tests.factories import ImageFactory
from tests.pictures import picture, saved
from tests.servers import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

BUCKET, FOLDER = "our-copies", "site-one"
KEYS = {"S3_ACCESS_KEY_ID": "copies", "S3_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture(scope="module")
def server():
    with running_moto() as url:
        yield url


def storages_of(monkeypatch, **environment: str) -> dict:
    """STORAGES as the settings make it from the environment."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(Path(config.__file__).with_name("settings.py")))["STORAGES"]


@pytest.fixture
def bucket(server, settings, monkeypatch):
    """An empty bucket, in which the site stores its copies."""
    settings.STORAGES = storages_of(
        monkeypatch, COPIES_BUCKET=f"s3://{BUCKET}/{FOLDER}", S3_ENDPOINT_URL=server, **KEYS
    )
    resource = boto3.resource(
        "s3",
        endpoint_url=server,
        region_name="us-east-1",
        aws_access_key_id="copies",
        aws_secret_access_key="secret",
    )
    made = resource.create_bucket(Bucket=BUCKET)
    yield made
    made.objects.all().delete()
    made.delete()


def make_image(key: str = "0001") -> Image:
    image = ImageFactory(key=key, split="validation", file=f"images/validation/{key}.jpg")
    path = image_files.file_path(image)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(saved(picture((2000, 1000))))
    return image


def keys_in(bucket) -> list[str]:
    return sorted(each.key for each in bucket.objects.all())


def test_a_copy_is_made_once_into_the_bucket_and_shown_from_there(bucket, client, settings):
    image = make_image()

    answer = client.get(image_copies.display_url(image))
    content = b"".join(answer)

    assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
    assert Picture.open(io.BytesIO(content)).size == (1600, 800)
    names = [f"{FOLDER}/{size}/validation/0001.jpg" for size in image_copies.SIZES]
    assert keys_in(bucket) == sorted(names)
    assert not Path(settings.MEDIA_ROOT, "copies").exists()
    bucket.Object(names[0]).put(Body=b"what is in the bucket is shown")
    again = client.get(image_copies.display_url(image))
    assert b"".join(again) == b"what is in the bucket is shown"


def test_missing_copies_are_found_by_a_list_and_made_in_the_background(bucket, monkeypatch):
    for key in ("0001", "0002"):
        make_image(key)

    assert make_copies() == 2
    assert len(keys_in(bucket)) == 2 * len(image_copies.SIZES)
    asked = []
    monkeypatch.setattr(image_copies, "missing_copies", asked.append)
    assert make_copies() == 0
    assert asked == []


def test_a_new_file_of_an_image_has_new_copies(bucket, tmp_path, client):
    image = make_image()
    image_copies.make_copies(image)
    (tmp_path / "0001.jpg").write_bytes(saved(picture((600, 600))))

    images.import_files(folder=tmp_path, split="validation")

    image.refresh_from_db()
    content = b"".join(client.get(image_copies.display_url(image)))
    assert Picture.open(io.BytesIO(content)).size == (600, 600)


def test_a_bucket_that_does_not_answer_is_no_error_of_the_site(
    settings, monkeypatch, client, caplog
):
    settings.STORAGES = storages_of(
        monkeypatch,
        COPIES_BUCKET=f"s3://{BUCKET}",
        S3_ENDPOINT_URL=f"http://127.0.0.1:{free_port()}",
        **KEYS,
    )
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    image = make_image()

    answer = client.get(image_copies.display_url(image))

    assert answer.status_code == 503
    assert "Could not connect" in caplog.text


def test_a_bucket_without_keys_of_its_own_is_refused(monkeypatch):
    """boto3 would use the requester's keys."""
    monkeypatch.delenv("S3_ACCESS_KEY_ID", raising=False)
    with pytest.raises(ImproperlyConfigured, match="COPIES_BUCKET needs S3_ACCESS_KEY_ID"):
        storages_of(monkeypatch, COPIES_BUCKET=f"s3://{BUCKET}")
