"""A study at the panel's stand-in, from the operator's form to a participant's bonus."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import pytest
import requests
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from annotate.kinds import KINDS
from annotate.models import Image, Response
from hits.local import clean_environment
from hits.reconcile.reconciler import reconcile
from tests.browser.conftest import PHONE, keep_picture
from tests.browser.own_people import sign_operator_in
from tests.factories import make_campaign
from tests.hits.marketplace_process import ROOT, MarketplaceProcess, running_marketplace
from tests.servers import PATIENCE, free_port, running, wait_until_ready

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAME, TITLE = "Alltagsfotos", "Ein Foto in einem Satz beschreiben"
CAPTIONS = [
    "Eine getigerte Katze liegt auf einer Decke und schaut nach oben.",
    "Das Gesicht einer jungen Katze mit hellen Schnurrhaaren ist zu sehen.",
]
PLAN = {
    "Description": "Beschreiben Sie Fotos auf Deutsch.",
    "Reward": "1.50",
    "Minutes that the study takes": "5",
    "Places": "2",
    "Consent text": "Sie nehmen freiwillig teil.",
    "Code for participants who do not consent": "NEIN",
    "Question on the instructions": "In welcher Sprache schreiben Sie?",
    "Answers, one on each line, the right one first": "Auf Deutsch\nAuf Englisch",
    "Code for participants who fail the question": "FALSCH",
}
# Two HITs of a dollar each are 0.50 above the reward; 33.33 % fee, and 20 % VAT on the fee.
CENTS = {
    "rewards": {"rewards": 150, "fees": 50, "tax": 10},
    "bonuses": {"rewards": 50, "fees": 17, "tax": 3},
}


@dataclass(frozen=True)
class StandIn:
    """The stand-in's process, and the variables that it printed."""

    url: str
    variables: dict[str, str]

    def get(self, path: str) -> dict:
        """The answer of its API."""
        headers = {"Authorization": f"Token {self.variables['PROLIFIC_API_TOKEN']}"}
        answer = requests.get(f"{self.url}/api/v1/{path}", headers=headers, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.json()

    @property
    def balance(self) -> int:
        workspace = self.variables["PROLIFIC_WORKSPACE"]
        return self.get(f"workspaces/{workspace}/balance/")["available_balance"]


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[StandIn]:
    port, printed = free_port(), tmp_path / "stand-in.env"
    command = [sys.executable, "manage.py", "panel_stand_in", "--port", str(port)]
    with running(command, printed, clean_environment({}), ROOT) as process:
        wait_until_ready(f"http://127.0.0.1:{port}/", process)
        lines = [line.removeprefix("export ") for line in printed.read_text().splitlines()]
        variables = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
        yield StandIn(f"http://127.0.0.1:{port}", variables)


@pytest.fixture
def marketplace(stand_in: StandIn, tmp_path: Path) -> Iterator[MarketplaceProcess]:
    """A marketplace that the stand-in's variables connect to it."""
    with running_marketplace(tmp_path, **stand_in.variables, PROLIFIC_SECONDS="1") as process:
        yield process


@pytest.fixture
def campaign(site, picture):
    """A published campaign in German, on photographs, at a dollar a caption."""
    campaign = make_campaign(
        tasks=3, language="de", hit={"title": TITLE, "reward": "1.00"}, workers={"who": "panel"}
    )
    Image.objects.filter(tasks__campaign=campaign).update(**picture("chelsea.png"))
    reconcile(campaign)
    return campaign


@pytest.fixture
def operator(page: Page, marketplace: MarketplaceProcess) -> Page:
    made = marketplace.command("marketplace_operator", "operator")[0]
    sign_operator_in(page, marketplace.url, made["password"], "operator")
    return page


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True, locale="de-DE")
    yield context.new_page()
    context.close()


def look(page: Page, name: str) -> None:
    """Check the page for accessibility and for its width."""
    keep_picture(page, f"panel-{name}")
    assert [each["id"] for each in Axe().run(page).response["violations"]] == [], page.url
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url


def test_a_participant_fails_and_passes_writes_in_german_and_gets_the_bonus(
    operator: Page, phone: Page, stand_in: StandIn, marketplace, campaign
) -> None:
    before = stand_in.balance
    publish_study(operator)
    arrive(phone, stand_in)
    consent_and_pass(phone)
    write(phone)
    return_with_code(phone, stand_in)
    reconcile(campaign)

    wait_for(operator, "approved")
    wait_for(operator, "paid")
    look(operator, "paid")
    assert rows(operator, "What the study has cost, here and at Prolific") == [
        ["Rewards", "1.50", "1.50", "equal"],
        ["Fees for rewards", "0.50", "0.50", "equal"],
        ["VAT on fees for rewards", "0.10", "0.10", "equal"],
        ["Bonuses", "0.50", "0.50", "equal"],
        ["Fees for bonuses", "0.17", "0.17", "equal"],
        ["VAT on fees for bonuses", "0.03", "0.03", "equal"],
    ]
    [study] = stand_in.get("studies/")["results"]
    assert cents(stand_in.get(f"studies/{study['id']}/cost/")) == CENTS
    [submission] = stand_in.get(f"studies/{study['id']}/submissions/")["results"]
    assert (submission["status"], submission["study_code"]) == ("APPROVED", "FERTIG")
    assert stand_in.get(f"submissions/{submission['id']}/")["bonus_payments"] == [50]
    # Two places were reserved, and one bonus was paid.
    assert before - stand_in.balance == 2 * (150 + 50 + 10) + 50 + 17 + 3
    found = Response.objects.filter(task__campaign=campaign).select_related("caption")
    assert sorted(KINDS[campaign.kind].answer(each) for each in found) == sorted(CAPTIONS)


