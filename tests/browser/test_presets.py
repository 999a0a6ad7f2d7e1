"""Each preset of captions, made by the steps and by a file, worked on a phone and by simulated
people, reviewed, released and exported."""

import json
import os
import re
from io import StringIO

import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import FrameLocator, expect

from annotate.kinds.campaign_files import parse_config
from annotate.kinds.caption.presets import PRESETS
from annotate.models import Campaign, Response
from annotate.services.drafts import begin_draft
from hits.reconcile.reconciler import reconcile
from qualcontrol.services.releasing import missing, release_campaign
from simulation.demonstration import review
from simulation.kinds import hands_for
from simulation.management.commands.simulate_workers import plan_of
from simulation.workers.browser import WorkerBrowser
from simulation.workers.crowd import Crew, Crowd, members
from tests.browser.campaigns import expect_submitted, open_group, start
from tests.browser.conftest import keep_picture
from tests.factories import (
    BoxFactory,
    CaptionSetFactory,
    ClassFactory,
    GivenCaptionFactory,
    ImageFactory,
    SelectionFactory,
    UserFactory,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WORDS = {"en": ("ltr", "word", "Submit"), "ar": ("rtl", "كلمة", "إرسال")}
# Every second preset in a language that is written from right to left.
CASES = [(preset, "ar" if number % 2 else "en") for number, preset in enumerate(PRESETS)]
if os.environ.get("EACH_PRESET_IN_BOTH"):
    CASES = [(preset, language) for preset in PRESETS for language in ("en", "ar")]
CONTEXT = "Cats sleep most of the day."


@pytest.fixture
def selection(site, picture):
    """An image with a cat and a chair, and the text around it."""
    image = ImageFactory(**picture("chelsea.png"), context=CONTEXT)
    for name in ("Cat", "Chair"):
        BoxFactory(image=image, object_class=ClassFactory(name=name, label=f"/m/{name}"))
    given = CaptionSetFactory(name="given")
    GivenCaptionFactory(caption_set=given, image=image, text="a cat looks at you")
    return SelectionFactory(images=[image])


def shown(page) -> dict[str, str]:
    """The entries of the step's form, as a browser would post them."""
    form = BeautifulSoup(page.content, "lxml").select_one("#step-form")
    found = {area["name"]: area.text.removeprefix("\n") for area in form.select("textarea")}
    for field in form.select("input[name]"):
        if field.get("type") not in ("checkbox", "radio"):
            found[field["name"]] = field.get("value", "")
        elif field.has_attr("checked"):
            found[field["name"]] = field.get("value", "on")
    for choice in form.select("select"):
        chosen = choice.select_one("option[selected]") or choice.option
        found[choice["name"]] = chosen["value"] if chosen else ""
    return found


def by_the_steps(client, entries: dict[str, dict[str, object]]) -> Campaign:
    user = UserFactory()
    client.force_login(user)
    draft = begin_draft(owner=user, file={"kind": "caption"}, at=timezone.now())
    for step, own in entries.items():
        address = reverse("hits:new_step", args=[draft.pk, step])
        answer = client.post(address, {**shown(client.get(address)), **own})
        assert answer.status_code == 302, answer.content.decode()
    for state in ("preview", "accepted"):
        body = client.get(reverse("hits:new_preview", args=[draft.pk, state])).content.decode()
        assert "data-task-image" in body
    client.post(reverse("hits:new_create", args=[draft.pk]))
    return Campaign.objects.get()


def fits(frame: FrameLocator) -> bool:
    """Whether the page in the frame, once it is loaded, is no wider than the frame."""
    frame.locator("html").evaluate(
        """() => document.readyState === "complete"
          || new Promise((loaded) => addEventListener("load", () => loaded()))"""
    )
    wide = frame.locator("html").evaluate("each => each.scrollWidth - each.clientWidth")
    return bool(wide <= 0)


def describe(frame: FrameLocator, campaign: Campaign, word: str) -> str:
    """Fill in the form, with a reason where there are some; return the text or the reason."""
    rules = campaign.config.captions
    for scale in frame.locator(".rate-first [data-question]").all():
        scale.get_by_role("radio").nth(2).check()
    if rules.show_context:
        expect(frame.get_by_text(CONTEXT)).to_be_visible()
    if rules.cannot_describe:
        frame.locator("select").select_option(rules.cannot_describe[1])
        frame.locator("input[name^=remark]").fill("Too dark <here>.")
        return rules.cannot_describe[1]
    text = " ".join(f"{word}{number}" for number in range(rules.least_words + 1)) + "."
    frame.locator("textarea").fill(text)
    return text


def work_by_hand(phone, worker, campaign) -> None:
    """One assignment on a phone, from the preview to the stored answer."""
    direction, word, submit = WORDS[campaign.config.language]
    frame = open_group(phone, worker, campaign)
    for rule in campaign.config.instructions.rules:
        expect(frame.get_by_text(rule)).to_be_attached()
    assert fits(frame)
    keep_picture(phone, f"{campaign.config.preset}-{direction}-preview")
    phone.get_by_role("button", name="Accept").first.click()
    phone.wait_for_url("**/assignments/*")
    expect(frame.locator("html")).to_have_css("direction", direction)
    said = describe(frame, campaign, word)
    assert fits(frame)
    keep_picture(phone, f"{campaign.config.preset}-{direction}")
    frame.get_by_role("button", name=submit).click()
    expect_submitted(phone)
    reconcile(campaign)
    response = Response.objects.get()
    assert response.cannot_describe + response.caption.text == said


def work_by_crowd(workers, campaign, reviewer) -> None:
    """Simulated people and a simulated reviewer, until everything is there."""
    hands = hands_for(campaign, Crew(len(workers), careless=0, errors=0.0, seed=1))
    browsers = [WorkerBrowser(worker.sign_in_url) for worker in workers]
    names = [worker.worker_id for worker in workers]
    crowd = members(names=names, browsers=browsers, hands=hands, seed=1)
    options = {"seed": 1, "assignments": None, "threads": 2, "returns": 0.0, "abandons": 0.0}
    for _ in range(8):
        outcome = Crowd(crowd, plan_of(campaign, options)).work()
        assert not outcome.errors
        reconcile(campaign)
        review(campaign=campaign, reviewer=reviewer, at=timezone.now())
        if not missing(campaign):
            break
    assert not campaign.exclusions.exists()


def released(campaign, folder) -> list[dict[str, object]]:
    """The exported release's entries of the images."""
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=timezone.now())
    assert not release.is_partial
    for file_format in ("coco", "csv"):
        out = str(folder / file_format)
        call_command("export", "v1", "--format", file_format, "--out", out, stdout=StringIO())
    name = "vizwiz.json" if campaign.config.captions.cannot_describe else "captions.json"
    said: list[dict[str, object]] = json.loads((folder / "coco" / name).read_text())["annotations"]
    return said


