"""The documents of a release: the pages that workers read, and `methods.md`."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.kinds import KINDS
from annotate.models import Campaign, ImportedFile, Response
from hits.pages.task_page import fixed_parts
from hits.pages.task_page.fixed_parts import record_page
from hits.services.lifecycle import raise_review_share
from qualcontrol.review.judging import judge
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.releasing import release_campaign
from tests.factories import (
    NOON,
    CampaignFactory,
    CaptionSetFactory,
    HitFactory,
    HitTypeFactory,
    ImageFactory,
    ResponseFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.hits.opened_pages import address

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

FILE = {
    "references": 1,
    "baselines": 0,
    "hit": {"reward": "0.20"},
    "instructions": {"rules": ["Name every <colour>."], "intro": "Paint with words."},
}


def make_campaign(**values):
    campaign = CampaignFactory(config={**FILE, **values})
    for number in (1, 2):
        TaskFactory(campaign=campaign, number=number)
    return campaign


def answered(campaign, seconds=40):
    for task in campaign.tasks.all():
        ResponseFactory(task=task, seconds=seconds, text="A man feeds grey birds in a park.")
    return campaign


def open_page(client, campaign, worker="AWORKER1"):
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), campaign=campaign)
    answer = client.get(address(hit, workerId=worker, assignmentId=f"B{worker}"))
    assert answer.status_code == 200
    return answer.content.decode()


def released(campaign, **options):
    return release_campaign(campaign=campaign, name="r1", seed=1, at=NOON, **options)


def texts(release, folder):
    return {path.name: path.read_text() for path in KINDS["caption"].write(release, folder)}


def test_the_page_that_workers_read_is_kept_once_as_html_and_as_text(client, tmp_path):
    campaign = make_campaign()
    open_page(client, campaign)
    open_page(client, campaign, worker="AWORKER2")

    found = texts(released(answered(campaign)), tmp_path)

    assert [name for name in found if name.startswith("page-")] == [
        "page-en-1.html",
        "page-en-1.txt",
    ]
    lines = found["page-en-1.txt"].splitlines()
    assert lines[0] == campaign.config.hit.title
    assert {"Paint with words.", "- Name every <colour>.", "- Write at least 8 words, at most 60.",
            "Describe the image in one sentence", "- how many seconds it took,",
           } <= {*lines}  # fmt: skip
    assert "Name every &lt;colour&gt;." in found["page-en-1.html"]
    assert not any(part in found["page-en-1.html"] for part in ("src=", "href=", "<input", "AWOR"))


def test_the_record_has_what_a_first_page_asks_besides_the_tasks():
    graded = {"image": "1", "text": "A dog.", "good": True, "why": "Short."}
    campaign = make_campaign(
        captions={"rate_first": "drafts"},
        practice={"captions": [graded], "pass_mark": 1},
        writing={"confirm": "I write <myself>.", "question": True},
    )
    campaign.tasks.update(payload={"rate_first": ["A caption that was given."]})

    record_page(campaign, NOON)

    page = campaign.worker_pages.get()
    assert {"I write <myself>.", "How many dots are in the picture?", "A caption that was given.",
            "How good is this description of the image?"} <= {*page.text.splitlines()}  # fmt: skip
    assert "You get tasks if 1 of 1 answers are right." in page.text
    assert "<link" not in page.html


@pytest.mark.parametrize(
    ("way", "question"),
    [
        ("rate", ["A dog.", "Is this a good caption?"]),
        ("write", ["Describe the image in one sentence"]),
    ],
)
def test_the_record_has_the_questions_of_the_practice_and_what_is_read_after_each(way, question):
    graded = [
        {"image": "1", "text": "A dog.", "good": True, "why": "Short."},
        {"image": "2", "text": "A <cat>.", "good": False, "why": "No cat is there."},
    ]
    campaign = make_campaign(practice={"way": way, "captions": graded})

    record_page(campaign, NOON)

    lines = campaign.worker_pages.get().text.splitlines()
    first, second = (lines.index(f"Practice: {number} of 2") for number in (1, 2))
    assert lines[first + 1 : second] == [*question, "- Good A dog. Short."]
    assert "- Not good A <cat>. No cat is there." in lines


def test_each_reason_that_workers_can_choose_is_a_line_of_the_text():
    campaign = make_campaign(captions={"cannot_describe": ["too dark", "too & blurred"]})

    record_page(campaign, NOON)

    lines = campaign.worker_pages.get().text.splitlines()
    start = lines.index("- I describe the image")
    assert lines[start + 1 : start + 3] == ["- too dark", "- too & blurred"]


def test_a_change_of_the_words_is_a_page_of_its_own(client, tmp_path, monkeypatch):
    campaign = make_campaign(language="de")
    open_page(client, campaign)
    monkeypatch.setattr(fixed_parts, "render_to_string", lambda *_: "<p>Neue Wörter.</p>")
    fixed_parts._words.cache_clear()
    record_page(campaign, NOON + timedelta(days=2))
    fixed_parts._words.cache_clear()

    found = texts(released(answered(campaign)), tmp_path)

    assert found["page-de-2.txt"] == "Neue Wörter.\n"
    assert "Beschreiben Sie das Bild" in found["page-de-1.txt"]
    later = f"{NOON + timedelta(days=2):%Y-%m-%d}"
    assert f"From {later} on, workers read `page-de-2.html`." in found["methods.md"]


def test_each_language_has_its_pages_and_its_methods(client, tmp_path):
    members = [make_campaign(language=language) for language in ("en", "ar")]
    images = [task.image for task in members[0].tasks.order_by("number")]
    for member in members:
        for task, image in zip(member.tasks.order_by("number"), images, strict=True):
            task.image = image
            task.save()
        open_page(client, member)
        answered(member)
    Campaign.objects.update(family="scenes")

    found = texts(released(Campaign.objects.get(pk=members[0].pk), in_all_languages=True), tmp_path)

    assert {"page-en-1.txt", "page-ar-1.html"} <= found.keys()
    assert 'dir="rtl"' in found["page-ar-1.html"]
    assert found["methods.md"].count("\n## ") == 2
    assert "in Arabic." in found["methods.md"]


def test_the_methods_are_those_of_the_data(tmp_path):
    campaign = answered(make_campaign(review={"share": 0.5, "first": 2, "trial": 2}), seconds=60)
    careless = WorkerFactory()
    ResponseFactory(task=campaign.tasks.first(), worker=careless, seconds=60, text="No.")
    exclude_worker(
        campaign=campaign, worker=careless, reason="careless", actor=UserFactory(), at=NOON
    )

    methods = texts(released(campaign, partial=True), tmp_path)["methods.md"]

    for sentence in (
        "2 images of ", "captions wanted for each: 1.", "Captions: 3. Discarded: 1.",
        "Workers: 3. Answers of a worker: 1 (median)", "country US", "5,000 approved HITs",
        "$0.20 for an assignment of 1 task", "One answer took 60 s",
        "This is $12.00 an hour", "A sentence of 8 to 60 words",
        "a random 50% of the answers, and first answers of each worker: 2",
        "New workers could submit 2 answers before",
        "Workers excluded: 1. Answers of them that were discarded: 1.",
        f"Answers: {NOON:%Y-%m-%d}",
    ):  # fmt: skip
        assert sentence in methods
    assert "careless" not in methods


def test_the_methods_name_a_change_without_its_reason(tmp_path):
    campaign = answered(make_campaign())
    for share, seen, reason in ((0.25, 0.0, ""), (0.5, 0.25, "Ada. asked for more")):
        raise_review_share(
            campaign=campaign, share=share, seen=seen, reason=reason, actor=UserFactory(), at=NOON
        )
        campaign.refresh_from_db()

    methods = texts(released(campaign, partial=True), tmp_path)["methods.md"]

    assert "From 0% to 25%.\n" in methods
    assert "From 25% to 50%.\n" in methods
    assert ".." not in methods


def test_the_methods_count_one_of_each_in_the_singular(tmp_path):
    review = {"share": 1.0, "first": 1, "trial": 1}
    captions = {"least_words": 1, "most_words": 1, "most_characters": 1}
    campaign = answered(make_campaign(review=review, captions=captions))
    response = Response.objects.first()
    judge(response=response, verdict="GOOD", reason="", reviewer=UserFactory(), at=NOON)

    methods = texts(released(campaign, partial=True), tmp_path)["methods.md"]

    for sentence in (
        "A sentence of 1 to 1 word, at most 1 character.",
        "New workers could submit 1 answer before the first were checked.",
        "1 reviewer judged 1 answer: 1 good, 0 bad.",
    ):
        assert sentence in methods


@pytest.mark.parametrize("slow", [50, 90])
def test_the_methods_of_two_answers_give_their_times_and_pay(tmp_path, slow):
    campaign = make_campaign()
    for task, seconds in zip(campaign.tasks.all(), (10, slow), strict=True):
        ResponseFactory(task=task, seconds=seconds)

    methods = texts(released(campaign), tmp_path)["methods.md"]

    assert f"the middle half 10 to {slow} s" in methods
    assert f"(${0.2 * 3600 / slow:.2f} to $72.00)" in methods


def test_an_archive_and_the_page_of_the_release_have_the_documents(client, tmp_path):
    campaign = make_campaign()
    open_page(client, campaign)
    release = released(answered(campaign))
    client.force_login(UserFactory())

    page = client.get(reverse("annotate:release", args=[release.name])).content.decode()
    file = client.get(reverse("annotate:release_file", args=[release.name, "page-en-1.html"]))
    shown = b"".join(file.streaming_content).decode()
    call_command("export", release.name, format="csv", out=tmp_path / "csv")

    assert "methods.md" in page
    assert file["Content-Disposition"].startswith("attachment")
    assert "Paint with words." in shown
    assert (tmp_path / "csv" / "page-en-1.html").read_text() == shown
    assert "methods.md" in (tmp_path / "csv" / "README.md").read_text()


def test_the_methods_of_imported_captions_tell_of_nobody_who_was_never_asked(tmp_path):
    campaign = answered(make_campaign())
    file = ImportedFile.objects.create(name="caps.csv", sha256="0" * 64, at=NOON)
    Response.objects.update(imported_from=file, submission=None)

    release = released(campaign)
    methods = texts(release, tmp_path)["methods.md"]

    call_command("export", release.name, "--format", "csv", "--out", str(tmp_path / "csv"))
    assert "that workers read" not in (tmp_path / "csv" / "README.md").read_text()
    assert "Collected elsewhere and imported: 2." in methods
    assert not [
        word
        for word in ("country", "approval", "$", "A sentence of", "The page refused", "Who worked")
        if word in methods
    ]


def test_the_methods_count_reasons_and_name_what_came_before_writing(tmp_path):
    images = [ImageFactory() for _ in range(2)]
    given = CaptionSetFactory(name="drafts")
    practice = {
        "captions": [{"image": images[0].key, "text": "A cat.", "good": True, "why": "It."}]
    }
    captions = {
        "cannot_describe": ["too dark", "empty"],
        "rate_first": given.name,
        "show_context": True,
    }
    writing = {"confirm": "I write myself.", "question": True, "refuse_paste": True}
    review = {"tells_workers": True}
    campaign = answered(
        make_campaign(captions=captions, practice=practice, writing=writing, review=review)
    )
    reason = ResponseFactory(task=campaign.tasks.first(), text="")
    Response.objects.filter(pk=reason.pk).update(cannot_describe="too dark")

    methods = texts(released(campaign, partial=True), tmp_path)["methods.md"]

    for sentence in (
        "Of these, reasons why an image cannot be described: 1.",
        "In place of it, workers could choose why the image cannot be described: “too dark”, "
        "“empty”. Images were closed at 3 such answers.",
        "The page showed the text around each image.",
        "On their first page, workers were asked to confirm “I write myself.” and to count the "
        "dots in a picture.",
        "The page refused pasted and dropped text.",
        "Workers read why their answers were discarded, and could appeal there.",
        "Workers first rated at most 1 caption of each image, of the set drafts.",
        "New workers did an unpaid practice with 1 question; right answers needed: 0.",
    ):
        assert sentence in methods
