"""Pages for an operator's own people: joining, consent, tasks, and whom they are for."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

import shared.once
from marketplace import clock, errors
from marketplace.models import (
    Assignment,
    AssignmentStatus,
    Consent,
    Membership,
    Message,
    SentForm,
    Worker,
)
from marketplace.pages.decorators import MEMBERS_PAGES
from marketplace.pages.problems import SENTENCES, plainly
from marketplace.services import people_groups, reviews
from marketplace.services.links import group_url, sign_in_url
from marketplace.services.people_groups import GroupPlan
from tests.marketplace.factories import make_worker
from tests.marketplace.people import (
    TERMS,
    TEXTS,
    begin,
    join,
    make_group,
    make_offer,
    membership_of,
    path_of,
    words_of,
    work,
)
from tests.rubbish import forms_of

pytestmark = pytest.mark.django_db


def test_joining_stores_the_version_and_the_time_of_the_consent():
    group = make_group()
    before = clock.now()

    join(group)

    consent = Consent.objects.get()
    assert (consent.text.version, consent.text.text) == (1, TEXTS["consent"])
    assert before <= consent.given_at <= clock.now()
    assert consent.membership == membership_of("Mia")
    assert Worker.objects.get().is_member


@pytest.mark.parametrize(
    "fields",
    [{"agree": ""}, {"version": "2"}, {"version": "x"}, {"name": ""}, {"password": "short"}],
)
def test_nobody_joins_without_consent_and_a_name(fields):
    group = make_group()
    given = {"agree": "yes", "version": "1", "name": "Mia", "password": "", **fields}

    answer = Client().post(path_of(group_url(group)), given)

    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()
    assert not Worker.objects.exists()


def test_an_invited_person_reads_that_there_are_no_tasks_before_joining():
    group = make_group()
    offer = make_offer(group)
    page = path_of(group_url(group))
    nothing = "There are no tasks at the moment."
    assert nothing not in words_of(Client().get(page))

    offer.hit_type.hits.update(expires_at=clock.now())

    assert nothing in words_of(Client().get(page))


def form_of_joining(group, **fields):
    """The fields of the form as a person fills it in."""
    address = path_of(group_url(group))
    (form,) = forms_of(Client().get(address).content.decode(), address)
    return address, {**form.fields, "agree": "yes", "name": "Mia", **fields}


@pytest.mark.parametrize("password", ["", "a-long-pass-phrase"])
def test_a_person_who_presses_join_twice_is_signed_in(password):
    address, fields = form_of_joining(make_group(), password=password)
    Client().post(address, fields)  # The browser drops this answer and its cookie.
    client = Client()

    answer = client.post(address, fields)

    assert answer.url == "/home"
    assert "Mia" in client.get("/home").content.decode()
    assert Worker.objects.count() == Membership.objects.count() == 1


def test_a_group_has_the_same_name_however_the_device_sends_it():
    make_group(name="Zo\u00e9s group")

    with pytest.raises(errors.GroupRefused, match="already"):
        make_group(name="Zoe\u0301s  group")


def test_only_the_form_that_made_an_account_signs_in_and_not_for_long():
    group = make_group()
    address, fields = form_of_joining(group)
    Client().post(address, fields)
    others = Client()

    refused = [others.post(address, form_of_joining(group)[1]) for _ in range(2)]
    Membership.objects.update(joined_at=clock.now() - timedelta(hours=1))
    late = others.post(address, fields)

    assert [answer.status_code for answer in refused] == [400, 400]
    assert late.url == "/home"
    assert others.get("/home").url.startswith("/sign-in")


def test_a_members_form_with_the_name_of_another_one_signs_nobody_in():
    group = make_group()
    address, fields = form_of_joining(group)
    Client().post(address, fields)
    member, nobody = join(make_group(name="Earlier"), "Eve"), Client()

    member.post(address, theirs := form_of_joining(group)[1])
    nobody.post(address, theirs)

    assert group.memberships.filter(worker__name="Eve").exists()
    assert nobody.get("/home").url.startswith("/sign-in")


def test_a_refused_form_signs_nobody_in_while_it_is_carried_out(rf, monkeypatch):
    group = make_group()
    address, fields = form_of_joining(group)
    Client().post(address, fields)
    theirs = form_of_joining(group)[1]
    form = rf.post(address, theirs)
    SentForm.objects.create(key=shared.once.key_of(form), sent_at=clock.now())
    # The first post of this form ends without an account while the second one waits.
    monkeypatch.setattr(shared.once, "sleep", lambda _: SentForm.objects.all().delete())
    client = Client()

    client.post(address, theirs)

    assert client.get("/home").url.startswith("/sign-in")


@pytest.mark.parametrize(
    ("shows_names", "said"),
    [
        (True, "Dr. Example sees your name beside your answers."),
        (False, "Dr. Example sees a number beside your answers, not your name."),
    ],
)
def test_the_invitation_says_whether_the_name_is_seen_beside_the_answers(shows_names, said):
    group = make_group(shows_names=shows_names)

    assert said in words_of(Client().get(path_of(group_url(group))))


def test_a_closed_group_and_a_replaced_link_admit_nobody():
    group = make_group()
    link = path_of(group_url(group))
    people_groups.set_open(group=group, is_open=False)
    fields = {"agree": "yes", "version": "1", "name": "Mia", "password": ""}
    assert Client().post(link, fields).status_code == 400

    people_groups.set_open(group=group, is_open=True)
    people_groups.replace_link(group=group)

    assert Client().post(link, fields).status_code == 403
    assert Client().get("/welcome/forged").status_code == 403
    assert not Worker.objects.exists()


def test_a_new_consent_text_is_asked_for_before_the_next_task():
    group = make_group()
    offer = make_offer(group)
    person = join(group)
    plan = GroupPlan(**{**TEXTS, "consent": "A new text."})
    people_groups.change_group(group=group, plan=plan, at=clock.now())

    def agree(version):
        person.post(f"/home/groups/{group.pk}/agreement", {"agree": "yes", "version": version})
        return [consent.text.version for consent in Consent.objects.order_by("pk")]

    assert person.post(f"/home/next/{offer.pk}").url == "/home"
    assert not Assignment.objects.exists()
    assert "A new text." in words_of(person.get("/home"))
    assert agree("1") == [1]  # the old text is not enough
    assert agree("2") == [1, 2]
    begin(person, offer)  # fails if no task is given


def test_the_same_consent_text_is_no_new_version():
    group = make_group()

    plan = GroupPlan(**{**TEXTS, "contact": "somebody else"})
    people_groups.change_group(group=group, plan=plan, at=clock.now())

    assert people_groups.latest_text(group).version == 1


def test_a_share_ends_a_persons_tasks_but_not_the_others():
    group = make_group()
    offer = make_offer(group, share=2)
    first, second = join(group, "Mia"), join(group, "Ben")

    work(first, offer)
    work(first, offer)

    assert first.post(f"/home/next/{offer.pk}").url == "/home"
    page = words_of(first.get("/home"))
    assert "You have done all 2 tasks" in page
    assert "If more tasks come for you" not in page
    work(second, offer)


def test_after_the_last_task_that_there_is_a_person_is_thanked_once():
    group = make_group()
    offer, person = make_offer(group), join(group)
    for _ in range(3):
        work(person, offer)

    person.post(f"/home/next/{offer.pk}")

    page = words_of(person.get("/home"))
    thanks = "You have done all 3 tasks. Thank you! If more tasks come for you, you find them here."
    assert page.count(thanks) == 1
    assert "Look again later" not in page


def test_an_open_task_is_continued_and_counts_for_the_share():
    group = make_group()
    offer = make_offer(group, share=1)
    person = join(group)

    task = begin(person, offer)

    assert begin(person, offer) == task
    assert "Continue" in words_of(person.get("/home"))
    person.post(f"/home/tasks/{task}/return")
    assert Assignment.objects.get(public_id=task).status == AssignmentStatus.RETURNED
    work(person, offer)


def test_people_see_the_tasks_of_their_own_groups_only():
    group, other = make_group(), make_group(name="Another")
    offer = make_offer(other, title="Secret tasks")
    person = join(group)

    assert "Secret tasks" not in words_of(person.get("/home"))
    assert person.post(f"/home/next/{offer.pk}").status_code == 404
    assert person.get(f"/home/groups/{other.pk}/withdrawal").status_code == 404
    assert person.post(f"/groups/{offer.hit_type.public_id}/accept").url == "/home"
    assert not Assignment.objects.exists()


def test_a_closed_offer_is_not_shown():
    group = make_group()
    offer = make_offer(group, title="Old tasks")
    person = join(group)
    people_groups.close_offer(offer=offer)

    assert "Old tasks" not in words_of(person.get("/home"))
    assert person.post(f"/home/next/{offer.pk}").url == "/home"
    assert not Assignment.objects.exists()


def test_another_persons_task_is_not_there():
    group = make_group()
    offer = make_offer(group)
    task = begin(join(group, "Mia"), offer)
    other = join(group, "Ben")

    assert other.get(f"/home/tasks/{task}").status_code == 404
    assert other.post(f"/home/tasks/{task}/return").status_code == 404
    assert Assignment.objects.get().status == AssignmentStatus.ACCEPTED


def test_a_member_of_one_group_joins_another_with_the_same_account():
    person = join(make_group())

    join(make_group(name="Another"), client=person)

    assert Worker.objects.count() == 1
    assert Membership.objects.count() == 2


@pytest.mark.parametrize(("page", "own"), sorted(MEMBERS_PAGES.items()))
def test_a_workers_page_leads_a_member_to_their_own(page, own):
    group = make_group()
    person = join(group)
    task = begin(person, make_offer(group))
    rest = f"s/{task}" if page == "assignment" else ""

    answer = person.get(f"/{page}{rest}")

    assert answer.status_code == 302
    expected = f"/home/tasks/{task}" if own == "people_task" else own.replace("people_", "/home/")
    assert answer.url == expected


@pytest.mark.parametrize("path", ["/", "/queue", "/qualifications/3X", "/studies/none"])
def test_every_other_page_of_workers_leads_a_member_home(path):
    assert join(make_group()).get(path).url == "/home"


def test_workers_do_not_get_the_pages_for_people():
    client = Client()
    assert client.get("/home").url == "/sign-in?next=%2Fhome"

    client.get(path_of(sign_in_url(make_worker())))

    for path in ("", "/done", "/messages", "/account"):
        assert client.get(f"/home{path}").url == "/"


def all_pages(person: Client, group, offer) -> list[str]:
    """The words of every page that a person can meet, with tasks in each state."""
    approved, rejected, returned = (work(person, offer), work(person, offer), begin(person, offer))
    for name, found in ((reviews.approve, approved), (reviews.reject, rejected)):
        assignment = Assignment.objects.get(public_id=found)
        extra = {"feedback": "Too short."} if name is reviews.reject else {}
        name(assignment=assignment, at=clock.now(), **extra)
    submit = {"assignmentId": returned, "caption": "A dog."}
    pages = [person.get(f"/home/tasks/{task}") for task in (approved, rejected, returned)]
    person.post(f"/home/tasks/{returned}/return")
    pages += [person.get(f"/home/tasks/{returned}"), person.get("/home")]
    pages += [person.post("/mturk/externalSubmit", submit), person.get("/mturk/externalSubmit")]
    pages += [person.post(f"/home/next/{offer.pk}", follow=True), person.get("/nowhere")]
    pages += [person.get(f"/home{page}") for page in ("/done", "/messages", "/account")]
    pages += [person.get(f"/home/groups/{group.pk}/withdrawal")]
    pages += [person.post("/profile/password", {"password": "x"}), Client().get("/welcome/x")]
    pages += [Client().get(path_of(group_url(group))), Client().get("/sign-in")]
    return [words_of(each) for each in pages]


def test_no_page_for_people_has_a_term_of_the_marketplace():
    group = make_group()
    offer = make_offer(group)

    found = [TERMS.findall(words) for words in all_pages(join(group), group, offer)]

    assert len(found) == 17
    assert not any(found)


def test_every_refusal_has_words_for_people():
    refusals = (errors.NothingToAccept, errors.NotQualified, errors.AssignmentClosed)

    assert set(SENTENCES) == set(refusals)
    for kind in refusals:
        assert not TERMS.search(plainly(kind("This HIT is over.")))


@pytest.mark.parametrize(("reward", "shown"), [("0.00", False), ("0.10", True)])
def test_dollars_are_shown_to_people_who_are_paid(reward, shown):
    group = make_group()
    offer = make_offer(group, reward=Decimal(reward))
    person = join(group)
    work(person, offer)

    pages = ["/home", "/home/done", path_of(group_url(group))]
    texts = [words_of(person.get(page)) for page in pages[:2]] + [words_of(Client().get(pages[2]))]

    assert ["$" in text for text in texts] == [shown] * 3


def test_a_member_without_a_password_is_told_before_signing_out_that_they_need_a_link():
    client = join(make_group(language="de"))

    answer = client.post("/sign-out")

    words = words_of(answer)
    assert "Sie haben kein Passwort" in words
    assert "Bitten Sie die Person darum, die Ihnen den Link geschickt hat." in words
    assert "/account#password-heading" in answer.content.decode()
    assert client.get("/home").status_code == 200
    assert client.post("/sign-out", {"sure": "yes"}).url == "/sign-in"
    assert client.get("/home").status_code == 302


def test_work_waits_until_it_is_accepted_whether_somebody_has_read_it_or_not():
    group = make_group()
    person = join(group)
    task = work(person, make_offer(group))

    pages = [words_of(person.get(page)) for page in ("/home", "/home/done", f"/home/tasks/{task}")]

    assert ["Waiting" in words for words in pages] == [True, True, False]
    assert "You have sent this task." in pages[2]
    assert not any("not read" in words.lower() or "been read" in words for words in pages)


def test_a_member_who_joins_with_the_same_name_is_told_how_to_come_back():
    group = make_group(language="de")
    client = join(group)
    client.post("/sign-out", {"sure": "yes"})
    fields = {"agree": "yes", "version": 1, "name": "Mia", "password": ""}

    answer = client.post(path_of(group_url(group)), fields)

    assert answer.status_code == 400
    assert "Wenn es Ihrer ist, melden Sie sich an, oder bitten Sie die Person" in words_of(answer)
    assert group.memberships.count() == 1


@pytest.mark.parametrize("password", ["", "several long words"])
def test_unsent_answers_are_deleted_by_the_form_that_signs_out(password):
    """And not by the one after which the site asks: the person may go back to the task."""
    client = join(make_group())
    if password:
        client.post("/profile/password", {"password": password})

    pages = [client.get("/home"), client.post("/sign-out")]

    forms = [
        form.has_attr("data-signs-out")
        for page in pages
        for form in BeautifulSoup(page.content, "lxml").select("form[action='/sign-out']")
    ]
    # On the page that asks: in its header, and below the question.
    assert forms == ([True] if password else [False, False, True])


def test_a_member_with_a_password_signs_out_at_once():
    client = join(make_group())
    client.post("/profile/password", {"password": "a long password"})

    assert client.post("/sign-out").url == "/sign-in"
    assert client.get("/home").status_code == 302


def test_a_member_reads_the_beginning_of_what_they_wrote_and_nothing_of_others():
    group = make_group()
    offer = make_offer(group)
    mine, other = join(group, "Mia"), join(group, "Nur")
    fields = {
        "token": "a:b:c",
        "behaviour-1": '{"seconds": 2}',
        "caption-1": "A dog <b>" + " x" * 99,
    }
    for client, sent in ((mine, fields), (other, {"caption-1": "Two cats."})):
        client.post("/mturk/externalSubmit", {"assignmentId": begin(client, offer), **sent})

    for page in ("/home", "/home/done"):
        [cell] = BeautifulSoup(mine.get(page).content, "lxml").select("tbody .description")
        assert cell.text.startswith("A dog <b> x x")
        assert len(cell.text) == 100


HEBREW = "אנחנו לומדים (באנגלית: we study) תיאורים."


def unsure(page: str) -> list[str]:
    """Hebrew texts of a page whose direction is the page's and not their own."""
    found = BeautifulSoup(page, "html.parser").find("main").find_all(string=HEBREW)
    assert found
    return [text.parent.name for text in found if not text.find_parents(own_direction)]


def own_direction(tag: Any) -> bool:
    return tag.name == "bdi" or tag.get("dir") == "auto"


def test_texts_from_right_to_left_keep_their_direction_on_an_english_page():
    texts = dict.fromkeys(("name", "purpose", "consent"), HEBREW)
    group = make_group(**texts)
    offer = make_offer(group, title=HEBREW)
    welcome = Client().get(path_of(group_url(group))).content.decode()
    mia = join(group)
    work(mia, offer)
    task, membership = Assignment.objects.get(), membership_of("Mia")
    Assignment.objects.update(requester_feedback=HEBREW)
    Message.objects.create(
        worker=membership.worker,
        requester=task.hit.requester,
        subject=HEBREW,
        text=HEBREW,
        sent_at=clock.now(),
    )
    addresses = ["/home", "/home/done", "/home/messages", "/home/account"]
    pages = [welcome, *(mia.get(address).content.decode() for address in addresses)]

    assert [unsure(page) for page in pages] == [[]] * 5
