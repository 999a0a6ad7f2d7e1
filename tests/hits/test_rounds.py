"""Texts in rounds, from the task page to the release: order, late versions, discards, verdicts."""

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.kinds import KINDS
from annotate.kinds.base import CampaignNotPossible
from annotate.kinds.campaign_files import parse_config
from annotate.models import Behaviour, Campaign, Response
from annotate.queries.progress import open_work, work_now
from annotate.services.campaigns import change_campaign
from annotate.services.drafts import begin_draft
from corpora.evaluation.references import read_references
from hits.pages.task_page import fixed_parts
from hits.services.claims import recount_places
from hits.services.submissions import Reported, take_submissions
from qualcontrol.models import Assessment, Decision, SpotCheck
from qualcontrol.review.judging import judge
from qualcontrol.review.undoing import change_verdict, undo_preview
from qualcontrol.services.exclusions import exclude_worker, exclusion_preview, reinstate_worker
from qualcontrol.services.releasing import release_campaign
from qualcontrol.services.withdrawals import withdraw_responses
from tests.factories import (
    NOON,
    CaptionSetFactory,
    GivenCaptionFactory,
    SelectionFactory,
    UserFactory,
)
from tests.hits.opened_pages import listed
from tests.hits.rounds import DRAFT, FIRST, SECOND, THIRD, Writer, make_campaign, states

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return make_campaign()


@pytest.fixture
def writer(client):
    return lambda campaign: Writer(client, campaign)


@pytest.fixture
def chain(writer, campaign):
    return [writer(campaign).write(text) for text in (FIRST, SECOND, THIRD)]


def assert_counters_hold(campaign):
    assert recount_places(campaign) == 0


def test_each_worker_edits_the_last_version_and_sees_what_it_changed(campaign, writer):
    assert DRAFT in writer(campaign).open().content.decode()
    first = writer(campaign).write(FIRST)

    page = writer(campaign).open().content.decode()

    assert FIRST in page
    assert "<ins>brown </ins>" in page
    assert (first.round, first.builds_on) == (1, None)
    assert first.answer.content["words"] == {"kept": 6, "added": 1, "removed": 0}


def test_the_record_of_the_page_has_no_version_of_a_worker(campaign, writer):
    writer(campaign).write(FIRST)
    fixed_parts._words.cache_clear()  # as in another process, or after a restart

    writer(campaign).open()

    assert "Correct and complete the text" in campaign.worker_pages.get().text
    assert FIRST not in campaign.worker_pages.get().html


def test_a_good_draft_that_is_too_short_is_not_to_be_left_as_it_is(campaign, writer):
    page = " ".join(writer(campaign).open().content.decode().split())

    assert "nothing is wrong or missing and the text keeps the rules below, leave it" in page
    assert "The whole text needs at least <strong>3 words</strong>." in page


def test_a_chain_has_as_many_versions_as_rounds_by_different_workers(campaign, chain):
    assert [response.round for response in chain] == [1, 2, 3]
    assert [response.builds_on for response in chain] == [None, *chain[:2]]
    assert open_work(campaign).missing == 0
    assert_counters_hold(campaign)


def test_slots_are_wanted_for_the_open_rounds_and_money_for_all(writer):
    campaign = make_campaign(images=4)

    assert work_now(campaign).pages(campaign.config) == 4
    assert open_work(campaign).missing == 12
    assert campaign.config.wanted == 3

    writer(campaign).write(FIRST)
    assert work_now(campaign).missing == 4
    assert open_work(campaign).missing == 11


def test_a_page_takes_the_place_of_the_round(campaign, writer):
    writer(campaign).open()

    task = campaign.tasks.get()
    assert (task.answers_missing, task.places_left) == (3, 0)
    assert_counters_hold(campaign)


def test_a_version_that_arrives_late_is_kept_and_does_not_count(campaign, writer):
    early, late = writer(campaign), writer(campaign)
    for each in (early, late):
        each.open()
        each.send(FIRST)
    counts, is_late = early.ingest(), late.ingest()

    assert states(counts, is_late) == [True, False]
    assert is_late.round == 1
    assert Decision.objects.get(response=is_late).reason.startswith("it does not build on")
    assert campaign.tasks.get().answers_missing == 2
    assert_counters_hold(campaign)
    assert writer(campaign).write(SECOND).builds_on == counts


