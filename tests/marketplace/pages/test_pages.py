"""The worker's pages with Django's client."""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import quote, urlencode

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.urls.converters import IntConverter

from marketplace import clock
from marketplace.services import assignments, hits, reviews
from marketplace.services.links import sign_in_url
from marketplace.services.reviews import block_worker
from tests.marketplace.factories import (
    accepted,
    make_current_hit,
    make_hit_type,
    make_requester,
    make_worker,
    submitted,
)
from tests.marketplace.people import browser

pytestmark = pytest.mark.django_db


def post(client: Client, page: str, action: str):
    """Submit the form with this action on a page."""
    soup = BeautifulSoup(client.get(page).content, "lxml")
    form = soup.find("form", {"action": action})
    fields = {
        each["name"]: each["value"] for each in form.find_all("input") if "name" in each.attrs
    }
    return client.post(action, fields)


@pytest.fixture
def hit_type():
    found = make_hit_type(title="Describe <b>images</b>")
    make_current_hit(found)
    return found


@pytest.fixture
def worker():
    return make_worker()


@pytest.mark.parametrize("path", ["/", "/queue", "/earnings", "/messages"])
def test_a_stranger_is_sent_to_the_sign_in_page(client, path):
    response = client.get(path)

    wanted = "" if path == "/" else f"?next={quote(path, safe='')}"
    assert (response.status_code, response.url) == (302, f"/sign-in{wanted}")


def test_a_forged_link_signs_nobody_in(client):
    path = sign_in_url(make_worker()).partition("/sign-in/")[2]

    response = client.get(f"/sign-in/{path}x")

    assert response.status_code == 403
    assert client.get("/").status_code == 302


def test_an_old_link_signs_nobody_in(client, settings):
    path = sign_in_url(make_worker()).partition("/sign-in/")[2]
    settings.SIGN_IN_LINK_AGE = timedelta(seconds=-1)

    assert client.get(f"/sign-in/{path}").status_code == 403


def test_signing_out_ends_the_session(worker):
    client = browser(worker)

    assert post(client, "/queue", reverse("sign_out")).status_code == 302

    assert client.get("/").status_code == 302


def test_a_days_work_by_its_forms(worker, hit_type):
    client = browser(worker)

    response = post(client, "/", reverse("accept", args=[hit_type.public_id]))
    assert response.status_code == 303
    assignment_page = response.url
    assert hit_type.title not in client.get("/queue").content.decode()
    assert client.get("/queue").content.count(assignment_page.encode()) >= 1
    response = post(client, assignment_page, f"{assignment_page}/return")

    assert response.status_code == 303
    assert worker.assignments.get().status == "Returned"


def test_text_of_requesters_is_escaped_everywhere(worker, hit_type):
    client = browser(worker)
    found = submitted(worker, hit_type)
    reviews.reject(assignment=found, feedback="<script>alert(1)</script>", at=clock.now())

    for page in ("/earnings", found.get_absolute_url(), hit_type.get_absolute_url()):
        text = client.get(page).content.decode()
        assert "<b>images" not in text
        assert "<script>alert" not in text


def test_pages_send_a_policy_without_inline_code(worker, hit_type):
    client = browser(worker)
    found = accepted(worker, hit_type)

    for page in ("/", "/queue", found.get_absolute_url()):
        response = client.get(page)
        soup = BeautifulSoup(response.content, "lxml")
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert not soup.find_all("style")
        assert all("src" in script.attrs for script in soup.find_all("script"))
        assert not [tag for tag in soup.find_all(True) if "style" in tag.attrs]


def test_accepting_needs_the_forms_token(worker, hit_type):
    client = browser(worker)

    assert client.post(reverse("accept", args=[hit_type.public_id])).status_code == 403
    assert not worker.assignments.exists()


def test_a_title_and_a_description_have_the_direction_of_their_language(worker):
    hit_type = make_hit_type(title="صف صورة", description="انظر إلى صورة واكتب جملة.")
    make_current_hit(hit_type)

    for page in ("/", hit_type.get_absolute_url()):
        assert directions(worker, page, hit_type) == ["auto"] * 2
    page = accepted(worker, hit_type).get_absolute_url()
    assert directions(worker, page, hit_type) == ["auto"]


def directions(worker, page, hit_type) -> list[str | None]:
    """The `dir` of the elements that have the title or the description."""
    main = BeautifulSoup(browser(worker).get(page).content, "lxml").main
    found = main.find_all(string=[hit_type.title, hit_type.description])
    return [text.parent.get("dir") for text in found]


def test_an_empty_group_says_so(worker, hit_type):
    client = browser(worker)
    submitted(make_worker(), hit_type)

    page = client.get(hit_type.get_absolute_url()).content.decode()

    assert "No more HITs of this group" in page
    assert "<iframe" not in page


def test_the_list_is_searched_by_title(worker, hit_type):
    make_current_hit(make_hit_type(title="Transcribe a receipt"))
    client = browser(worker)

    page = client.get("/?q=receipt").content.decode()

    assert "Transcribe" in page
    assert hit_type.public_id not in page
    assert "No HITs match" in client.get("/?q=nothing").content.decode()


