"""The files below MEDIA_ROOT: each is served because a row that the user may see names it."""

from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.urls import reverse

from annotate.images import copies as image_copies
from annotate.images import files as image_files
from annotate.models import Release
from background.models import Job
from tests.factories import NOON, CampaignFactory, ImageFactory, TeamFactory, UserFactory
from tests.pictures import picture

pytestmark = [pytest.mark.django_db, pytest.mark.database]

ORIGINAL = "images/holiday/k1.jpg"


@pytest.fixture
def image():
    """A team's own image, with its file, its copies, a report and an archive."""
    team = TeamFactory(slug="owners")
    found = ImageFactory(team=team, split="holiday", key="k1", file=ORIGINAL)
    path = image_files.file_path(found)
    path.parent.mkdir(parents=True)
    picture((60, 40)).save(path, "JPEG", comment=b"made at home")
    image_copies.make_copies(found)
    release = Release.objects.create(
        name="v1",
        campaign=CampaignFactory(team=team),
        seed=0,
        created_at=NOON,
        is_partial=True,
        context={"imports": []},
    )
    Job.objects.create(
        kind="export",
        title="Export",
        team=team,
        about=release,
        fingerprint="x",
        result_file="exports/v1/v1-csv-0.zip",
        asked_at=NOON,
        due_at=NOON,
    )
    put("reports/v1/report.html", "exports/v1/v1-csv-0.zip", "exports/v1/v1-csv-0.part")
    put("images/holiday/tmp1a2b", "notes.txt")
    return found


def put(*names):
    for name in names:
        path = media_root() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a secret")


def media_root() -> Path:
    return Path(settings.MEDIA_ROOT)


def spellings(name: str) -> list[str]:
    """Addresses that a path could be read from: the plain one, and others that lead to it."""
    folder, _, last = name.rpartition("/")
    first, _, rest = name.partition("/")
    ways = [
        name,
        f"/{name}",
        f"./{name}",
        f"x/../{name}",
        f"{first}//{rest}",
        f"{first}/./{rest}",
        f"{first}/x/../{rest}",
        f"{name}/",
        f"{name}/.",
        f"{name}//",
        f"{first}/../{name}",
        f"../media/{name}",
        name.upper(),
        f"{folder}/{last.title()}",
        name.replace("/", "\\"),
        f"{folder}\\{last}",
        f"{folder}/ {last}",
        f"{name} ",
        f"{name}\0",
        f"{name}\0.txt",
        f"{name}%00",
        f"{name}?x",
        f"{name}#x",
        f"{name};x",
        name.replace("/", "\N{FRACTION SLASH}"),
        name.replace("/", "\N{FULLWIDTH SOLIDUS}"),
        f"\N{ZERO WIDTH SPACE}{name}",
        f"{name}\N{COMBINING ACUTE ACCENT}",
        str(media_root() / name),
        f"file://{media_root() / name}",
    ]
    plain = [quote(way, safe="/") for way in ways]
    encoded = [quote(way, safe="") for way in (*ways[:8], quote(name, safe=""))]
    return [*plain, *encoded]


def test_no_spelling_gives_an_original_to_another_team(image, client):
    client.force_login(UserFactory(team=TeamFactory(slug="others")))

    assert given_by(client, spellings(ORIGINAL)) == set()


def test_a_member_gets_the_original_by_the_name_in_its_row_alone(image, client):
    client.force_login(UserFactory(team=image.team))

    assert given_by(client, spellings(ORIGINAL)) == {ORIGINAL, quote(ORIGINAL, safe="")}
    answer = client.get(image_files.original_url(image))
    assert b"".join(answer.streaming_content) == image_files.file_path(image).read_bytes()


def test_files_that_no_image_names_are_given_to_nobody(image, client):
    stored = sorted(
        str(path.relative_to(media_root())) for path in media_root().rglob("*") if path.is_file()
    )
    unnamed = [name for name in stored if name != ORIGINAL]
    ways = [
        way for name in unnamed for way in (name, f"./{name}", f"{name}/", quote(name, safe=""))
    ]

    assert len(unnamed) == 8
    for user in (UserFactory(team=image.team), UserFactory(team=False, is_superuser=True)):
        client.force_login(user)
        assert given_by(client, ways) == set()


def given_by(client, addresses: list[str]) -> set[str]:
    """The addresses that are not refused."""
    given = set()
    for address in addresses:
        answer = client.get(f"/media/{address}")
        b"".join(answer)
        if answer.status_code not in {400, 404}:
            given.add(address)
    return given


def test_a_file_whose_row_was_deleted_is_not_found(image, client):
    client.force_login(UserFactory(team=image.team))
    image.delete()

    assert client.get(f"/media/{ORIGINAL}").status_code == 404


def test_a_second_row_that_names_the_file_does_not_open_it_to_others(image, client):
    """Such as one of another dataset whose id of the image is the same."""
    ImageFactory(team=None, split="holiday", key="k1", source="COCO", file=ORIGINAL)
    client.force_login(UserFactory(team=TeamFactory(slug="others")))

    assert client.get(f"/media/{ORIGINAL}").status_code == 404


def test_an_original_of_a_public_dataset_is_for_members_of_any_team(client):
    public = ImageFactory(team=None, file="images/public/1.jpg")
    put(public.file)

    def status(user):
        client.force_login(user)
        answer = client.get(image_files.original_url(public))
        b"".join(answer)
        return answer.status_code

    assert status(UserFactory()) == 200
    assert status(UserFactory(team=False, is_superuser=True)) == 200
    assert status(UserFactory(team=False)) == 404
    assert client.get(reverse("images:image", args=[public.pk])).status_code == 404


@pytest.mark.parametrize("size", image_copies.SIZES)
def test_a_copy_is_served_by_its_row_and_code_alone(image, client, size):
    code = image_copies.code_of(image)
    name = image_copies.copy_name(image, size)

    assert client.get(f"/media/{size}/{image.pk}-{code}.jpg").status_code == 200
    client.force_login(UserFactory(team=image.team))
    for address in (name, f"{size}/../{name}", f"{size}//{image.pk}-{code}.jpg"):
        assert client.get(f"/media/{address}").status_code == 404
