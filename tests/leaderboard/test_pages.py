"""The pages and the API: boards, tables, forms and their answers."""

import csv
import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotate.models import Campaign, ReleasedCaption, Role
from leaderboard.models import Challenge, Submission, SubmissionStatus
from leaderboard.queries import LONG, board_of
from leaderboard.services.scoring import take
from leaderboard.services.submissions import withdraw
from leaderboard.templatetags.leaderboard import scores_table
from tests.factories import UserFactory
from tests.leaderboard.making import NOON, make_challenge, make_submission, make_submitter

pytestmark = pytest.mark.django_db


def scores(cider: float, **subsets: float) -> dict[str, object]:
    return {
        "images": 40,
        "overall": {"Bleu_1": 1 - cider, "CIDEr": cider},
        "subsets": {name.replace("_", "-"): {"CIDEr": value} for name, value in subsets.items()},
        "subset_images": dict.fromkeys((name.replace("_", "-") for name in subsets), 20),
        "failed": {},
    }


@pytest.fixture
def scored(challenge, results):
    """Make a scored submission."""

    def make(name: str, cider: float, *, track: str = "PLAIN", **subsets: float) -> Submission:
        submission = make_submission(
            challenge,
            make_submitter(name),
            results(word=name),
            at=NOON,
            track=track,
            method=f"{name}net",
            training_data="=COCO",
        )
        Submission.objects.filter(pk=submission.pk).update(
            status=SubmissionStatus.SCORED, scores=scores(cider, **subsets)
        )
        submission.refresh_from_db()
        return submission

    return make


@pytest.fixture
def researcher(client):
    client.force_login(UserFactory(username="owner"))
    return client


def methods(challenge, **options) -> list[tuple[int | None, str]]:
    board = board_of(challenge, **{"track": "PLAIN", **options})
    return [(row.rank, row.submission.method) for row in board.rows]


def test_a_board_has_a_track_in_the_order_of_a_metric(challenge, scored):
    for name, cider, track in (("a", 0.3, "PLAIN"), ("b", 0.9, "PLAIN"), ("c", 0.5, "EXTRA")):
        scored(name, cider, track=track)

    assert methods(challenge) == [(1, "bnet"), (2, "anet")]
    assert methods(challenge, sort="Bleu_1") == [(1, "anet"), (2, "bnet")]
    assert methods(challenge, sort="nothing") == [(1, "bnet"), (2, "anet")]
    assert methods(challenge, track="EXTRA") == [(1, "cnet")]


def test_a_board_of_a_subset_has_its_figures(challenge, scored):
    scored("a", 0.3, in_domain=0.8, out_domain=0.1)
    scored("b", 0.9, in_domain=0.2, out_domain=0.4)

    assert methods(challenge, subset="in-domain") == [(1, "anet"), (2, "bnet")]
    assert methods(challenge, subset="no-domain") == [(1, "bnet"), (2, "anet")]


def test_a_submission_without_the_metric_comes_last_and_has_no_rank(challenge, scored):
    half = scored("b", 0.9)
    half.scores["overall"].pop("CIDEr")
    half.save()
    scored("a", 0.3)

    assert methods(challenge) == [(1, "anet"), (None, "bnet")]


def test_equal_figures_have_one_rank(challenge, scored):
    for name, cider in (("a", 0.3), ("b", 0.9), ("c", 0.3), ("d", 0.1), ("e", 0.3)):
        scored(name, cider)

    assert methods(challenge) == [(1, "bnet"), (2, "anet"), (2, "cnet"), (2, "enet"), (5, "dnet")]


def test_the_human_baseline_is_a_row_without_a_rank_in_both_tracks(release, scored):
    baseline = make_challenge(release, name="other").submissions.get()
    scored("a", 0.9)
    challenge = Challenge.objects.get(name="kites")
    Submission.objects.filter(pk=baseline.pk).update(
        challenge=challenge, status=SubmissionStatus.SCORED, scores=scores(0.95)
    )

    assert methods(challenge) == [(None, "Human baseline"), (1, "anet")]
    assert methods(challenge, track="EXTRA") == [(None, "Human baseline")]


def test_a_withdrawn_submission_leaves_the_board(challenge, scored):
    submission = scored("a", 0.9)

    withdraw(submission=submission, reason="Wrong data.", actor=UserFactory(), at=NOON)

    assert methods(challenge) == []