def test_a_version_of_a_text_that_was_discarded_meanwhile_is_late(campaign, writer):
    first = writer(campaign).write(FIRST)
    second = writer(campaign)
    second.open()
    second.send(SECOND)
    judge(response=first, verdict="BAD", reason="wrong", reviewer=UserFactory(), at=NOON)

    found = second.ingest()

    assert (found.round, found.builds_on) == (2, first)
    assert states(first, found) == [False, False]
    assert DRAFT in writer(campaign).open().content.decode()
    assert_counters_hold(campaign)


def test_a_version_behind_one_of_an_excluded_worker_in_the_same_lot_counts(campaign, writer):
    writers = [writer(campaign) for _ in range(4)]
    for each in writers:
        each.open()
        each.send(FIRST)
    for each in (writers[0], writers[3]):
        exclude_worker(campaign=campaign, worker=each.worker, reason="no", actor=None, at=NOON)
    lot = [
        Reported(each.hit, listed("A1", each.account.marketplace_id, **each.fields))
        for each in writers
    ]

    take_submissions(campaign=campaign, reported=lot, at=NOON)

    found = Response.objects.order_by("pk")
    assert [response.worker for response in found] == [each.worker for each in writers]
    assert states(*found) == [False, True, False, False]
    late = Decision.objects.filter(reason__startswith="it does not build on")
    assert [decision.response for decision in late.order_by("response")] == [found[2], found[3]]
    assert_counters_hold(campaign)


@pytest.mark.parametrize("base", ["", "no key", "00000000-0000-0000-0000-000000000000"])
def test_an_invented_base_is_the_draft(campaign, writer, base):
    writer(campaign).write(FIRST)
    number = campaign.tasks.get().number

    found = writer(campaign).ingest(**{f"text-{number}": SECOND, f"base-{number}": base})

    assert (found.round, states(found)) == (1, [False])


def test_nobody_adds_a_round_to_a_complete_text(campaign, chain, writer):
    number = campaign.tasks.get().number

    fourth = writer(campaign).ingest(
        **{f"text-{number}": THIRD, f"base-{number}": str(chain[2].key)}
    )

    assert states(*chain, fourth) == [True, True, True, False]
    assert_counters_hold(campaign)


def test_discarding_a_version_discards_what_builds_on_it(campaign, chain, writer):
    judge(response=chain[1], verdict="BAD", reason="wrong", reviewer=UserFactory(), at=NOON)

    assert states(*chain) == [True, False, False]
    assert campaign.tasks.get().answers_missing == 2
    reasons = Decision.objects.filter(act="DISCARD").order_by("response")
    assert list(reasons.values_list("response", "reason")) == [
        (chain[1].pk, "wrong"),
        (chain[2].pk, "what it builds on was discarded"),
    ]
    assert_counters_hold(campaign)
    again = writer(campaign).write(SECOND)
    assert (again.round, again.builds_on) == (2, chain[0])


def test_an_exclusion_is_previewed_with_all_that_it_discards(campaign, chain):
    worker = chain[0].worker

    found = exclusion_preview(campaign=campaign, workers=[worker], slot_cost=Decimal("0.12"))
    assert undo_preview(chain[0]).discards == 3
    moved = exclude_worker(campaign=campaign, worker=worker, reason="careless", actor=None, at=NOON)

    assert (found.responses, found.slots, found.cost) == (3, 3, Decimal("0.36"))
    assert moved == 3
    assert states(*chain) == [False, False, False]
    assert_counters_hold(campaign)


def test_a_reinstated_worker_brings_back_what_was_built_on_them(campaign, chain):
    values = {"campaign": campaign, "worker": chain[0].worker, "actor": None, "at": NOON}
    exclude_worker(reason="careless", **values)

    assert reinstate_worker(reason="a mistake", **values) == 3
    assert states(*chain) == [True, True, True]
    assert_counters_hold(campaign)


