"""Pages and mails of groups and studies in the language that they name."""

import gettext
import re
from datetime import timedelta
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.core import mail
from django.test import Client
from django.utils import translation

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import (
    Assignment,
    AttentionCheck,
    Hit,
    HitType,
    Membership,
    PeopleGroup,
    Screening,
    Study,
    WithdrawnBy,
    Worker,
)
from marketplace.services import mail_invitations, people_groups, reviews, studies
from marketplace.services.links import group_url, sign_in_url
from marketplace.services.mail_invitations import send_invitations
from marketplace.templatetags.wording import spoken
from tests.marketplace import factories
from tests.marketplace.factories import make_hit, make_hit_type, make_worker
from tests.marketplace.people import TERMS, begin, join, make_group, make_offer, path_of, words_of
from tests.marketplace.people import work as work_in_group

CATALOGUES = sorted(Path(settings.LOCALE_PATHS[0]).glob("*/LC_MESSAGES/django.mo"))
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]+>")
LANGUAGES = sorted(set(dict(settings.LANGUAGES)) - {"en"})
# Texts of the operator's and the requester's, which contain no English word.
OWN = {
    name: f"Ω{number}" for number, name in enumerate(["name", "organizer", "purpose", "contact"])
}
SCREENING = {
    "consent": "Ω4", "no_consent_code": "Ω5", "question": "Ω6", "choices": ["Ω7", "Ω8"],
    "right_choice": "Ω7", "failed_check_code": "Ω9", "eligibility_question": "Ω10",
    "eligible_choices": ["Ω11"], "ineligible_choices": ["Ω12"], "screened_out_code": "Ω13",
}  # fmt: skip


def messages(language: str) -> dict[str | tuple[str, int], str]:
    """The texts of a compiled catalogue by their English ones, without its header."""
    folder = translation.to_locale(language)
    path = Path(settings.LOCALE_PATHS[0]) / folder / "LC_MESSAGES" / "django.mo"
    with path.open("rb") as file:
        return {key: text for key, text in gettext.GNUTranslations(file)._catalog.items() if key}


def test_each_language_has_a_catalogue():
    assert len(CATALOGUES) == len(LANGUAGES)
    for language in LANGUAGES:
        assert len(messages(language)) >= 180, language


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_and_elements_of_a_translation_are_those_of_the_text(language):
    for key, translated in messages(language).items():
        text, number = key if isinstance(key, tuple) else (key, None)
        wanted, found = (sorted(PLACEHOLDER.findall(each)) for each in (text, translated))
        # Arabic has words for none, one and two, which need no number.
        is_word = language == "ar" and number in (0, 1, 2)
        assert set(found) <= set(wanted) if is_word else found == wanted, (language, text)


def english_in(words: str, language: str) -> list[str]:
    """The texts of the catalogue that the page shows in English."""
    found, everything = [], "\n".join(messages(language).values())
    for key in messages(language):
        text = key[0] if isinstance(key, tuple) else key
        for part in PLACEHOLDER.split(text):
            part = part.strip(" .,:;?!()“”$")
            if len(part) > 2 and part not in everything:
                found += re.findall(rf"(?<!\w){re.escape(part)}(?!\w)", words)
    return found


def check(answer, language: str) -> None:
    """The page is in the language, shows no English text, and none of the marketplace's terms."""
    page = BeautifulSoup(answer.content, "lxml").find("html")
    assert page["lang"] == language, answer.content.decode()
    assert page.get("dir") == ("rtl" if language == "ar" else None)
    words = words_of(answer)
    assert language == "en" or english_in(words, language) == []
    assert not TERMS.search(words.replace("/mturk/", "")), words


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_every_page_for_people_is_in_the_language_of_the_group(language):
    group = make_group(**OWN, consent="Ω4", language=language)
    offer = make_offer(group, title="Ω5", description="Ω6", share=3)
    link = path_of(group_url(group))
    check(Client().get(link), language)
    check(Client().post(link, {"version": "1"}), language)
    check(Client().post(link, {"version": "1", "agree": "yes", "name": ""}), language)
    person = join(group, "Ω7")

    approved, rejected = work_in_group(person, offer), work_in_group(person, offer)
    reviews.approve(assignment=Assignment.objects.get(public_id=approved), at=clock.now())
    found = Assignment.objects.get(public_id=rejected)
    reviews.reject(assignment=found, at=clock.now(), feedback="Ω8")
    begun = begin(person, offer)
    pages = [f"/tasks/{each}" for each in (approved, rejected, begun)]
    pages += ["", "/done", "/messages", "/account", f"/groups/{group.pk}/withdrawal"]
    for page in pages:
        check(person.get(f"/home{page}"), language)
    check(person.post("/sign-out"), language)
    check(person.get("/nowhere"), language)
    check(person.post("/mturk/externalSubmit", {"assignmentId": begun, "caption": "Ω"}), language)
    check(person.post("/mturk/externalSubmit", {"assignmentId": begun, "caption": "Ω"}), language)
    check(person.post(f"/home/next/{offer.pk}", follow=True), language)
    check(person.post("/profile/password", {"password": "x"}), language)
    withdrawal = f"/home/groups/{group.pk}/withdrawal"
    check(person.post(withdrawal, {}, follow=True), language)
    check(person.post(withdrawal, {"sure": "yes"}, follow=True), language)


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_mail_is_in_the_language_of_the_group(language):
    group = make_group(**OWN, language=language)
    mail_invitations.add_addresses(group=group, addresses=["a@example.org"], at=clock.now())

    send_invitations(at=clock.now())

    [sent] = mail.outbox
    assert english_in(sent.body, language) == []
    check(Client().get(path_of(sent.body.split()[-1])), language)