def test_the_available_hits_do_not_include_those_that_the_worker_did(worker, hit_type):
    for _ in range(2):
        make_current_hit(hit_type, max_assignments=2)
    submitted(worker, hit_type)
    submitted(worker, hit_type)
    client = browser(worker)

    row = BeautifulSoup(client.get("/").content, "lxml").find(
        "tr", {"data-group": hit_type.public_id}
    )

    assert row.find("td", {"data-label": "HITs available"}).text == "1"


def test_earnings_add_up(worker):
    requester = make_requester()
    hit_type = make_hit_type(requester, reward=Decimal("1.50"))
    for _ in range(3):
        make_current_hit(hit_type)
    approved, rejected, _pending = [submitted(worker, hit_type) for _ in range(3)]
    reviews.approve(assignment=approved, at=clock.now())
    reviews.reject(assignment=rejected, feedback="Not a sentence.", at=clock.now())
    reviews.send_bonus(
        requester=requester, worker=worker, assignment=approved, amount=Decimal("0.25"),
        reason="Careful work", at=clock.now(),
    )  # fmt: skip

    text = BeautifulSoup(browser(worker).get("/earnings").content, "lxml").get_text(" ", strip=True)

    assert "Total earned $1.75" in text
    assert "Approved HITs (1) $1.50" in text
    assert "Bonuses $0.25" in text
    assert "Submitted, not checked yet (1) $1.50" in text
    assert "Not a sentence." in text
    assert "Careful work" in text


@pytest.mark.parametrize("page", ["/queue", "/assignments/{}"])
def test_a_double_click_returns_a_hit_once(worker, hit_type, page):
    taken, client = accepted(worker, hit_type), browser(worker)
    form = BeautifulSoup(client.get(page.format(taken.public_id)).content, "lxml").select_one(
        'form[action$="/return"]'
    )
    fields = {each["name"]: each["value"] for each in form.select("input")}

    for _ in range(2):
        assert client.post(form["action"], fields).url == "/"

    told = client.get("/").content.decode()
    assert "HIT returned" in told
    assert "cannot be returned" not in told


@pytest.mark.parametrize("is_approved", [True, False])
def test_a_worker_sees_the_reward_of_the_work_if_the_hit_has_another_since(
    worker, hit_type, is_approved
):
    found = submitted(worker, hit_type)
    if is_approved:
        reviews.approve(assignment=found, at=clock.now())
    else:
        reviews.reject(assignment=found, feedback="Empty.", at=clock.now())
    dearer = make_hit_type(hit_type.requester, reward=Decimal("0.50"))
    hits.change_type(hit=found.hit, hit_type=dearer, at=clock.now())

    earnings, page = (
        browser(worker).get(path).content.decode()
        for path in ("/earnings", found.get_absolute_url())
    )

    assert ("$0.10 was paid" in page) == is_approved
    for shown in (earnings, page):
        assert "$0.10" in shown
        assert "$0.50" not in shown


@pytest.mark.parametrize("rows", [2, 12])
def test_lists_cost_the_same_however_long(worker, rows, django_assert_max_num_queries):
    requester = make_requester()
    for number in range(rows):
        hit_type = make_hit_type(requester, title=f"Task {number}")
        make_current_hit(hit_type)
        make_current_hit(hit_type)
        submitted(worker, hit_type)
    client = browser(worker)

    for page in ("/", "/earnings", "/queue", "/messages"):
        with django_assert_max_num_queries(12):
            assert client.get(page).status_code == 200


def test_a_session_that_outlives_its_worker_is_nobodys(client):
    session = client.session
    session["worker_id"] = 10**9
    session.save()

    assert client.get("/").status_code == 302


@pytest.mark.parametrize("name", ["public_id", "group_id"])
@pytest.mark.parametrize(
    "address",
    [
        "/mturk/preview?groupId={}",
        "/mturk/previewandaccept?groupId={}",
        "/projects/{}/tasks",
        "/projects/{}/tasks/accept_random",
    ],
)
def test_amazons_address_of_a_group_leads_to_it(worker, hit_type, address, name):
    """Clients print these URLs with the HIT type's id or the group's."""
    link = address.format(getattr(hit_type, name))

    response = browser(worker).get(link)

    assert (response.status_code, response.url) == (302, hit_type.get_absolute_url())
    stranger = Client().get(link)
    assert stranger.url == f"/sign-in?{urlencode({'next': link})}"


def test_amazons_address_of_a_search_leads_to_the_groups_with_this_title(worker, hit_type):
    """As psiTurk 3.3.1 prints it after `hit create`."""
    other = make_hit_type(title="Name the colour")
    make_current_hit(other)
    link = "/projects?" + urlencode({"filters[search_term]": other.title})

    page = browser(worker).get(link, follow=True).content.decode()

    assert other.get_absolute_url() in page
    assert hit_type.get_absolute_url() not in page
    assert hit_type.get_absolute_url() in browser(worker).get("/").content.decode()