def test_the_version_that_counted_comes_back_and_none_that_lost_its_place(campaign, writer):
    def decide(act, response):
        about = {"campaign": campaign, "worker": response.worker, "reason": "no", "actor": None}
        act(**about, at=NOON)

    first = writer(campaign).write(FIRST)
    early, late = writer(campaign), writer(campaign)
    early.open()
    late.open()
    early.send(SECOND)
    late.send(SECOND)
    early, late = early.ingest(), late.ingest()
    decide(exclude_worker, early)
    second = writer(campaign).write(SECOND)
    decide(reinstate_worker, early)
    assert states(first, early, late, second) == [True, False, False, True]

    decide(exclude_worker, first)
    decide(reinstate_worker, first)

    assert states(first, early, late, second) == [True, False, False, True]
    assert_counters_hold(campaign)


def test_a_version_that_an_exclusion_spares_is_restored_with_its_base(writer):
    review = {"discard": "since_first_bad", "policy": "propose"}
    campaign = make_campaign(images=2, review=review)
    careless, again = writer(campaign), writer(campaign)
    again.account, again.assignment = careless.account, "A2"
    first = writer(campaign).write(FIRST)
    number, other = first.task.number, campaign.tasks.exclude(pk=first.task_id).get().number
    second = careless.ingest(**{f"text-{number}": SECOND, f"base-{number}": str(first.key)})
    bad = again.ingest(**{f"text-{other}": FIRST, f"base-{other}": ""})
    judge(response=bad, verdict="BAD", reason="wrong", reviewer=UserFactory(), at=NOON)
    values = {"campaign": campaign, "actor": None, "at": NOON}
    exclude_worker(worker=careless.worker, reason="careless", **values)
    assert states(first, second, bad) == [True, True, False]
    exclude_worker(worker=first.worker, reason="careless", **values)

    assert reinstate_worker(worker=first.worker, reason="a mistake", **values) == 2

    assert states(first, second, bad) == [True, True, False]
    assert_counters_hold(campaign)


def test_a_reinstated_worker_replaces_no_version_that_came_meanwhile(campaign, chain, writer):
    values = {"campaign": campaign, "worker": chain[1].worker, "actor": None, "at": NOON}
    exclude_worker(reason="careless", **values)
    other = writer(campaign).write(SECOND)

    assert reinstate_worker(reason="a mistake", **values) == 0
    assert states(*chain, other) == [True, False, False, True]
    found = Response.objects.get(pk=chain[1].pk)
    assert undo_preview(found).obstacle.startswith("It does not build on")
    assert_counters_hold(campaign)


def test_a_changed_verdict_moves_the_chain(campaign, chain):
    reviewer = UserFactory()
    judge(response=chain[1], verdict="BAD", reason="wrong", reviewer=reviewer, at=NOON)
    change_verdict(
        response=Response.objects.get(pk=chain[1].pk),
        verdict="GOOD",
        reason="it is right",
        actor=reviewer,
        at=NOON,
    )

    assert states(*chain) == [True, True, True]
    assert_counters_hold(campaign)


def test_a_withdrawn_version_takes_what_builds_on_it_along(campaign, chain):
    withdraw_responses(worker=chain[1].worker, responses=[chain[1].pk], actor=None, at=NOON)

    assert states(*chain) == [True, False, False]
    assert Decision.objects.filter(response=chain[2], act="DISCARD").count() == 1
    assert_counters_hold(campaign)


def firsts_of_worker(worker):
    checks = SpotCheck.objects.filter(is_first=True, response__worker=worker)
    return list(checks.order_by("response").values_list("response", flat=True))


def withdraw_base(base):
    withdraw_responses(worker=base.worker, responses=[base.pk], actor=None, at=NOON)


def judge_base_bad(base):
    judge(response=base, verdict="BAD", reason="wrong", reviewer=UserFactory(), at=NOON)


def exclude_author(base):
    exclude_worker(
        campaign=base.campaign, worker=base.worker, reason="careless", actor=None, at=NOON
    )


