"""The files of `export` in the programs that read them, without a network."""

import csv
import hashlib
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from io import BytesIO, StringIO
from zipfile import ZipFile

import pandas
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from PIL import Image as Picture
from pycocotools.coco import COCO

from annotate.exports.formats import FORMATS
from annotate.exports.formats.base import Format, PackageMissing
from annotate.exports.images import ImageFilesMissing
from annotate.exports.tables import Extra
from annotate.kinds.exporting import content_of, export_archive, extras_of, write_export
from annotate.models import Caption, Image, Release, ReleasedCaption, ReleasedImage
from corpora.errors import DomainError
from corpora.selection.domains import read_table
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    ClassFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    WorkerFactory,
)
from tests.folders import contents

pytestmark = pytest.mark.one_database

CC_BY = "https://creativecommons.org/licenses/by/2.0/"
CC0 = "https://creativecommons.org/publicdomain/zero/1.0/"
# Texts that files and their readers often change.
TEXTS = [
    'He said "no", then; left \\ </script>, at once.',
    "Two lines\nand a third\r\nand\ra carriage return.",
    "A dog 🐕‍🦺 and a family 👨‍👩‍👧‍👦 on a road.",
    "كلب بني يركض في الحقل, שלום.",
    "Zero\u200bwidth, a mark \u200f\u202e, a no-break\u00a0space, \ufeff a line\u2028separator.",
    '=HYPERLINK("http://evil.example","x")',
    "NA",
    "null",
    "0012",
    "2026-01-02",
    " spaces at both ends ",
    "true",
]


@pytest.fixture
def release(settings):
    """Two images with twelve captions each, eleven references and a baseline, and image files."""
    return make_release(settings.MEDIA_ROOT)


def make_release(media):
    config = {"references": len(TEXTS) - 1, "captions": {"remarks": True}}
    campaign = CampaignFactory(slug="scenes", config=config)
    workers = WorkerFactory.create_batch(len(TEXTS))
    dog = ClassFactory(name="Dog")
    for number, url in [(1, CC_BY), (2, CC0)]:
        key = f"000000000000000{number}"
        image = ImageFactory(
            key=key,
            license_url=url,
            author='=cmd|" /C calc"!A0' if number == 1 else "Ana Öz",
            title="A “title”, with, commas",
            landing_url=f"https://photos.example/{number}",
            file=f"images/validation/{key}.png",
        )
        BoxFactory(image=image, object_class=dog)
        path = media / image.file
        path.parent.mkdir(parents=True, exist_ok=True)
        Picture.new("RGB", (4, 3), (number, 0, 0)).save(path)
        task = TaskFactory(campaign=campaign, image=image, number=number)
        for seconds, (worker, text) in enumerate(zip(workers, TEXTS, strict=True), start=10):
            ResponseFactory(task=task, worker=worker, text=text, seconds=seconds)
    return release_campaign(campaign=campaign, name="v1", seed=7, at=NOON)


def export(release, folder, name, extras=(), **options):
    write_export(content_of(release, extras), FORMATS[name], folder, **options)
    return folder