def test_the_boards_page_takes_few_queries(
    researcher, scored, django_assert_max_num_queries, django_assert_num_queries
):
    for name in "abcd":
        scored(name, 0.5)

    with django_assert_max_num_queries(7):
        page = researcher.get("/challenges/kites/board/").content.decode()
    with django_assert_max_num_queries(9):
        researcher.get("/challenges/kites/manage/")

    assert '<td class="number">0.5</td>' in page  # forty images allow one decimal
    assert "Team a" in page
    assert page.index("anet") < page.index("bnet")


def test_the_page_of_a_challenge_without_cider_shows_its_first_metric(researcher, scored):
    for name, figures in (("a", {"Bleu_1": 0.7}), ("b", {"ROUGE_L": 0.4})):
        submission = scored(name, 0.5)
        submission.scores["overall"] = figures
        submission.save()

    page = researcher.get("/challenges/kites/manage/").content.decode()

    assert '<th scope="col" class="number">ROUGE_L</th>' in page  # of the latest submission
    assert page.index('data-label="ROUGE_L">0.4</td>') < page.index('data-label="ROUGE_L">–</td>')


def test_metrics_and_subsets_are_in_one_order(researcher, scored):
    """PostgreSQL sorts the keys of the stored scores by their length."""
    submission = scored("a", 0.5)
    figures = {"SPICE": 0.2, "Bleu_1": 0.7, "METEOR": 0.3, "ROUGE_L": 0.4}
    subsets = dict.fromkeys(["in-domain", "out-domain", "near-domain"], figures)
    counts = dict.fromkeys(subsets, 20)
    submission.scores |= {"overall": figures, "subsets": subsets, "subset_images": counts}
    submission.save()

    board = researcher.get("/challenges/kites/board/").context["board"]
    table = scores_table(submission)

    assert board.metrics == ["Bleu_1", "METEOR", "ROUGE_L", "SPICE"]
    assert board.sort == "Bleu_1"
    assert board.subsets == ["in-domain", "near-domain", "out-domain"]
    assert table["metrics"] == ["Bleu_1", "METEOR", "ROUGE_L", "SPICE"]
    assert [name for name, *_ in table["rows"]] == ["", "in-domain", "near-domain", "out-domain"]


def test_the_table_has_each_submission_and_no_formula(researcher, scored):
    scored("a", 0.25, in_domain=0.5)
    failed = scored("b", 0.5)
    Submission.objects.filter(pk=failed.pk).update(
        status=SubmissionStatus.FAILED, scores=None, try_number=None, day_number=None
    )

    answer = researcher.get("/challenges/kites/manage/submissions.csv")

    rows = list(csv.DictReader(StringIO(b"".join(answer.streaming_content).decode())))
    assert [row["method"] for row in rows] == ["anet", "bnet"]
    assert (rows[0]["CIDEr"], rows[0]["CIDEr in-domain"]) == ("0.25", "0.5")
    assert (rows[1]["status"], rows[1]["CIDEr"]) == ("FAILED", "")
    assert rows[0]["training_data"] == "'=COCO"


FIELDS = {
    "release": "v1",
    "name": "waves",
    "title": "Waves",
    "plain_data": "COCO",
    "has_extra_track": "on",
    "per_day": "2",
    "in_total": "10",
    "opens_at": "2026-01-01 00:00",
    "closes_at": "",
    "metrics": ["bleu", "cider"],
    "tokeniser": "plain",
    "seconds": "60",
    "megabytes": "1000",
}


def test_a_researcher_creates_a_challenge_on_a_page(researcher, release):
    answer = researcher.post("/challenges/new/", FIELDS)

    assert answer.url == "/challenges/waves/manage/"
    made = Challenge.objects.get(name="waves")
    assert (made.owner.username, made.metrics) == ("owner", ["bleu", "cider"])


def test_a_double_click_leads_to_the_challenge_that_was_created(researcher, release):
    fields = FIELDS | {"form_key": str(uuid4())}

    answers = [researcher.post("/challenges/new/", fields) for _ in range(2)]

    assert [answer.url for answer in answers] == ["/challenges/waves/manage/"] * 2
    assert Challenge.objects.count() == 1