def publish_study(operator: Page) -> None:
    """Make the study, and put it at the panel with signed addresses."""
    operator.get_by_role("link", name="Studies").click()
    operator.get_by_label("Name").fill(NAME)
    option = operator.get_by_label("HITs", exact=True).locator("option", has_text=TITLE)
    operator.get_by_label("HITs", exact=True).select_option(option.get_attribute("value"))
    operator.get_by_label("HITs for each participant").fill(str(len(CAPTIONS)))
    operator.get_by_label("Completion code").fill("FERTIG")
    operator.get_by_label("Code for participants who find no HITs").fill("LEER")
    operator.get_by_role("button", name="Create study").click()
    expect(operator.get_by_text("Study created.")).to_be_visible()
    look(operator, "studies")
    operator.get_by_role("link", name="At Prolific").click()
    for label, value in PLAN.items():
        operator.get_by_label(label, exact=True).fill(value)
    operator.get_by_label("Refuse arrivals without the panel's signature").check()
    look(operator, "plan")
    operator.get_by_role("button", name="Save").click()
    expect(operator.get_by_text("Stored.")).to_be_visible()
    look(operator, "stored")
    operator.get_by_role("button", name="Create draft at Prolific").click()
    expect(operator.get_by_text("The draft is at the panel.")).to_be_visible()
    look(operator, "draft")
    operator.get_by_role("button", name="Publish for 4.20").click()
    expect(operator.get_by_text("Published.")).to_be_visible()
    look(operator, "published")


def arrive(phone: Page, stand_in: StandIn) -> None:
    """Follow the stand-in's signed address, which opens nothing without its signature."""
    phone.goto(stand_in.url)
    phone.get_by_label("Participant id").fill("5f0000000000000000000017")
    phone.get_by_role("button", name="Take part").click()
    expect(phone.get_by_role("button", name="Start or continue")).to_be_visible()
    look(phone, "welcome")
    address = urlsplit(phone.url)
    fields = dict(parse_qsl(address.query))
    assert fields.pop("prolific_token").count(".") == 2
    bare = urlunsplit(address._replace(query=urlencode(fields)))
    assert phone.request.get(bare).status == 403
    phone.get_by_role("button", name="Start or continue").tap()


def consent_and_pass(phone: Page) -> None:
    expect(phone.get_by_text("Sie nehmen freiwillig teil.")).to_be_visible()
    look(phone, "consent")
    phone.get_by_role("button", name="I agree to take part").tap()
    phone.get_by_label("Auf Englisch").check()
    phone.get_by_role("button", name="Answer").tap()
    expect(phone.get_by_text("You have one more try.")).to_be_visible()
    look(phone, "second-try")
    phone.get_by_label("Auf Deutsch").check()
    phone.get_by_role("button", name="Answer").tap()
    expect(phone.get_by_role("button", name="Start")).to_be_visible()
    look(phone, "start")
    phone.get_by_role("button", name="Start").tap()


def write(phone: Page) -> None:
    for number, caption in enumerate(CAPTIONS, start=1):
        expect(phone.get_by_text(f"{number} of {len(CAPTIONS)}")).to_be_visible()
        frame = phone.frame_locator("iframe")
        expect(frame.locator("html")).to_have_attribute("lang", "de")
        frame.get_by_label("Beschreiben Sie das Bild in einem Satz").fill(caption)
        look(phone, f"task-{number}")
        frame.locator(".actions button").tap()


def return_with_code(phone: Page, stand_in: StandIn) -> None:
    """The last page leads back to the panel with the code by itself."""
    expect(phone.get_by_text("You have done all tasks. Thank you.")).to_be_visible()
    expect(phone.get_by_role("status")).to_have_text("Code FERTIG received.")
    assert phone.url.startswith(f"{stand_in.url}/submissions/complete?")


def wait_for(operator: Page, state: str) -> None:
    """Reload the page until a table shows this state: the rounds run on their own."""
    for _ in range(PATIENCE):
        operator.reload()
        if operator.get_by_role("cell", name=state, exact=True).count():
            return
        operator.wait_for_timeout(1000)
    pytest.fail(f"{state} is not on {operator.url}")


def rows(page: Page, caption: str) -> list[list[str]]:
    """The texts of a table's cells."""
    table = page.get_by_role("table", name=caption)
    return [each.locator("th, td").all_inner_texts() for each in table.locator("tbody tr").all()]


def cents(cost: dict) -> dict[str, dict[str, int]]:
    return {
        part: {name: money["amount"] for name, money in amounts.items()}
        for part, amounts in cost.items()
    }