@pytest.mark.parametrize(("preset", "language"), CASES)
def test_a_preset_leads_to_a_release(
    client, phone, page, site, sign_in, marketplace, selection, title, tmp_path, preset, language
):
    rates_first = "given" if preset == "xm3600" else ""
    # Forty captions take as long as all others together, and come about as three do.
    fewer = {"references": 3} if PRESETS[preset]["references"] > 5 else {}
    file = {
        "name": "collected",
        "preset": preset,
        "selection": selection.name,
        "language": language,
        "budget": "500.00",
        "workers": {"who": "own"},
        "captions": {"rate_first": rates_first},
        "hit": {"reward": "0.00"},  # what the steps propose for one's own people
        **fewer,
    }
    campaign = by_the_steps(
        client,
        {
            "task": {"name": "collected", "preset": preset},
            "images": {
                "selection": selection.name,
                "captions__rate_first": rates_first,
                **fewer,
            },
            "instructions": {"language": language},
            "workers": {"workers__who": "own"},
            "reward": {"budget": "500"},
            "checks": {},
        },
    )
    assert campaign.config_json == parse_config(file).model_dump(mode="json")
    campaign.config_json["hit"]["title"] = title
    campaign.save()
    campaign = start(campaign)
    wanted, reviewer = campaign.config.wanted, UserFactory()
    workers = marketplace.fresh_workers(wanted + 3)

    work_by_hand(phone, workers[0], campaign)
    sign_in(reviewer)
    page.goto(site + reverse("qualcontrol:queue", args=[campaign.slug]))
    keep_picture(page, f"{preset}-{language}-review")
    good = page.get_by_role("button", name="Good")
    good.scroll_into_view_if_needed()
    expect(page.locator(".subject img")).to_be_in_viewport()
    good.click()
    done = page.get_by_role("heading", name=re.compile("No captions to|All required"))
    expect(done).to_be_visible()
    work_by_crowd(workers[1:], campaign, reviewer)

    assert len(released(campaign, tmp_path)) + campaign.config.baselines >= wanted
