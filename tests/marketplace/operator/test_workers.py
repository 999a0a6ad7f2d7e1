"""New workers, sign-in links, and groups of HITs on the operator's pages."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from marketplace import clock
from marketplace.api.dispatch import HANDLERS
from marketplace.models import Activity, Hit, HitStatus, Worker
from marketplace.operator import forms
from marketplace.operator.records import WORDS
from marketplace.services import assignments, operators, people_groups, reviews
from marketplace.services.hit_types import describe
from marketplace.services.operators import MOST_APPROVED, noted
from marketplace.services.retention import erase_worker
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker
from tests.marketplace.people import make_group

pytestmark = pytest.mark.django_db

NEW = {"country": "US", "approved": "6000", "rate": "99"}


def main_of(answer) -> BeautifulSoup:
    return BeautifulSoup(answer.content, "lxml").find("main")


def text_of(answer) -> str:
    return main_of(answer).get_text(" ", strip=True)


def is_signed_in(link: str, settings) -> bool:
    answer = Client().get(link.removeprefix(settings.MARKETPLACE_URL))
    return answer.status_code == 302 and answer.url == "/"


def test_new_workers_each_get_their_own_link(operator, settings):
    answer = operator.post("/operator/workers", {**NEW, "names": "Ada\n\n  Grace  Hopper \nAda"})

    links = [part.text for part in main_of(answer).select("[aria-labelledby=made] .address")]
    assert [worker.name for worker in Worker.objects.order_by("pk")] == ["Ada", "Grace Hopper"]
    assert len(set(links)) == 2
    assert all(is_signed_in(link, settings) for link in links)
    ada = Worker.objects.get(name="Ada")
    assert (ada.country, ada.approved_count, ada.rejected_count) == ("US", 6000, 60)
    assert Activity.objects.get().action == "created workers"


def test_the_log_of_new_workers_names_nobody_who_is_erased_later(operator):
    operator.post("/operator/workers", {**NEW, "names": "Ada\nGrace"})

    erase_worker(worker=Worker.objects.get(name="Ada"), at=clock.now())

    assert Activity.objects.filter(action="created workers").count() == 1
    assert not Activity.objects.filter(about__contains="Ada").exists()


def test_an_operator_overwrites_no_count_that_has_changed_since_the_page_was_shown(operator):
    worker = make_worker(country="US", approved=10)
    page = f"/operator/workers/{worker.public_id}"
    inputs = main_of(operator.get(page)).select(f"form[action='{page}'] input:not([type=checkbox])")
    shown = {each["name"]: each.get("value", "") for each in inputs}
    Worker.objects.update(approved_count=11)

    operator.post(page, {**shown, "country": "NL", "is_master": "on"})

    worker.refresh_from_db()
    assert (worker.country, worker.is_master, worker.is_adult) == ("NL", True, False)
    assert (worker.approved_count, worker.rejected_count) == (11, 0)


def test_a_closed_account_is_not_counted_and_listed_as_suspended(operator):
    suspended, closed = make_worker(), make_worker()
    operators.suspend(worker=suspended, is_suspended=True)
    erase_worker(worker=closed, at=clock.now())
    rows = {
        state: [
            (row.select_one("th a")["href"].rpartition("/")[2], row.find_all("td")[-1].text)
            for row in main_of(operator.get(f"/operator/workers?state={state}")).select("tbody tr")
        ]
        for state in ("suspended", "closed")
    }

    assert rows == {
        "suspended": [(suspended.public_id, "suspended")],
        "closed": [(closed.public_id, "closed")],
    }
    [count] = main_of(operator.get("/operator/")).select("a[href$='?state=suspended']")
    assert count.text == "1"


def test_a_worker_with_the_longest_history_can_be_changed(operator):
    worker = make_worker(approved=MOST_APPROVED, rate=1)
    page = f"/operator/workers/{worker.public_id}"
    inputs = main_of(operator.get(page)).select(f"form[action='{page}'] input:not([type=checkbox])")
    shown = {each["name"]: each.get("value", "") for each in inputs}

    operator.post(page, {**shown, "country": "NL"})

    worker.refresh_from_db()
    assert (worker.country, worker.rejected_count) == ("NL", 99 * MOST_APPROVED)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"names": "  \n "}, "This field is required"),
        ({"names": "x" * 101}, "at most 100"),
        ({"names": "Bell\a"}, "printable"),
        ({"names": "\n".join(map(str, range(101)))}, "at most 100 names"),
        ({"names": "Ada", "country": "Utopia"}, "Two letters"),
        ({"names": "Ada", "approved": "-1"}, "greater than or equal to 0"),
        ({"names": "Ada", "approved": "100000000", "rate": "1"}, "less than or equal to"),
        ({"names": "Ada", "rate": "0"}, "greater than or equal to 1"),
    ],
)
def test_invalid_workers_are_not_created(operator, changes, told):
    answer = operator.post("/operator/workers", {**NEW, **changes})

    assert answer.status_code == 400
    assert told in text_of(answer)
    assert not Worker.objects.exists()


def test_a_rejection_is_overridden_although_an_operator_has_corrected_the_count_since():
    worker, hit = make_worker(), make_hit()
    rejected = assignments.accept(worker=worker, hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=rejected, answer="<a/>", at=NOON)
    reviews.reject(assignment=rejected, feedback="No.", at=NOON)
    operators.set_profile(worker=worker, changes={"rejected": 0})

    reviews.approve(assignment=rejected, override_rejection=True, at=NOON)

    worker.refresh_from_db()
    assert (worker.approved_count, worker.rejected_count) == (1, 0)


def test_no_worker_is_created_when_one_name_is_taken(operator):
    known = make_worker()

    answer = operator.post("/operator/workers", {**NEW, "names": f"Ada\n{known.name}"})

    assert answer.status_code == 400
    assert f"names already: {known.name}. Nobody was created." in text_of(answer)
    assert list(Worker.objects.all()) == [known]


def test_a_new_link_works_until_the_worker_is_signed_out_everywhere(operator, settings):
    page = f"/operator/workers/{make_worker().public_id}"

    answer = operator.post(f"{page}/link")
    link = main_of(answer).find(class_="address").text

    assert is_signed_in(link, settings)
    assert link not in operator.get(page).content.decode()
    assert not any(link in each.about for each in Activity.objects.all())
    operator.post(f"{page}/sessions")
    operator.post(f"{page}/sessions")
    assert not is_signed_in(link, settings)


def test_a_link_of_an_unknown_worker_is_not_found(operator):
    assert operator.post("/operator/workers/A0/link").status_code == 404
    assert operator.post("/operator/workers/A0/sessions").status_code == 404
    assert operator.get(f"/operator/workers/{make_worker().public_id}/link").status_code == 405


def test_groups_are_found_by_title_and_show_the_state_of_their_hits(operator):
    scenes, other = make_hit_type(title="Everyday scenes"), make_hit_type(title="Portraits")
    make_hit(scenes, max_assignments=3)
    make_hit(scenes, max_assignments=4)

    page = main_of(operator.get("/operator/groups?q=everyday"))

    [row] = page.select("tbody tr")
    assert "Everyday scenes" in row.text
    assert row.find("td", {"data-label": "Open places"}).text == "7"
    assert scenes.get_absolute_url() in row.find(class_="address").text
    assert "Everyday scenes" in text_of(operator.get("/operator/groups"))
    # It has no HITs.
    assert other.title not in text_of(operator.get("/operator/groups"))
    assert other.title in text_of(operator.get("/operator/groups?state=all"))
    assert other.title in text_of(operator.get("/operator/groups?q=portraits"))


@pytest.fixture
def of_campaigns():
    """Two types of one title, of a German campaign under way and of a finished Arabic one."""
    types = []
    for campaign, language in [("dogs-de", "de"), ("dogs-ar", "ar")]:
        made = make_hit_type(title="Describe a photograph", keywords=campaign)
        url = f"https://site.example/campaigns/{campaign}/"
        describe(hit_type=made, campaign=campaign, language=language, url=url)
        types.append(made)
    hit = make_hit(types[0])
    done = make_hit(types[1])
    Hit.objects.filter(pk=done.pk).update(status=HitStatus.REVIEWABLE)
    group = people_groups.offer(group=make_group(), hit_type=types[0], share=None).group
    return types, hit, group


def test_the_campaign_and_its_language_stand_beside_a_title_that_repeats(operator, of_campaigns):
    _, hit, group = of_campaigns
    pages = ["groups", f"hits/{hit.public_id}", "hits", f"people/{group.pk}", "groups?q=dogs-de"]

    for path in pages:
        page = main_of(operator.get(f"/operator/{path}"))
        link = page.select_one('a[href="https://site.example/campaigns/dogs-de/"]')
        assert link.text == "dogs-de"
        assert "German" in link.parent.text


def test_tasks_of_finished_campaigns_are_shown_where_tasks_are_chosen_if_asked_for(
    operator, of_campaigns
):
    (german, arabic), _, group = of_campaigns
    of_german, of_arabic = [
        f"{of}: Describe a photograph" for of in ("dogs-de, German", "dogs-ar, Arabic")
    ]

    for path in (f"/operator/people/{group.pk}", "/operator/studies"):
        page = main_of(operator.get(path))
        choices = page.select("select[name=hit_type] option[value!='']")
        assert [choice["value"] for choice in choices] == [german.public_id]
        assert choices[0].text.startswith(of_german)
        [link] = [each for each in page.select("a") if each.text == "Show finished"]
        page = main_of(operator.get(link["href"]))
        [first] = page.select("select[name=hit_type] > option[value!='']")
        [last] = page.select("select[name=hit_type] > optgroup[label^=Finished] > option")
        assert (first["value"], last["value"]) == (german.public_id, arabic.public_id)
        assert last.text.startswith(of_arabic)
        assert "Show finished" not in page.text


def test_a_finished_group_that_was_chosen_stays_chosen_after_an_error(operator, of_campaigns):
    (_, arabic), _, group = of_campaigns

    answer = operator.post(
        f"/operator/people/{group.pk}/tasks", {"hit_type": arabic.public_id, "share": "no number"}
    )

    page = main_of(answer)
    assert page.select_one("option[selected]")["value"] == arabic.public_id
    assert "Show finished" not in page.text  # it is the only one


def test_the_overview_names_own_people_first(operator):
    first = main_of(operator.get("/operator/")).select_one("li a")

    assert first["href"] == "/operator/people"


def test_groups_cost_the_same_however_many(operator, django_assert_max_num_queries):
    requester = make_requester()
    for number in range(20):
        make_hit(make_hit_type(requester, title=f"Scenes {number}"))

    with django_assert_max_num_queries(6):
        operator.get("/operator/groups")


def test_the_study_form_offers_groups_by_title(operator):
    group = make_hit_type(title="Everyday scenes")

    page = main_of(operator.get(f"/operator/studies?hit_type={group.public_id}"))

    chosen = page.select_one("select[name=hit_type] option[selected]")
    assert chosen["value"] == group.public_id
    assert chosen.text.startswith(f"Everyday scenes ({group.requester.name}, posted ")


def test_the_activity_log_tells_calls_in_words_and_things_by_name(
    operator, django_assert_max_num_queries
):
    worker, hit = make_worker(), make_hit(make_hit_type(title="Everyday scenes"))
    for action, about in (
        ("CreateHITWithHITType", hit.public_id),
        ("CreateWorkerBlock", worker.public_id),
        ("DeleteHIT", "3GONE"),
    ):
        with noted(actor="Lab", action=action, about=about, at=clock.now()):
            pass

    with django_assert_max_num_queries(10):
        page = main_of(operator.get("/operator/activity"))

    deleted, blocked, created = page.select("tbody tr")
    assert "Lab created a HIT" in created.text
    assert created.find("a")["href"] == f"/operator/hits/{hit.public_id}"
    assert "Everyday scenes" in created.text
    assert "Lab blocked a worker" in blocked.text
    assert worker.name in blocked.text
    assert "3GONE" in deleted.text


def test_every_call_that_changes_something_has_words():
    changing = {name for name in HANDLERS if not name.startswith(("Get", "List"))}
    assert set(WORDS) == changing


def test_a_group_with_open_hits_or_that_was_asked_for_is_in_a_long_list(
    operator, of_campaigns, monkeypatch
):
    monkeypatch.setattr(forms, "MOST_GROUPS", 1)
    (german, arabic), _, _ = of_campaigns

    for query, ids in (
        ("", [german.public_id]),
        (f"?hit_type={arabic.public_id}", [german.public_id, arabic.public_id]),
    ):
        page = main_of(operator.get(f"/operator/studies{query}"))
        choices = page.select("select[name=hit_type] option[value!='']")
        assert [choice["value"] for choice in choices] == ids
    assert choices[-1].has_attr("selected")