@pytest.mark.parametrize("happen", [withdraw_base, judge_base_bad, exclude_author])
def test_another_version_is_checked_in_place_of_a_first_one_discarded_with_its_base(writer, happen):
    campaign = make_campaign(images=2, review={"first": 1})
    author, heir, again = writer(campaign), writer(campaign), writer(campaign)
    again.account, again.assignment = heir.account, "A2"
    base = author.write(FIRST)
    second = heir.ingest(
        **{f"text-{base.task.number}": SECOND, f"base-{base.task.number}": str(base.key)}
    )
    other = again.write(FIRST)
    assert firsts_of_worker(heir.worker) == [second.pk]

    happen(base)

    assert states(base, second, other) == [False, False, True]
    assert firsts_of_worker(heir.worker) == [second.pk, other.pk]


def test_a_round_waits_for_the_verdict_if_the_file_says_so(writer):
    campaign = make_campaign(waits_for_verdict=True, review={"share": 1})
    first = writer(campaign).write(FIRST)

    assert work_now(campaign).missing == 0
    assert b"textarea" not in writer(campaign).open().content
    judge(response=first, verdict="GOOD", reason="", reviewer=UserFactory(), at=NOON)
    assert work_now(campaign).missing == 1
    second = writer(campaign).write(SECOND)
    judge(response=second, verdict="BAD", reason="wrong", reviewer=UserFactory(), at=NOON)

    assert work_now(campaign).missing == 1
    assert writer(campaign).write(SECOND).builds_on == first
    assert work_now(campaign).missing == 0
    assert_counters_hold(campaign)


def test_waiting_for_verdicts_needs_a_check_of_each_version():
    with pytest.raises(CampaignNotPossible, match="review.share"):
        make_campaign(waits_for_verdict=True)


def test_a_draft_that_waits_for_verdicts_keeps_the_check_of_each_version():
    campaign = make_campaign(waits_for_verdict=True, review={"share": 1})
    Campaign.objects.update(status="DRAFT")
    file = campaign.config_json
    config = parse_config({**file, "review": {**file["review"], "share": 0.1}})

    with pytest.raises(CampaignNotPossible, match="review.share"):
        change_campaign(campaign=campaign, config=config, begun_from=file)


@pytest.mark.parametrize(
    "captions",
    [{"rate_first": "x"}, {"cannot_describe": ["dark"]}, {"remarks": True}, {"show_context": True}],
)
def test_keys_that_rounds_do_not_have_are_refused_with_a_reason(captions):
    with pytest.raises(CampaignNotPossible, match=f"captions.{next(iter(captions))}: "):
        make_campaign(captions=captions)


def test_an_unchanged_text_has_a_flag(campaign, writer):
    codes = [
        Assessment.objects.get(response=writer(campaign).write(text)).codes.split()
        for text in (DRAFT, FIRST)
    ]

    assert "unchanged" in codes[0]
    assert not {"unchanged", "hardly_changed", "copies_other"} & set(codes[1])


def test_words_added_to_a_text_are_no_short_or_cut_text(writer):
    campaign = make_campaign(captions={"least_words": 9, "style": "paragraph"})
    edited = writer(campaign).write(f"{DRAFT} Behind it, a red kite.")
    assessment = Assessment.objects.get(response=edited)

    assert edited.answer.content["new"] == "Behind it, a red kite."
    assert not {"too_short", "unfinished", "keyword_list"} & {*assessment.codes.split()}


def test_a_text_from_nothing_is_flagged_as_a_whole(writer):
    campaign = make_campaign(draft="")
    written = writer(campaign).write("A brown dog lies on the grass near the")

    assert "unfinished" in Assessment.objects.get(response=written).codes.split()


def test_an_edited_text_is_never_exported_as_written(campaign, chain, tmp_path):
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    origin = f"edited from caption set {campaign.config_json['refine']['draft_set']}"
    for name in ("coco", "csv", "jsonl"):
        folder = tmp_path / name
        call_command("export", "v1", "--format", name, "--out", str(folder), stdout=StringIO())
        for path in folder.rglob("*"):
            text = path.read_text()
            assert THIRD not in text or origin in text, path

    [caption] = json.loads((tmp_path / "coco" / "captions.json").read_text())["annotations"]
    assert (caption["caption"], caption["origin"]) == (THIRD, origin)
    rounds = release.figures["rounds"]
    assert [each["edit_distance"] for each in rounds] == [1, 4, 4]
    assert [each["new_content_words"] for each in rounds] == [1, 2, 2]
    again = make_campaign(draft="", draft_release="v1")
    assert again.tasks.get().payload is None