@pytest.mark.parametrize("name", ["public_id", "group_id"])
def test_a_group_is_previewed_and_accepted_by_either_id(worker, hit_type, name):
    address = f"/groups/{getattr(hit_type, name)}"
    client = browser(worker)

    assert "Describe" in client.get(f"{address}/preview").content.decode()
    form = reverse("accept", args=[hit_type.public_id])
    assert post(client, f"{address}/preview", form).status_code == 303


@pytest.mark.parametrize(
    "link",
    ["/mturk/preview", "/mturk/preview?groupId=", "/mturk/preview?groupId=3NONE",
     "/projects/3NONE/tasks", "/groups/3NONE/preview", "/projects/%00/tasks"],
)  # fmt: skip
def test_an_unknown_group_is_not_found(worker, hit_type, link):
    assert browser(worker).get(link).status_code == 404


def test_a_group_that_is_hidden_from_the_worker_is_not_found_by_links(worker):
    requirement = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "NL"}],
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    hidden = make_hit_type(qualification_requirements=[requirement])

    for link in (f"/projects/{hidden.group_id}/tasks", f"/groups/{hidden.group_id}/preview"):
        assert browser(worker).get(link).status_code == 404


def test_a_blocked_worker_is_told_so(worker, hit_type):
    """The requester's reason is not shown."""
    block_worker(requester=hit_type.requester, worker=worker, reason="Sloppy.", at=clock.now())
    client = browser(worker)

    for link in (hit_type.get_absolute_url(), f"/groups/{hit_type.group_id}/preview"):
        response = client.get(link)
        assert response.status_code == 403
        assert "This requester has blocked you" in response.content.decode()
        assert "Sloppy" not in response.content.decode()
    assert "Describe" not in client.get("/").content.decode()


ALLOWED = {
    "groups": {"GET", "HEAD", "POST"},
    **dict.fromkeys(["healthz", "readyz", "metrics"], {"GET", "HEAD"}),
    "external_submit": {"POST"},
}


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"])
def test_no_other_method_does_anything(worker, method, settings):
    """This includes OPTIONS: pages of other sites must not call the API."""
    # One that forms' tokens do not keep from the views.
    client = Client()
    client.get(sign_in_url(worker).partition(settings.MARKETPLACE_URL)[2])
    for name, arguments in every_address():
        response = client.generic(method, reverse(name, args=arguments), "{}")

        assert response.status_code == 405, name
        allowed = {each.strip() for each in response.headers["Allow"].split(",")}
        assert method not in allowed
        assert allowed == ALLOWED.get(name, allowed)
        assert not any(each.startswith("Access-Control") for each in response.headers)


def every_address():
    """The name of each page and API call, with arguments for its URL."""
    resolver = get_resolver("marketplace.urls")
    for names, patterns in (
        ("", resolver.url_patterns),
        ("operator:", get_resolver("marketplace.operator.urls").url_patterns),
    ):
        for each in patterns:
            if isinstance(each, URLPattern):
                kinds = each.pattern.converters.values()
                yield (
                    f"{names}{each.name}",
                    [2026 if isinstance(kind, IntConverter) else "x" for kind in kinds],
                )


def test_two_groups_of_one_title_can_be_told_apart(worker):
    requester = make_requester()
    twins = [
        make_hit_type(requester, title="Describe an image", reward=Decimal(reward))
        for reward in ("0.10", "0.20")
    ]
    alone = make_hit_type(title="Describe an image")
    for each in (*twins, alone):
        make_current_hit(each)

    soup = BeautifulSoup(browser(worker).get("/").content, "lxml")

    def marks(hit_type) -> list[str]:
        row = soup.find("tr", {"data-group": hit_type.public_id})
        return [part.text for part in row.select(".description, button .hidden")]

    for twin in twins:
        assert sum(f"Group {twin.public_id[-6:]}, posted" in mark for mark in marks(twin)) == 2
    assert not any("posted" in mark for mark in marks(alone))


def test_the_page_of_an_assignment_tells_the_work_of_the_last_day(worker, hit_type):
    make_current_hit(hit_type)
    submitted(worker, hit_type)

    page = browser(worker).get(accepted(worker, hit_type).get_absolute_url()).content.decode()

    # With the HIT that is on the page, because this is shown after it is submitted.
    assert "<strong>2 HITs</strong> submitted" in page
    assert "$0.20" in page


def test_groups_of_one_title_are_told_apart_in_queue_and_earnings(worker, hit_type):
    requester = hit_type.requester
    twin = make_hit_type(requester, title=hit_type.title, reward=Decimal("0.20"))
    other = make_hit_type(requester, title="Something else")
    for each in (twin, other):
        make_current_hit(each)
    client = browser(worker)

    def marked(path: str) -> set[str]:
        text = BeautifulSoup(client.get(path).content, "lxml").find("tbody").get_text()
        return {each.public_id for each in (hit_type, twin, other) if each.public_id[-6:] in text}

    work = [accepted(worker, each) for each in (hit_type, twin, other)]
    assert marked("/queue") == {hit_type.public_id, twin.public_id}

    for found in work:
        assignments.submit(assignment=found, answer="<a/>", at=clock.now())
    assert marked("/earnings") == {hit_type.public_id, twin.public_id}
