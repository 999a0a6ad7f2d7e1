"""A client that openapi-python-client makes from the schema: it can be imported, and asks for what
its program set."""

import importlib
import pkgutil
import subprocess
import sys

import httpx
import pytest
from django.test import Client
from django.utils import timezone
from drf_spectacular.renderers import OpenApiJsonRenderer

from accounts.api.schema import written
from accounts.services.api_tokens import issue_token
from annotate.kinds.campaign_files import PRESETS, parse_plan
from annotate.models import Campaign
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    BoxFactory,
    CaptionSetFactory,
    GivenCaptionFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    TaskFactory,
    UserFactory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database, pytest.mark.slow]
NAME = "generated_client"
# A format's archive is bytes for a program. The generator does not know that of ZIP files.
CONFIG = "content_type_overrides: {application/zip: application/octet-stream}\npost_hooks: []\n"
OWN = {"who": "own", "countries": [], "approved_hits": 0, "approval_rate": 0}


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The name of the package of the generated client."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "schema.json").write_bytes(written(OpenApiJsonRenderer))
    (folder / "config.yml").write_text(CONFIG)
    done = subprocess.run(
        [
            *[sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"],
            *["--path", "schema.json", "--config", "config.yml", "--output-path", NAME],
            "--fail-on-warning",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield NAME
    sys.path.remove(str(folder))


@pytest.fixture
def client(generated):
    """The client, with a token of a researcher."""
    _, text = issue_token(user=UserFactory(), at=timezone.now())
    return part(generated, "client").AuthenticatedClient(
        base_url="http://testserver",
        token=text,
        prefix="Token",
        raise_on_unexpected_status=True,
        httpx_args={"transport": httpx.MockTransport(answer)},
    )


def answer(request):
    """The site's answer to a request of the client, in the test's transaction."""
    found = Client().generic(
        request.method,
        request.url.raw_path.decode(),
        request.read(),
        request.headers.get("Content-Type", ""),
        headers={"Authorization": request.headers["Authorization"]},
    )
    return httpx.Response(found.status_code, headers=dict(found.items()), content=found.getvalue())


def part(generated, name):
    return importlib.import_module(f"{generated}.{name}")


def create(generated, client, keys):
    """Create a campaign with the generated client; return its answer."""
    body = part(generated, "models").CampaignsCreateBody.from_dict(keys)
    return part(generated, "api.campaigns.campaigns_create").sync(client=client, body=body)


@pytest.fixture
def material():
    """Keys that name what each sort of campaign works on."""
    images = [ImageFactory(), ImageFactory(), ImageFactory()]
    selection = SelectionFactory(images=images)
    captions, others = CaptionSetFactory(), CaptionSetFactory()
    for image in images:
        BoxFactory(image=image)
        GivenCaptionFactory(caption_set=captions, image=image, text="A hut beside a lake.")
        GivenCaptionFactory(caption_set=others, image=image, text="A red boat on a lake.")
    sources = [{"name": "model", "caption_set": captions.name}]
    pair = [*sources, {"name": "another", "caption_set": others.name}]
    return {
        "caption": {"selection": selection.name},
        "correspondence": {"caption_set": captions.name},
        "rating": {"selection": selection.name, "rating": {"sources": sources}},
        "region": {"selection": selection.name},
        "refine": {"selection": selection.name},
        "preference": {"selection": selection.name, "preference": {"sources": pair}},
    }


def test_every_module_of_the_client_is_imported(generated):
    package = importlib.import_module(generated)

    names = [each.name for each in pkgutil.walk_packages(package.__path__, f"{generated}.")]

    assert len([importlib.import_module(name) for name in names]) > 200


SORTS = {
    **{preset: ("kind", {"preset": preset}) for preset in PRESETS},
    "caption": ("caption", {"kind": "caption"}),
    "correspondence": ("correspondence", {"kind": "correspondence"}),
    "rating": ("rating", {"kind": "rating"}),
    "refine": ("refine", {"kind": "refine"}),
    "region": ("region", {"kind": "region"}),
    "preference": ("preference", {"kind": "preference"}),
    "own people": ("caption", {"workers": {"who": "own"}, "hit": {"reward": "0.00"}}),
    "a panel": ("caption", {"workers": {"who": "panel"}}),
    "languages": ("caption", {"languages": ["en", "de"]}),
}


@pytest.mark.parametrize("sort", SORTS)
def test_the_client_creates_the_campaign_that_its_keys_describe(generated, client, material, sort):
    kind, keys = SORTS[sort]
    if kind == "kind":
        kind = PRESETS[sort].get("kind", "caption")
    keys = {"name": "pilot", "budget": "50.00", **material[kind], **keys}

    answer = create(generated, client, keys)

    wanted = [config.model_dump(mode="json") for config in parse_plan(keys).configs]
    made = Campaign.objects.order_by("pk")
    assert [campaign.config_json for campaign in made] == wanted
    assert answer.slug == wanted[0]["name"]


def test_a_preset_decides_about_keys_that_the_program_left_out(generated, client, material):
    create(
        generated,
        client,
        {"name": "pilot", "preset": "coco-c5", "budget": "50.00", **material["caption"]},
    )

    assert sum(task.wanted for task in Campaign.objects.get().tasks.all()) == 3 * 6


def test_the_client_reads_a_file_that_is_an_array(generated, client):
    task = TaskFactory(campaign__config={"references": 1, "review": {"share": 0}})
    for _ in range(task.wanted):
        ResponseFactory(task=task)
    release_campaign(campaign=task.campaign, name="v1", seed=0, at=timezone.now())
    file = part(generated, "models").ReleasesFileFile("baseline.json")

    (found,) = part(generated, "api.releases.releases_file").sync("v1", file, client=client)

    assert set(found) == {"image_id", "caption"}