def test_a_challenge_is_offered_releases_with_references_only(researcher, release):
    ReleasedCaption.with_hidden.filter(role=Role.REFERENCE).delete()

    page = researcher.get("/challenges/new/").content.decode()

    assert '<option value="v1">' not in page
    assert "Select a valid choice" in researcher.post("/challenges/new/", FIELDS).content.decode()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "sign-up"}, "cannot be called"),
        ({"per_day": "11"}, "no higher than the limit in total"),
        ({"metrics": ["meteor"]}, "needs the official tokeniser"),
        ({"release": "v9"}, "Select a valid choice"),
        ({"closes_at": "2025-01-01 00:00"}, "close after it opens"),
        ({"opens_at": "tomorrow"}, "Enter a valid date/time"),
        ({"title": ""}, "required"),
    ],
)
def test_a_wrong_challenge_is_answered_with_the_reason(researcher, release, changes, reason):
    answer = researcher.post("/challenges/new/", FIELDS | changes)

    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert not Challenge.objects.exists()


@pytest.mark.parametrize("role", ["VIEWER", "REVIEWER"])
def test_members_who_cannot_change_a_challenge_see_no_form_for_it(client, challenge, role):
    client.force_login(UserFactory(team__role=role))

    page = client.get("/challenges/kites/manage/").content.decode()

    assert challenge.release.name in page
    assert "/challenges/kites/manage/limits/" not in page
    assert 'method="post" action="/challenges/' not in page


def test_a_researcher_publishes_closes_and_withdraws(researcher, challenge, scored):
    submission = scored("a", 0.5)
    manage = "/challenges/kites/manage/"

    researcher.post(f"{manage}board/", {"board": "public"})
    assert Challenge.objects.get().is_published
    researcher.post(f"{manage}board/", {"board": "private"})
    assert not Challenge.objects.get().is_published
    researcher.post(f"{manage}closing/", {"closes_at": "2099-01-01 12:00"})
    assert Challenge.objects.get().closes_at.year == 2099
    # Whatever was typed into the field beside the button.
    researcher.post(f"{manage}closing/", {"closes_at": "soon", "now": "yes"})
    assert Challenge.objects.get().is_closed(timezone.now())
    page = researcher.post(f"{manage}closing/", {"closes_at": "soon"}, follow=True)
    assert "Enter a date and a time" in page.content.decode()
    assert researcher.post(f"{manage}{submission.pk}/withdraw/", {}).status_code == 422
    researcher.post(f"{manage}{submission.pk}/withdraw/", {"reason": "Wrong data."})
    submission.refresh_from_db()
    assert (submission.status, submission.withdrawn_by.username) == ("WITHDRAWN", "owner")


def test_limits_that_a_command_has_set_can_be_kept_on_the_page(researcher, challenge):
    Challenge.objects.update(per_day=2000, in_total=5000)
    limits = {"per_day": 2000, "in_total": 5000, "seconds": 90, "megabytes": 512}

    page = researcher.post("/challenges/kites/manage/limits/", limits, follow=True)

    assert "The limits are changed." in page.content.decode()
    assert Challenge.objects.get().seconds == 90


def test_a_researcher_changes_the_limits(researcher, challenge):
    limits = {"per_day": 2, "in_total": 9, "seconds": 60, "megabytes": 512}

    page = researcher.post("/challenges/kites/manage/limits/", limits, follow=True)
    assert "The limits are changed." in page.content.decode()
    assert "2 per day, 9 in total" in page.content.decode()

    page = researcher.post(
        "/challenges/kites/manage/limits/", {**limits, "per_day": 0}, follow=True
    )
    assert "Submissions per day: " in page.content.decode()
    assert Challenge.objects.get().per_day == 2


def test_a_submission_of_another_challenge_cannot_be_withdrawn_here(researcher, release, scored):
    make_challenge(release, name="other")
    submission = scored("a", 0.5)

    address = f"/challenges/other/manage/{submission.pk}/withdraw/"
    assert researcher.post(address, {"reason": "x"}).status_code == 404


def upload(content: bytes, **fields) -> dict[str, object]:
    return {
        "file": SimpleUploadedFile("results.json", content),
        "method": "Kitenet",
        "track": "PLAIN",
        "training_data": "COCO",
        **fields,
    }


def test_a_submitter_submits_on_the_page_and_sees_limits_and_the_reset(client, challenge, results):
    client.force_login(make_submitter())

    before = " ".join(client.get("/challenges/kites/").content.decode().split())
    answer = client.post("/challenges/kites/", upload(results()), follow=True)

    after = " ".join(answer.content.decode().split())
    assert "3 left now.</strong> Used 0 of 3 today and 0 of 5 in total." in before
    assert "2 left now.</strong> Used 1 of 3 today and 1 of 5 in total." in after
    assert "The count of the day starts again on" in after
    assert "waits to be scored" in after


