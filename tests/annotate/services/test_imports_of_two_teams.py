"""A team's import changes nothing of another team, of shared rows or of published campaigns."""

import csv
import io
import json
from decimal import Decimal
from html import unescape
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from PIL import Image as Picture

from annotate.exports.records import context_of
from annotate.models import Box, ClassRelation, Image, ObjectClass, Release
from annotate.queries.keywords import hidden_classes, keywords
from annotate.services import class_names, imports, own_images
from annotate.services import images as image_files
from annotate.services.selections import ignored_names
from background.models import JobStatus
from corpora.errors import DomainError
from hits.services import lifecycle
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER
from tests.factories import (
    NOON,
    CampaignFactory,
    HitFactory,
    HitTypeFactory,
    ImageFactory,
    SelectionFactory,
    TaskFactory,
    TeamFactory,
    UserFactory,
)
from tests.jobs import run_jobs
from tests.races import while_open

pytestmark = pytest.mark.django_db

DOG = "/m/0bt9lr"
BASE = "https://images.one.example"
STRANGE = {
    "base_url": "https://images.two.example",
    "author": "Somebody else",
    "name": "Wolf",
    "right": "0.9",
}


def table(header, *rows):
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows] if header else rows)
    return out.getvalue().encode()


def classes_file(name="Dog"):
    return table([], [DOG, name])


def hierarchy_file(kind="Subcategory"):
    return json.dumps({"LabelName": "/m/0bl9f", kind: [{"LabelName": DOG}]}).encode()


def images_file(author="Ada"):
    values = {"ImageID": "0001", "Subset": "validation", "Author": author, "Rotation": "0.0"}
    values |= {"OriginalURL": "https://flickr.example/1.jpg", "Title": "A yard"}
    return table(IMAGE_HEADER, [values.get(name, "") for name in IMAGE_HEADER])


def boxes_file(right="0.4"):
    values = dict.fromkeys(BOX_HEADER, "0") | {"ImageID": "0001", "LabelName": DOG}
    values |= {"Source": "xclick", "Confidence": "1", "XMin": "0.1", "XMax": right}
    values |= {"YMin": "0.2", "YMax": "0.8"}
    return table(BOX_HEADER, [values[name] for name in BOX_HEADER])


def coco_file(name="dog", url="https://images.one.example/7.jpg"):
    return json.dumps(
        {
            "images": [{"id": 7, "width": 10, "height": 10, "file_name": "7.jpg", "coco_url": url}],
            "categories": [{"id": 1, "name": name}],
            "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [0, 0, 5, 5]}],
        }
    ).encode()


def form_of(split="validation", base_url=BASE, author="Ada", name="Dog", right="0.4", **more):
    contents = {
        "classes": classes_file(name),
        "hierarchy": hierarchy_file(),
        "images": images_file(author),
        "boxes": boxes_file(right),
    }
    files = {part: SimpleUploadedFile(f"{part}.csv", text) for part, text in contents.items()}
    return {"kind": "openimages", "split": split, "base_url": base_url, **files, **more}


def coco_form(split="validation", **content):
    file = SimpleUploadedFile("coco.json", coco_file(**content))
    return {"kind": "coco", "split": split, "coco": file}


def by_page(client, form):
    return client.post("/images/import/", {**form, "complete": "1"})


def by_api(client, form):
    return client.post("/api/imports/", form)


def everything():
    """All rows of images, boxes and classes, of every team."""
    return [
        sorted(map(str, model.objects.order_by("pk").values()))
        for model in (Image, Box, ObjectClass, ClassRelation)
    ]