@pytest.fixture
def hit_type() -> HitType:
    made = make_hit_type(title="Ω1", description="Ω2")
    for _ in range(3):
        make_hit(made, max_assignments=9)
    Hit.objects.update(expires_at=clock.now() + timedelta(days=9))
    return made


def make_study(hit_type: HitType, language: str, *, name: str = "omega") -> Study:
    study = factories.make_study(
        hit_type, at=clock.now(), name=name, assignments=2, completion_code="Ω3",
        no_work_code="Ω14", return_url="https://panel.test/", language=language,
    )  # fmt: skip
    studies.set_screening(study=study, screening=Screening(**SCREENING))
    check_asked = AttentionCheck(question="Ω15", choices=["Ω16", "Ω17"], right_choice="Ω16")
    studies.set_checks(study=study, checks=[check_asked])
    return study


def arrive(name: str = "p1") -> Client:
    client = Client()
    client.post("/join/omega", {"PROLIFIC_PID": name})
    return client


def screen(client: Client, language: str, **fields: str) -> None:
    """Answer a question before the first task, and check the page that follows."""
    check(client.post("/studies/omega/screening", fields, follow=True), language)


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_every_page_of_a_study_is_in_its_language(hit_type, language):
    make_study(hit_type, language)
    check(Client().get("/join/omega", {"PROLIFIC_PID": "p1"}), language)
    check(Client().get("/join/omega"), language)
    client = arrive()
    check(client.get("/studies/omega"), language)
    for fields in ({"consent": "yes"}, {"answer": "Ω11"}, {"answer": "Ω8"}, {"answer": "Ω7"}):
        screen(client, language, **fields)

    task = client.post("/studies/omega/next").url
    check(client.get(task), language)
    submit = {"assignmentId": task.rpartition("/")[2], "caption": "Ω"}
    check(client.post("/mturk/externalSubmit", submit), language)
    check(client.post("/mturk/externalSubmit", submit), language)
    check(client.get(task), language)
    check(client.post("/studies/omega/next", follow=True), language)
    key = AttentionCheck.objects.get().pk
    check(
        client.post("/studies/omega/attention", {"check": key, "answer": "Ω17"}, follow=True),
        language,
    )
    task = client.post("/studies/omega/next").url
    check(client.post(f"{task}/return", follow=True), language)
    task = client.post("/studies/omega/next").url
    client.post("/mturk/externalSubmit", {"assignmentId": task.rpartition("/")[2], "a": "Ω"})
    check(client.get("/studies/omega"), language)
    check(client.get("/profile"), language)
    check(client.get("/nowhere"), language)


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_the_ends_of_a_study_are_in_its_language(hit_type, language):
    make_study(hit_type, language)
    refuses, is_out, fails, finds_none = (arrive(f"p{number}") for number in range(4))

    screen(refuses, language, consent="no")
    for client in (is_out, fails, finds_none):
        screen(client, language, consent="yes")
    screen(is_out, language, answer="Ω12")
    for client in (fails, finds_none):
        screen(client, language, answer="Ω11")
    for _ in range(2):
        screen(fails, language, answer="Ω8")
    screen(finds_none, language, answer="Ω7")
    Hit.objects.update(expires_at=clock.now() - timedelta(days=1))
    check(finds_none.post("/studies/omega/next"), language)
    Study.objects.update(is_open=False)
    check(Client().post("/join/omega", {"PROLIFIC_PID": "new"}), language)


@pytest.mark.django_db
def test_workers_with_their_own_account_see_english(hit_type):
    make_study(hit_type, "ja")
    group = make_group(language="ja")
    join(group, "Mia").get("/home")
    worker = Client()
    worker.get(path_of(sign_in_url(make_worker())))

    for path in ("/", "/profile", "/queue", "/earnings"):
        page = BeautifulSoup(worker.get(path).content, "lxml").find("html")
        assert page["lang"] == "en"
        assert "dir" not in page.attrs
    assert translation.get_language() == "en"


@pytest.mark.django_db
def test_a_member_of_two_groups_reads_the_language_of_the_latest():
    person = join(make_group(name="first", language="de"), "Mia")
    version = {"agree": "yes", "version": "1"}
    person.post(path_of(group_url(make_group(name="second", language="fr"))), version)

    page = BeautifulSoup(person.get("/home").content, "lxml").find("html")

    assert Worker.objects.get().memberships.count() == 2
    assert page["lang"] == "fr"
    left = Membership.objects.get(group__name="second")
    people_groups.withdraw(membership=left, by=WithdrawnBy.PERSON, at=clock.now())
    assert BeautifulSoup(person.get("/home").content, "lxml").find("html")["lang"] == "de"


@pytest.mark.django_db
def test_an_unknown_language_is_refused(hit_type):
    with pytest.raises(StudyRefused, match="language"):
        make_study(hit_type, "tlh")


@pytest.mark.django_db
def test_the_operator_chooses_the_language_of_a_group(client, admin_user):
    client.force_login(admin_user)
    fields = {**OWN, "consent": "Ω", "language": "ar"}

    client.post("/operator/people", fields)
    group = PeopleGroup.objects.get()
    assert group.language == "ar"
    client.post(f"/operator/people/{group.pk}", {**fields, "language": "es"})

    group.refresh_from_db()
    assert group.language == "es"


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "1 hour, 30 minutes"),
        ("de", "1 Stunde, 30 Minuten"),
        ("ja", "1時間 30分"),
        ("ar", "ساعة واحدة، 30 دقيقة"),
    ],
)
def test_lengths_of_time_are_words_of_the_language(language, expected):
    with translation.override(language):
        assert spoken(timedelta(minutes=90)) == expected