def test_files_have_their_keys_in_the_same_order_in_every_database(campaign, chain, tmp_path):
    behaviour = Behaviour.objects.filter(response=chain[0])
    behaviour.update(characters={"typed": 5, "pasted": 0})
    release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    call_command("export", "v1", format="coco", out=tmp_path / "v1")

    captions = json.loads((tmp_path / "v1" / "captions.json").read_text())
    assert list(captions["images"][0]) == [
        *("id", "open_images_id", "file_name", "width", "height", "coco_url", "domain"),
        *("license_url", "date_captured"),
    ]
    chains = json.loads((tmp_path / "v1" / "chains.json").read_text())
    version = chains["chains"][0]["versions"][0]
    assert list(version) == [*("round", "text", "kept", "added", "removed", "characters")]
    assert list(version["characters"]) == ["pasted", "typed"]
    assert list(chains["rounds"][0]) == sorted(chains["rounds"][0])


def test_the_methods_say_how_the_texts_came_about(campaign, chain):
    waiting = make_campaign(draft="", rounds=2, waits_for_verdict=True, review={"share": 1})
    set_ = campaign.config_json["refine"]["draft_set"]

    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    methods = "".join(release.files.filter(name="methods.md").values_list("text", flat=True))
    assert "- Rounds of each text: 3, each by another worker" in methods
    assert "when the one before was submitted." in methods
    assert f"began with the first caption of the image in the caption set {set_}." in methods
    assert "Images without a draft" not in methods
    rounds, draft = KINDS["refine"].methods(waiting)
    assert "Rounds of each text: 2" in rounds
    assert rounds.endswith("judged good.")
    assert draft == "The first round began with an empty page."


def test_the_methods_count_images_without_a_draft(campaign):
    some = make_campaign(images=2, draft="", draft_set=campaign.config_json["refine"]["draft_set"])

    *_, without = KINDS["refine"].methods(some)

    assert without == "Images without a draft there, whose first round wrote the text: 2."


def test_files_of_texts_in_another_language_say_which(writer, tmp_path):
    """Otherwise their scores would be computed as those of English texts."""
    campaign = make_campaign(draft="", language="de", rounds=1)
    writer(campaign).write("Ein brauner Hund liegt auf dem Gras.")
    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    call_command("export", "v1", "--out", str(tmp_path), stdout=StringIO())

    references = read_references(tmp_path / "captions.json")
    assert references.language == "de"
    assert [row["language"] for row in KINDS["refine"].tables(release)[2].dicts()] == ["de"]


def test_a_text_from_nothing_is_written(writer):
    campaign = make_campaign(draft="")
    for text in (FIRST, SECOND, THIRD):
        writer(campaign).write(text)

    release = release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)

    assert release.images.get().record["origin"] == "written"
    assert KINDS["refine"].tables(release)[2].dicts().__next__()["origin"] == "written"


def test_a_text_with_a_withdrawn_version_is_no_draft(campaign, chain):
    release_campaign(campaign=campaign, name="v1", seed=1, at=NOON)
    about = {"draft": "", "images": [*campaign.selection.images.all()], "draft_release": "v1"}
    before = make_campaign(**about)
    first = chain[0]
    withdraw_responses(worker=first.worker, responses=[first.pk], actor=None, at=NOON)

    with pytest.raises(CampaignNotPossible, match="no captions in 'v1'"):
        make_campaign(**about)

    assert before.tasks.get().payload["text"] == THIRD


def test_the_preview_of_a_draft_shows_the_first_round(client):
    captions, selection = CaptionSetFactory(), SelectionFactory(images=1)
    GivenCaptionFactory(caption_set=captions, image=selection.images.get(), text=DRAFT)
    client.force_login(user := UserFactory(is_superuser=True, is_staff=True))
    rules = {"draft_set": captions.name}
    file = {"name": "new", "kind": "refine", "selection": selection.name, "refine": rules}
    draft = begin_draft(owner=user, file={**file, "budget": "50"}, at=NOON)

    page = client.get(reverse("hits:new_preview", args=[draft.pk, "preview"]))

    assert DRAFT in page.content.decode()