def references(release, image=1):
    rows = ReleasedCaption.objects.filter(image__release=release, image__number=image)
    return list(rows.filter(role="REFERENCE").order_by("pk").values_list("text", flat=True))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The package `datasets`, which keeps what it prepares in a temporary folder."""
    datasets = import_module("datasets")  # It takes two seconds to load.
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()
    return datasets


def image_folder(hub, folder):
    """The images of an export, opened as docs/exports.md says."""
    files = [str(folder / "metadata.jsonl"), str(folder / "images" / "**")]
    return hub.load_dataset("imagefolder", data_files=files, split="train")


# Readers


@pytest.mark.django_db
def test_pycocotools_opens_the_coco_files(release, tmp_path):
    export(release, tmp_path / "v1", "coco")

    with redirect_stdout(StringIO()):
        truth = COCO(str(tmp_path / "v1" / "captions.json"))
        truth.loadRes(str(tmp_path / "v1" / "baseline.json"))

    assert [row["caption"] for row in truth.imgToAnns[1]] == references(release)
    assert not (tmp_path / "v1" / "workers.json").exists()


@pytest.mark.django_db
def test_the_coco_files_are_those_of_export_captions(release, tmp_path):
    call_command("export_captions", "v1", out=tmp_path / "short", stdout=StringIO())
    export(release, tmp_path / "v1", "coco", [Extra.WORKERS])

    short, long = contents(tmp_path / "short"), contents(tmp_path / "v1")

    assert set(short) == {"captions.json", "baseline.json", "workers.json", "methods.md"}
    assert short == {name: long[name] for name in short}


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["1.png", "COCO_val2014_000000000001.png", "test/1.png"])
def test_datasets_opens_the_image_folder(release, tmp_path, hub, name):
    """Also if the names of files or folders have words by which it knows splits."""
    image = release.images.get(number=1)
    image.record["file_name"] = name
    image.save()
    folder = export(release, tmp_path / "v1", "jsonl", with_images=True)

    rows = image_folder(hub, folder)

    assert len(rows) == 2
    assert rows[0]["captions"] == references(release)
    assert rows[1]["image"].getpixel((0, 0)) == (2, 0, 0)


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["jsonl", "parquet", "croissant"])
def test_datasets_opens_the_tables_that_the_card_names(release, tmp_path, hub, name):
    folder = export(release, tmp_path / "v1", name)

    captions = hub.load_dataset(str(folder), "captions", split="train")
    images = hub.load_dataset(str(folder), split="train")

    found = [row["caption"] for row in captions if row["image_id"] == 1]
    assert found == references(release)
    assert images["open_images_id"] == ["0000000000000001", "0000000000000002"]


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
def test_datasets_opens_the_images_by_the_card(release, tmp_path, hub):
    folder = export(release, tmp_path / "v1", "jsonl", with_images=True)

    rows = hub.load_dataset(str(folder), split="train")

    assert rows[0]["image"].size == (4, 3)


def in_folders(release):
    """Give each image a name with folders, as COCO files may have it."""
    for image in release.images.all():
        image.record["file_name"] = f"folder {image.number}/sub/{image.record['file_name']}"
        image.save()


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("with_images", [False, True])
@pytest.mark.parametrize("name", ["jsonl", "parquet", "csv", "croissant"])
def test_datasets_opens_every_table_that_the_card_names(release, tmp_path, hub, name, with_images):
    in_folders(release)
    extras = list(Extra)
    ReleasedCaption.objects.filter(image__number=2).update(primed=None, seconds=None)
    folder = export(release, tmp_path / "v1", name, extras, with_images=with_images)

    for table in content_of(release, extras).tables:
        rows = hub.load_dataset(str(folder), table.name, split="train")

        assert rows.num_rows == len(list(table.rows()))
        assert set(rows.column_names) >= set(table.names) - {"file_name"}
    captions = hub.load_dataset(str(folder), "captions", split="train")
    assert [row["caption"] for row in captions if row["image_id"] == 1] == references(release)
    assert {row["primed"] for row in captions if row["image_id"] == 2} <= {None, ""}
    images = hub.load_dataset(str(folder), split="train")
    assert images["open_images_id"] == ["0000000000000001", "0000000000000002"]


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
def test_datasets_opens_images_in_folders(release, tmp_path, hub):
    in_folders(release)
    folder = export(release, tmp_path / "v1", "jsonl", with_images=True)

    images = hub.load_dataset(str(folder), split="train")
    captions = hub.load_dataset(str(folder), "captions", split="train")
    by_folder = image_folder(hub, folder)

    for rows in (images, by_folder):
        assert [row["image"].getpixel((0, 0)) for row in rows] == [(1, 0, 0), (2, 0, 0)]
    assert {(row["image_id"], row["image"].getpixel((0, 0))) for row in captions} == {
        (1, (1, 0, 0)),
        (2, (2, 0, 0)),
    }


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
def test_names_that_are_too_long_for_a_disk_are_cut(release, tmp_path, hub):
    """Addresses with a signature, for example; `metadata.jsonl` has the names of the files."""
    names = [f"{'ä' * 200}-{n}.png" for n in (1, 2)]
    for image, name in zip(release.images.order_by("number"), names, strict=True):
        image.record["file_name"] = name
        image.save()

    folder = export(release, tmp_path / "v1", "jsonl", with_images=True)

    rows = image_folder(hub, folder)
    assert [row["image"].getpixel((0, 0)) for row in rows] == [(1, 0, 0), (2, 0, 0)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "names", [("Dog.png", "dog.png"), ("a/b.png", "a/./b.png"), ("\u00e9.png", "e\u0301.png")]
)
def test_names_that_a_disk_takes_for_one_are_in_folders(release, tmp_path, names):
    for image, name in zip(release.images.order_by("number"), names, strict=True):
        image.record["file_name"] = name
        image.save()

    folder = export(release, tmp_path / "v1", "jsonl", with_images=True)

    lines = (folder / "metadata.jsonl").read_text().splitlines()
    paths = [json.loads(line)["file_name"] for line in lines]
    assert [path.split("/")[:2] for path in paths] == [["images", "1"], ["images", "2"]]
    shades = [Picture.open(folder / path).getpixel((0, 0)) for path in paths]
    assert shades == [(1, 0, 0), (2, 0, 0)]


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("with_images", [False, True])
@pytest.mark.parametrize("name", ["jsonl", "parquet", "csv"])
def test_the_card_names_no_empty_table(release, tmp_path, hub, name, with_images):
    for image in release.images.all():
        image.details["boxes"] = []
        image.save()
    folder = export(release, tmp_path / "v1", name, with_images=with_images)

    # The package refuses a table without rows.
    assert hub.get_dataset_config_names(str(folder)) == ["images", "captions", "baselines"]
    assert hub.load_dataset(str(folder), "baselines", split="train").num_rows == 2


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
def test_mlcroissant_validates_and_loads_every_table(release, tmp_path):
    extras = extras_of(release)
    folder = export(release, tmp_path / "v1", "croissant", extras, with_images=True)

    dataset = import_module("mlcroissant").Dataset(jsonld=str(folder / "croissant.json"))

    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings
    for table in content_of(release, extras).tables:
        rows = [[plain(value) for value in row.values()] for row in dataset.records(table.name)]
        assert rows == [list(row) for row in table.rows()]
        assert rows


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore")
def test_croissant_says_that_no_licence_is_known(release, tmp_path):
    for image in release.images.all():
        image.record["license_url"] = ""
        image.save()
    folder = export(release, tmp_path / "v1", "croissant")

    dataset = import_module("mlcroissant").Dataset(jsonld=str(folder / "croissant.json"))

    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings
    written = json.loads((folder / "croissant.json").read_text())
    assert written["license"] == "The licences of the images are not known."


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.mark.django_db
def test_pandas_opens_parquet_csv_and_json_lines(release, tmp_path):
    for name in ("parquet", "csv", "jsonl"):
        export(release, tmp_path / name, name)
    tables = [
        pandas.read_parquet(tmp_path / "parquet" / "captions.parquet"),
        pandas.read_csv(tmp_path / "csv" / "captions.csv", keep_default_na=False),
        pandas.read_json(tmp_path / "jsonl" / "captions.jsonl", lines=True, dtype=False),
    ]

    for table in tables:
        assert list(table["caption"][table["image_id"] == 1]) == references(release)
        assert list(table["id"]) == list(range(22))


@pytest.mark.django_db
def test_csv_by_the_rfc_gives_the_same_texts_and_tells_unknown_from_empty(release, tmp_path):
    second = release.images.get(number=2)
    second.details |= dict.fromkeys(("author", "author_url", "title", "landing_url"))
    second.save()
    folder = export(release, tmp_path / "v1", "csv")

    raw = (folder / "captions.csv").read_bytes()
    with (folder / "captions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    images = (folder / "images.csv").read_bytes().splitlines()

    assert [row["caption"] for row in rows if row["image_id"] == "1"] == references(release)
    assert raw.startswith(b"id,image_id,caption\r\n0,1,")
    assert b",,,," in images[2]
    assert b",,,," not in images[1]


@pytest.mark.django_db
@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_the_same_bytes_whatever_changes_afterwards(release, tmp_path, name):
    before = contents(export(release, tmp_path / "one", name, list(Extra), with_images=True))

    Caption.objects.update(text="Changed.")
    Image.objects.update(url="https://elsewhere.example/x.jpg", width=1, license_url="", title="")
    found = Release.objects.get(name="v1")

    assert contents(export(found, tmp_path / "two", name, list(Extra), with_images=True)) == before


# What an export has besides its tables


@pytest.mark.django_db
def test_the_manifest_has_the_digest_of_each_file(release, tmp_path):
    files = contents(export(release, tmp_path / "v1", "csv", [Extra.SECONDS], with_images=True))

    manifest = json.loads(files.pop("manifest.json"))

    assert {file["name"]: (file["bytes"], file["sha256"]) for file in manifest.pop("files")} == {
        name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items()
    }
    assert manifest == {
        "release": "v1",
        "campaign": "scenes",
        "created_at": "2026-11-02T12:00:00Z",
        "format": "csv",
        "with": ["seconds"],
        "domains": None,
        "images": True,
    }


@pytest.mark.django_db
def test_credits_are_complete_and_are_no_formulas(release, tmp_path):
    folder = export(release, tmp_path / "v1", "coco")

    with (folder / "ATTRIBUTION.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)

    assert second == {
        "image_id": "2",
        "file_name": "0000000000000002.png",
        "title": "A “title”, with, commas",
        "author": "Ana Öz",
        "author_url": "",
        "license": "CC0 1.0",
        "license_url": CC0,
        "source_page": "https://photos.example/2",
    }
    assert first["author"] == "'" + '=cmd|" /C calc"!A0'


@pytest.mark.django_db
def test_workers_seconds_and_keywords_are_written_where_asked(release, tmp_path):
    folder = export(release, tmp_path / "v1", "parquet", list(Extra))
    coco = export(release, tmp_path / "coco", "coco", list(Extra))

    captions = pandas.read_parquet(folder / "captions.parquet")
    images = pandas.read_parquet(folder / "images.parquet")
    assert all(len(set(rows)) == 11 for _, rows in captions.groupby("image_id")["worker"])
    assert set(captions["seconds"]) <= set(range(10, 22))
    assert set(captions["primed"]) == {True}
    assert list(images["keywords"][0]) == ["Dog"]
    seconds = json.loads((coco / "seconds.json").read_bytes())
    assert [row["seconds"] for row in seconds["annotations"]] == list(captions["seconds"])
    assert json.loads((coco / "keywords.json").read_bytes())["images"][0]["keywords"] == ["Dog"]


@pytest.mark.django_db
def test_the_card_says_how_the_data_were_collected(release, tmp_path):
    card = (export(release, tmp_path / "v1", "parquet") / "README.md").read_text()

    front, text = card.removeprefix("---\n").split("---\n", 1)
    assert 'license:\n- "cc-by-2.0"\n- "cc0-1.0"\n' in front
    assert 'size_categories:\n- "n<1K"\n' in front
    assert "| references for each image | 11 |" in text
    assert f"- CC BY 2.0: {CC_BY}" in text
    assert "| `caption` | text | the caption as the worker wrote it |" in text


@pytest.mark.django_db
def test_the_card_names_each_licence_once(release, tmp_path):
    for image in release.images.all():
        image.record["license_url"] = CC_BY
        image.save()

    card = (export(release, tmp_path / "v1", "csv") / "README.md").read_text()

    assert card.count(CC_BY) == 1


@pytest.mark.django_db
def test_images_are_copied_and_a_missing_one_is_named(release, tmp_path, settings):
    original = settings.MEDIA_ROOT / "images/validation/0000000000000001.png"

    files = contents(export(release, tmp_path / "v1", "coco", with_images=True))
    original.unlink()
    with pytest.raises(ImageFilesMissing, match=r"^1 of 2 image files .*: 0000000000000001\.png\."):
        export(release, tmp_path / "v2", "coco", with_images=True)

    second = settings.MEDIA_ROOT / "images/validation/0000000000000002.png"
    assert files["images/0000000000000002.png"] == second.read_bytes()
    assert not (tmp_path / "v2").exists()


@pytest.fixture
def dogs_are_unknown(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("class,domain\nCat,in-domain\n")
    return path


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["coco", "csv"])
def test_domains_may_follow_another_table(release, tmp_path, dogs_are_unknown, name):
    table = read_table(dogs_are_unknown)
    write_export(content_of(release), FORMATS[name], tmp_path / "before")
    write_export(content_of(release, table=table), FORMATS[name], tmp_path / "after")

    before, after = contents(tmp_path / "before"), contents(tmp_path / "after")

    assert json.loads(after["manifest.json"])["domains"] == table.reference
    assert table.sha256.encode() in after["README.md"]
    file = "captions.json" if name == "coco" else "images.csv"
    assert before[file].count(b'"in-domain"') == after[file].count(b'"out-domain"') == 2
    assert before[file].replace(b"in-domain", b"out-domain") == after[file]


@pytest.mark.django_db
def test_captions_that_a_release_hides_are_in_no_file(release, tmp_path):
    ReleasedImage.objects.filter(number=2).update(is_hidden=True)
    ReleasedCaption.with_hidden.filter(image__number=2).update(text="A secret.")

    for name in FORMATS:
        write_export(content_of(release, list(Extra)), FORMATS[name], tmp_path / name)

    tables = [pandas.read_parquet(tmp_path / "parquet" / f"{each}.parquet") for each in
              ("images", "captions", "baselines")]  # fmt: skip
    assert [len(table) for table in tables] == [2, 11, 1]
    assert list(tables[0]["is_hidden"]) == [False, True]
    metadata = (tmp_path / "jsonl" / "metadata.jsonl").read_text().splitlines()
    assert json.loads(metadata[1])["captions"] == []
    assert not any(b"A secret." in data for data in contents(tmp_path).values())


@pytest.mark.django_db
def test_an_earlier_export_is_replaced_if_nothing_was_added_to_it(release, tmp_path):
    export(release, tmp_path / "v1", "csv", list(Extra))
    export(release, tmp_path / "v1", "csv")
    replaced = contents(tmp_path)
    (tmp_path / "v1" / "notes.txt").write_text("mine")

    with pytest.raises(DomainError, match=r"\(notes\.txt\)"):
        export(release, tmp_path / "v1", "csv")
    (tmp_path / "v1" / "notes.txt").unlink()
    with pytest.raises(DomainError, match="has other files"):
        export(release, tmp_path / "v1", "jsonl")

    assert contents(tmp_path) == replaced
    assert b"worker" not in replaced["v1/captions.csv"].splitlines()[0]


# Packages

WITHOUT_PACKAGES = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pyarrow", "datasets", "mlcroissant"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from django.core.management import call_command
import django
django.setup()
import config.urls
from django.core.management.base import CommandError
for name in sys.argv[2:]:
    try:
        call_command("export", "v1", "--format", name, "--out", f"{sys.argv[1]}/{name}")
    except CommandError as error:
        print(f"{name}: {error}", file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_only_parquet_and_croissant_need_an_optional_package(release, tmp_path, settings):
    if connection.vendor != "sqlite":
        pytest.skip("another process reads the database as a file")
    copy = tmp_path / "copy.sqlite3"
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(copy)])

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PACKAGES, str(tmp_path), *FORMATS],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"sqlite:///{copy}",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "jsonl" / "metadata.jsonl").exists()
    refusals = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in refusals] == ["parquet", "croissant"]
    for line in refusals:
        assert "needs pyarrow, which is not installed" in line
        assert "pip install pyarrow" in line
    assert not (tmp_path / "parquet").exists()


def test_a_format_names_the_packages_that_are_not_installed():
    needy = Format("x", "X", "x", lambda _: iter(()), packages=("no_such_package", "json"))

    with pytest.raises(PackageMissing, match=r"^The format x needs no_such_package, which is not"):
        needy.check_packages()


# The command and the archive


@pytest.mark.django_db
def test_the_command_prints_the_files_and_takes_extras(release, tmp_path):
    out = StringIO()

    call_command(
        "export", "v1", "--format", "csv", "--with", "workers,seconds", "--images",
        "--out", str(tmp_path / "v1"), stdout=out,
    )  # fmt: skip

    lines = out.getvalue().split()
    assert lines[-1] == str(tmp_path / "v1" / "images")
    assert str(tmp_path / "v1" / "manifest.json") in lines
    assert (
        (tmp_path / "v1" / "captions.csv")
        .read_text()
        .startswith("id,image_id,caption,worker,seconds\n")
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "csv", "--with", "names"], "There is no 'names'. Known are workers, seconds"),
        (["--with", "workers"], "--with, --images and --domains need --format"),
        (["--format", "xml"], "invalid choice: 'xml'"),
    ],
)
def test_wrong_options_are_explained(release, tmp_path, arguments, message):
    with pytest.raises(CommandError, match=message):
        call_command("export", "v1", "--out", str(tmp_path / "v1"), *arguments)

    assert not (tmp_path / "v1").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", FORMATS)
def test_the_archive_has_the_files_of_the_folder_and_the_same_bytes_always(release, tmp_path, name):
    def made():
        return b"".join(export_archive(content_of(release), FORMATS[name]))

    first = made()

    assert made() == first
    with ZipFile(BytesIO(first)) as archive:
        assert archive.testzip() is None
        files = {path.removeprefix("v1/"): archive.read(path) for path in archive.namelist()}
    assert files == contents(export(release, tmp_path / "v1", name))