@pytest.fixture(autouse=True)
def folders(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.UPLOAD_ROOT = tmp_path / "uploads"


@pytest.fixture
def alpha():
    return TeamFactory(slug="alpha")


@pytest.fixture
def beta():
    return TeamFactory(slug="beta")


@pytest.fixture
def of_alpha(alpha, client_of):
    return client_of(alpha)


@pytest.fixture
def of_beta(beta, client_of):
    return client_of(beta)


@pytest.fixture
def client_of(client):
    def signed_in(team):
        made = client.__class__()
        made.force_login(UserFactory(team=team))
        return made

    return signed_in


def published(team, status="RUNNING"):
    """A campaign of the team with a task for each image of its split."""
    campaign = CampaignFactory(
        team=team, status=status, selection=SelectionFactory(team=team), config={"references": 2}
    )
    for image in Image.objects.filter(split="validation"):
        TaskFactory(campaign=campaign, image=image)
    return campaign


def task_page(client, campaign):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    query = {"assignmentId": "REAL1", "hitId": hit.hit_id, "workerId": "AWORKER1"}
    return client.get(f"/task/{campaign.slug}/?{urlencode(query)}").content.decode()


@pytest.mark.parametrize("send", [by_page, by_api])
@pytest.mark.parametrize("form", [form_of, coco_form])
def test_a_team_cannot_import_into_the_split_of_another_team(of_alpha, of_beta, send, form):
    by_page(of_alpha, form())
    run_jobs()
    before = everything()

    response = send(of_beta, form(name="Wolf"))
    run_jobs()

    assert response.status_code in {400, 422}
    said = unescape(response.content.decode())
    assert "The name 'validation' is taken" in said
    assert "alpha" not in said
    assert everything() == before


@pytest.mark.parametrize("send", [by_page, by_api])
def test_a_team_cannot_import_into_a_shared_split(of_beta, send):
    ImageFactory(key="0001", split="validation")
    before = everything()

    response = send(of_beta, form_of(**STRANGE))
    run_jobs()

    assert response.status_code in {400, 422}
    assert "Only an operator can import into it" in response.content.decode()
    assert everything() == before


def test_a_split_that_another_team_took_before_the_job_ran_is_left_alone(of_alpha, of_beta):
    by_page(of_alpha, form_of())
    late = by_page(of_beta, form_of(**STRANGE))

    first, second = run_jobs()

    assert late.status_code == 302
    assert first.status == JobStatus.DONE, first.error
    assert second.status == JobStatus.FAILED
    assert "is taken" in second.error
    assert [image.url for image in Image.objects.all()] == [f"{BASE}/0001.jpg"]


def test_two_teams_have_the_same_images_each_with_its_own_credit_boxes_and_classes(
    client, of_alpha, of_beta, alpha, beta
):
    by_page(of_alpha, form_of())
    run_jobs()
    page = task_page(client, published(alpha))

    by_page(of_beta, form_of(split="mine", **STRANGE))
    (job,) = run_jobs()

    assert job.status == JobStatus.DONE, job.error
    of_image = {image.team: image for image in Image.objects.all()}
    assert of_image[alpha].author == "Ada"
    assert of_image[beta].author == "Somebody else"
    named = {team: list(image.boxes.all()) for team, image in of_image.items()}
    assert [box.object_class.name for box in named[alpha]] == ["Dog"]
    assert [box.object_class.name for box in named[beta]] == ["Wolf"]
    assert f"{BASE}/0001.jpg" in page
    assert "Ada" in page


def test_the_hierarchy_of_one_team_hides_no_class_of_another(alpha, beta, tmp_path):
    names = tmp_path / "classes.csv"
    names.write_bytes(classes_file())
    parts = tmp_path / "hierarchy.json"
    parts.write_bytes(hierarchy_file("Part"))
    for team in (None, alpha, beta):
        imports.import_classes(path=names, team=team)

    imports.import_hierarchy(path=parts, team=beta)

    assert [(one.name, one.team) for one in hidden_classes()] == [("Dog", beta)]
    assert "Dog" in ignored_names(team=beta)
    assert "Dog" not in ignored_names(team=alpha)


def test_a_part_in_the_shared_hierarchy_is_hidden_also_in_a_team_with_its_own_classes(
    alpha, tmp_path
):
    import_with(tmp_path, None, ("classes", classes_file()))
    import_with(tmp_path, None, ("hierarchy", hierarchy_file("Part")))
    import_with(tmp_path, alpha, ("classes", classes_file("Paw")))
    import_with(tmp_path, alpha, ("images", images_file()))
    import_with(tmp_path, alpha, ("boxes", boxes_file()))

    assert Box.objects.get().object_class.team == alpha
    assert keywords(Image.objects.get()) == []
    assert "Paw" in ignored_names(team=alpha)
    assert "Paw" not in ignored_names(team=None)


def test_boxes_have_the_classes_that_their_team_imports_after_them(alpha, beta, tmp_path):
    import_with(tmp_path, None, ("classes", classes_file()))
    import_with(tmp_path, None, ("hierarchy", hierarchy_file()))
    for team, split in ((alpha, "validation"), (beta, "other")):
        path = tmp_path / "file"
        path.write_bytes(images_file())
        imports.import_images(path=path, split=split, base_url=BASE, team=team)
        path.write_bytes(boxes_file())
        imports.import_boxes(path=path, split=split, team=team)

    import_with(tmp_path, alpha, ("classes", classes_file("Hound")))
    again = import_with(tmp_path, alpha, ("boxes", boxes_file()))

    assert (again.new, again.unchanged) == (0, 1)
    classes = Box.objects.values_list("image__team", "object_class__name", "object_class__team")
    assert set(classes) == {(alpha.pk, "Hound", alpha.pk), (beta.pk, "Dog", None)}


def test_boxes_of_own_photographs_keep_a_shared_class_of_another_dataset(alpha, tmp_path):
    import_with(tmp_path, None, ("coco", coco_file(name="dog")))
    Picture.new("RGB", (6, 4), "red").save(tmp_path / "a.png")
    facts = tmp_path / "facts.csv"
    facts.write_text("file_name,classes\na.png,dog\n")
    files = own_images.own_files_below(tmp_path, facts)
    own_images.import_own_files(files=files, split="photos", table=facts, team=alpha)

    path = tmp_path / "file"
    path.write_bytes(coco_file(name="helmet"))
    imports.import_coco(path=path, split="helmets", team=alpha)

    assert keywords(Image.objects.get(split="photos")) == ["dog"]


def test_names_in_a_language_are_those_of_the_classes_of_all_teams(alpha, tmp_path):
    for team in (None, alpha):
        ObjectClass.objects.create(team=team, label=DOG, name="Dog")
    path = tmp_path / "names.csv"
    path.write_text(f"{DOG},Hund\n")

    counts = class_names.import_class_names(path=path, language="de")

    assert counts.new == 2


def test_boxes_of_a_team_have_shared_classes_unless_it_has_its_own(alpha, tmp_path):
    shared = ObjectClass.objects.create(label=DOG, name="Dog")
    ImageFactory(key="0001", split="validation", team=alpha)
    path = tmp_path / "boxes.csv"
    path.write_bytes(boxes_file())

    imports.import_boxes(path=path, split="validation", team=alpha)

    assert Box.objects.get().object_class == shared


def test_a_class_that_a_table_names_is_not_another_teams(alpha, beta, tmp_path):
    for number, team in enumerate((alpha, beta)):
        folder = tmp_path / team.slug
        folder.mkdir()
        Picture.new("RGB", (6, 4), (number, 0, 0)).save(folder / "a.png")
        facts = tmp_path / f"{team.slug}.csv"
        facts.write_text(f"file_name,classes\na.png,{['dOG', 'Dog'][number]}\n")
        files = own_images.own_files_below(folder)
        own_images.import_own_files(files=files, split=team.slug, table=facts, team=team)

    assert {(box.image.team, box.object_class.name) for box in Box.objects.all()} == {
        (alpha, "dOG"),
        (beta, "Dog"),
    }


# Shared by an operator


def test_only_an_operator_shares_what_is_imported(client, of_beta):
    operator = client.__class__()
    operator.force_login(UserFactory(is_staff=True, is_superuser=True))
    refused = by_api(of_beta, form_of(shared="true"))
    refused_page = by_page(of_beta, form_of(shared="on"))

    shared = by_api(operator, form_of(shared="true"))
    (job,) = run_jobs()

    assert refused.status_code == 400
    assert "Only an operator can share" in refused.content.decode()
    assert refused_page.status_code == 422
    assert shared.status_code == 202
    assert job.status == JobStatus.DONE, job.error
    assert Image.objects.get().team is None
    assert ObjectClass.objects.get(label=DOG).team is None


def test_a_researcher_who_runs_an_operators_job_again_shares_nothing(client, alpha, of_alpha):
    client.force_login(UserFactory(team=alpha, is_staff=True, is_superuser=True))
    boxes = SimpleUploadedFile("boxes.csv", boxes_file())
    form = {"kind": "openimages", "split": "validation", "boxes": boxes, "shared": "on"}
    address = by_page(client, form).url
    (failed,) = run_jobs()
    ImageFactory(key="0001", split="validation")
    ObjectClass.objects.create(label=DOG, name="Dog")

    of_alpha.post(f"{address}again/")
    (again,) = run_jobs()

    assert "has no images" in failed.error
    assert again.repeats == failed
    assert "Only an operator can share" in again.error
    assert not Box.objects.exists()


def test_only_operators_are_offered_to_share(client, of_beta):
    client.force_login(UserFactory(is_staff=True, is_superuser=True))

    assert "Share with all teams" in client.get("/images/import/").content.decode()
    assert "Share with all teams" not in of_beta.get("/images/import/").content.decode()


def test_a_command_without_a_team_leaves_the_splits_of_teams_alone(alpha, tmp_path):
    ImageFactory(key="0001", split="validation", team=alpha)
    path = tmp_path / "images.csv"
    path.write_bytes(images_file())

    with pytest.raises(CommandError, match="belongs to the team alpha"):
        call_command("import_openimages", f"--images={path}", "--split=validation")
    call_command(
        "import_openimages", f"--images={path}", "--split=validation", "--team=alpha", stdout=None
    )

    assert Image.objects.get().author == "Ada"


# What is published


def import_with(folder, team, content, **options):
    """Import one file of Open Images or COCO for the team."""
    part, text = content
    path = folder / "file"
    path.write_bytes(text)
    functions = {
        "classes": imports.import_classes,
        "hierarchy": imports.import_hierarchy,
        "images": imports.import_images,
        "boxes": imports.import_boxes,
        "coco": imports.import_coco,
    }
    if part in {"images", "boxes", "coco"}:
        options["split"] = "validation"
    if part == "images":
        options["base_url"] = BASE
    return functions[part](path=path, team=team, **options)


SAME = [
    ("classes", classes_file()),
    ("hierarchy", hierarchy_file()),
    ("images", images_file()),
    ("boxes", boxes_file()),
    ("coco", coco_file()),
]
OTHERWISE = [
    ("classes", classes_file("Wolf")),
    ("hierarchy", hierarchy_file("Part")),
    ("images", images_file("Somebody else")),
    ("boxes", boxes_file("0.9")),
    ("coco", coco_file(name="cat")),
    ("coco", coco_file(url="https://elsewhere.example/7.jpg")),
]


@pytest.mark.parametrize("owner", ["alpha", None])
@pytest.mark.parametrize("content", OTHERWISE)
def test_an_import_does_not_change_what_a_published_campaign_shows(alpha, tmp_path, owner, content):
    team = owner and alpha
    for one in SAME:
        import_with(tmp_path, team, one)
    campaign = published(alpha)
    before = everything()

    with pytest.raises(DomainError, match=f"published campaigns \\({campaign}\\)"):
        import_with(tmp_path, team, content)

    assert everything() == before
    import_with(tmp_path, team, content, change_published=True)
    assert everything() != before


def test_importing_the_same_again_and_changing_a_draft_are_possible(alpha, tmp_path):
    for one in SAME:
        import_with(tmp_path, alpha, one)
    published(alpha, "DRAFT")
    drafted = everything()
    published(alpha)

    for one in SAME:
        import_with(tmp_path, alpha, one)

    assert everything() == drafted


def test_a_draft_shows_what_is_imported_later(alpha, tmp_path):
    for one in SAME:
        import_with(tmp_path, alpha, one)
    published(alpha, "DRAFT")

    for one in OTHERWISE:
        import_with(tmp_path, alpha, one)

    assert Image.objects.filter(author="Somebody else").exists()


@pytest.mark.parametrize("status", ["PAUSED", "FINISHED"])
def test_campaigns_that_ran_keep_what_they_show(alpha, tmp_path, status):
    import_with(tmp_path, alpha, ("images", images_file()))
    published(alpha, status)

    with pytest.raises(DomainError, match="published campaigns"):
        import_with(tmp_path, alpha, ("images", images_file("Somebody else")))


def test_a_release_of_a_draft_keeps_what_it_shows(alpha, tmp_path):
    import_with(tmp_path, alpha, ("images", images_file()))
    campaign = published(alpha, "DRAFT")
    Release.objects.create(
        campaign=campaign, name="v1", seed=1, created_at=NOON, context=context_of(campaign)
    )

    with pytest.raises(DomainError, match="published campaigns"):
        import_with(tmp_path, alpha, ("images", images_file("Somebody else")))


def test_a_table_of_facts_does_not_change_what_a_published_campaign_shows(alpha, tmp_path):
    Picture.new("RGB", (6, 4), "red").save(tmp_path / "a.png")
    facts = tmp_path / "facts.csv"

    def describe(text, **options):
        facts.write_text(f"file_name,author,classes\na.png,{text}\n")
        files = own_images.own_files_below(tmp_path, facts)
        return own_images.import_own_files(
            files=files, split="validation", table=facts, team=alpha, **options
        )

    describe("Ada,dog")
    published(alpha)
    before = everything()
    describe("Ada,dog")
    for text in ("Somebody else,dog", "Ada,cat"):
        with pytest.raises(DomainError, match="published campaigns"):
            describe(text)

    assert everything() == before
    describe("Somebody else,dog", change_published=True)
    assert Image.objects.get().author == "Somebody else"


def test_image_files_of_a_published_campaign_are_not_replaced(alpha, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    image = ImageFactory(key="0001", split="validation", team=alpha)
    Picture.new("RGB", (6, 4), "red").save(folder / "0001.png")
    options = {"folder": folder, "split": "validation", "team": alpha}
    image_files.import_files(**options)
    published(alpha)
    same = image_files.import_files(**options)
    Picture.new("RGB", (6, 4), "blue").save(folder / "0001.png")

    refused = image_files.import_files(**options)

    assert (same.unchanged, same.broken) == (1, [])
    assert refused.changed == 0
    assert "a published campaign shows" in refused.broken[0].reason
    assert image_files.import_files(**options, change_published=True).changed == 1
    image.refresh_from_db()
    assert (image.width, image.height) == (6, 4)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.django_db(transaction=True)
def test_a_campaign_that_is_published_while_an_import_runs_waits_for_it(
    alpha, tmp_path, monkeypatch
):
    """Otherwise the import would change what the campaign was published with."""
    account = SimpleNamespace(balance=lambda: Decimal(1_000))
    monkeypatch.setattr(lifecycle, "marketplace_of", lambda _: account)
    import_with(tmp_path, alpha, ("images", images_file()))
    campaign = published(alpha, "DRAFT")

    def publish():
        lifecycle.publish(campaign=campaign, actor=None, at=NOON)
        return Image.objects.get().author

    author = while_open(
        lambda: import_with(tmp_path, alpha, ("images", images_file("Somebody else"))), publish
    )

    assert author == "Somebody else"