def test_a_double_click_on_submit_is_no_second_submission(client, challenge, results):
    client.force_login(make_submitter())
    key = str(uuid4())

    answers = [client.post("/challenges/kites/", upload(results(), form_key=key)) for _ in range(2)]

    assert [answer.url for answer in answers] == ["/challenges/kites/"] * 2
    assert Submission.objects.count() == 1


def test_a_challenge_about_regions_does_not_call_them_images(client, challenge):
    Campaign.objects.update(kind="region")
    client.force_login(make_submitter())

    page = client.get("/challenges/kites/").content.decode()

    assert "Write one caption for each of 12 regions." in page
    assert "Download the list of regions" in page


def test_a_submission_that_waits_says_how_many_are_before_it(client, challenge, results):
    for name in ("ada", "grace"):
        make_submission(challenge, make_submitter(name), results(word=name), at=NOON)
        client.force_login(Submission.objects.first().submitter)
        page = client.get("/challenges/kites/").content.decode()
        assert ("It is the next" in page) == (name == "ada")
    assert "1 submission will be scored before it" in page


def test_the_owner_is_told_if_nothing_is_scored(researcher, challenge, results):
    def is_warned():
        page = researcher.get("/challenges/kites/manage/").content.decode()
        return "nothing is being scored" in page

    make_submission(challenge, make_submitter(), results(), at=timezone.now())
    when_new = is_warned()
    Submission.objects.update(due_at=timezone.now() - LONG)
    when_it_has_waited = is_warned()
    take(at=timezone.now())
    while_it_is_scored = is_warned()

    assert (when_new, when_it_has_waited, while_it_is_scored) == (False, True, False)


def test_a_refused_file_is_answered_with_the_mistake_and_does_not_count(client, challenge):
    client.force_login(make_submitter())

    answer = client.post(
        "/challenges/kites/", upload(b'[{"image_id": 1, "caption": "<b>\\u2028dog"}]')
    )

    assert answer.status_code == 422
    assert "Images without a caption: 2, 3, 4, 5" in answer.content.decode()
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"method": ""},
        {"method": "x" * 101},
        {"track": "HUMAN"},
        {"training_data": ""},
        {"file": ""},
    ],
)
def test_a_form_with_a_wrong_field_is_refused(client, challenge, results, fields):
    client.force_login(make_submitter())

    page = client.post("/challenges/kites/", upload(results(), **fields))
    api = client.post("/api/challenges/kites/submissions/", upload(results(), **fields))

    assert (page.status_code, api.status_code) == (422, 400)
    assert not Submission.objects.exists()


def test_the_button_is_off_when_nothing_is_left(client, challenge, results):
    Challenge.objects.update(in_total=1, per_day=1)
    grace = make_submitter()
    make_submission(Challenge.objects.get(), grace, results())
    client.force_login(grace)

    page = client.get("/challenges/kites/").content.decode()

    assert "<button disabled>Submit results</button>" in page
    assert "You have used all 1 submission" in page


def test_the_api_takes_a_submission_and_gives_its_scores(client, challenge, results, scored):
    grace = make_submitter()
    client.force_login(grace)

    made = client.post("/api/challenges/kites/submissions/", upload(results()))
    Submission.objects.filter(pk=made.json()["id"]).update(
        status=SubmissionStatus.SCORED, scores=scores(0.5)
    )
    read = client.get(f"/api/challenges/kites/submissions/{made.json()['id']}/")

    assert made.status_code == 201
    assert read.json()["scores"]["overall"] == {"Bleu_1": 0.5, "CIDEr": 0.5}
    detail = client.get("/api/challenges/kites/").json()
    assert detail["tracks"] == ["PLAIN", "EXTRA"]
    assert {**detail["limits"], "resets_at": ""} == {
        "per_day": 3,
        "in_total": 5,
        "used_today": 1,
        "used": 1,
        "left": 2,
        "resets_at": "",
    }


def test_the_api_names_the_mistake_in_a_file(client, challenge):
    client.force_login(make_submitter())

    answer = client.post("/api/challenges/kites/submissions/", upload(b"[1, 2]"))

    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("Your file: entry 0")


def test_the_list_of_images_is_a_download_with_ids(client, challenge):
    client.force_login(make_submitter())

    answer = client.get("/challenges/kites/images.json")

    assert answer["Content-Disposition"] == 'attachment; filename="kites-images.json"'
    assert [image["id"] for image in json.loads(answer.content)["images"]] == [*range(1, 13)]
    assert client.get("/api/challenges/kites/images/").json() == json.loads(answer.content)
