"""Pages of a study and of a group in Japanese and Arabic, each on a phone and on a laptop."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from marketplace import clock
from marketplace.models import AttentionCheck, Hit, HitType, Screening
from marketplace.services import people_groups, studies
from marketplace.services.links import group_url
from tests.accessibility import violations
from tests.marketplace.browser.written_for_amazon import HTML_QUESTION, WRITTEN_FOR_AMAZON
from tests.marketplace.factories import make_hit, make_hit_type, make_study
from tests.marketplace.people import make_group, path_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TEXTS = {
    "ja": {
        "title": "写真を一つの文で説明する",
        "description": "写真を見て、大切な部分を説明する文を一つ書いてください。",
        "name": "日常の写真 2026",
        "organizer": "例示大学 言語研究室",
        "purpose": "人が写真をどのように説明するかを調べています。",
        "contact": "lab@university.example",
        "consent": "参加は任意です。いつでもやめることができます。",
        "question": "何を説明しますか。",
        "right": "写真",
        "wrong": "音楽",
    },
    "ar": {
        "title": "صف صورة في جملة واحدة",
        "description": "انظر إلى الصورة واكتب جملة واحدة تصف ما هو مهم فيها.",
        "name": "صور يومية 2026",
        "organizer": "مختبر اللغة في جامعة المثال",
        "purpose": "ندرس كيف يصف الناس الصور.",
        "contact": "lab@university.example",
        "consent": "مشاركتك طوعية. يمكنك التوقف في أي وقت.",
        "question": "ماذا تصف؟",
        "right": "صورة",
        "wrong": "أغنية",
    },
}
QUESTION = HTML_QUESTION.format(html=WRITTEN_FOR_AMAZON.format(survey="https://survey.test"))
WIDTHS = {"laptop": {"width": 1024, "height": 768}, "phone": {"width": 390, "height": 844}}


class Look:
    """Checks a page at each width: accessible, no wider than the screen, in the right direction."""

    def __init__(self, page, name: str, language: str) -> None:
        self.page, self.name, self.language, self.seen = page, name, language, 0

    def __call__(self) -> None:
        page = self.page
        self.seen += 1
        for name, size in WIDTHS.items():
            page.set_viewport_size(size)
            if folder := os.environ.get("SCREENSHOTS"):
                file = Path(folder) / f"{self.name}-{name}-{self.seen:02}.png"
                page.screenshot(path=file, full_page=True)
            assert violations(page, []) == [], page.url
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= size["width"], page.url
        html = page.locator("html")
        expect(html).to_have_attribute("lang", self.language)
        direction = page.evaluate("getComputedStyle(document.documentElement).direction")
        assert direction == ("rtl" if self.language == "ar" else "ltr")


@pytest.fixture(params=TEXTS)
def language(request) -> str:
    return request.param


@pytest.fixture
def look(request, page, language) -> Look:
    return Look(page, f"{request.node.originalname}-{language}", language)


def make_tasks(texts: dict[str, str]) -> HitType:
    hit_type = make_hit_type(title=texts["title"], description=texts["description"])
    for _ in range(2):
        make_hit(hit_type, max_assignments=5, question=QUESTION)
    Hit.objects.update(expires_at=clock.now() + timedelta(days=9))
    return hit_type


def submit(page, text: str) -> None:
    frame = page.frame_locator("iframe")
    frame.get_by_label("Comment").fill(text)
    frame.get_by_role("button", name="Submit").click()


def test_a_study_from_its_first_page_to_the_code(marketplace, page, look, language):
    texts = TEXTS[language]
    hit_type = make_tasks(texts)
    study = make_study(
        hit_type, at=clock.now(), name=f"{texts['name']} study", assignments=2,
        completion_code="C1A2B3", return_url="https://panel.test/", language=language,
    )  # fmt: skip
    studies.set_screening(
        study=study,
        screening=Screening(
            consent=texts["consent"],
            no_consent_code="NO",
            question=texts["question"],
            choices=[texts["right"], texts["wrong"]],
            right_choice=texts["right"],
            failed_check_code="WRONG",
        ),
    )
    check = AttentionCheck(
        question=texts["question"],
        choices=[texts["right"], texts["wrong"]],
        right_choice=texts["right"],
    )
    studies.set_checks(study=study, checks=[check])

    page.goto(f"{marketplace.url}/join/{study.slug}?PROLIFIC_PID=p1")
    look()
    page.locator("main button").click()
    look()
    page.locator("button[value=yes]").click()
    page.get_by_label(texts["wrong"]).check()
    page.locator("main button").click()
    look()
    page.get_by_label(texts["right"]).check()
    page.locator("main button").click()
    look()
    page.locator("main button").click()
    for number in (1, 2):
        expect(page.locator("[data-task]")).to_be_visible()
        look()
        submit(page, texts["description"])
        if number == 1:
            expect(page.get_by_text(texts["question"])).to_be_visible()
            look()
            page.get_by_label(texts["right"]).check()
            page.locator("main button").click()
    expect(page.locator(".code")).to_have_text("C1A2B3")


def test_a_group_from_the_invitation_to_the_account(marketplace, page, look, language):
    texts = TEXTS[language]
    names = ("name", "organizer", "purpose", "contact", "consent")
    group = make_group(**{name: texts[name] for name in names}, language=language)
    people_groups.offer(group=group, hit_type=make_tasks(texts), share=2)

    page.goto(marketplace.url + path_of(group_url(group)))
    look()
    page.locator("#agree").check()
    page.locator("#name").fill("Mia")
    page.locator("main button").click()
    look()
    page.locator("article button").click()
    expect(page.locator("[data-task]")).to_be_visible()
    look()
    submit(page, texts["description"])
    expect(page.locator(".step strong")).to_have_text("2")
    for path in ("/home", "/home/done", "/home/account", f"/home/groups/{group.pk}/withdrawal"):
        page.goto(marketplace.url + path)
        look()
