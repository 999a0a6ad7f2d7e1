"""The simulated crowd with a running marketplace and site, and the simulated reviewer."""

import threading
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.utils import timezone
from PIL import Image as Picture

from annotate.kinds.campaign_files import parse_config
from annotate.models import Box, Campaign, Caption, Correspondence, ObjectClass, Response, Task
from annotate.queries.progress import progress
from annotate.services.campaigns import create_campaign
from hits.models import Sync, WorkerAccount
from hits.reconcile.reconciler import reconcile
from simulation.demonstration import review
from simulation.kinds import hands_for, judge_of
from simulation.kinds.caption import CARELESS_WRITERS
from simulation.kinds.correspondence import Linker
from simulation.management.commands.simulate_workers import plan_of
from simulation.workers.browser import (
    Accepted,
    NothingLeft,
    NotOffered,
    SiteError,
    TaskForm,
    WorkerBrowser,
)
from simulation.workers.crowd import Crew, Crowd, Hand, Member, Outcome, Plan, members
from tests.factories import (
    BoxFactory,
    CampaignFactory,
    ImageFactory,
    LinkCampaignFactory,
    LinkTaskFactory,
    SelectionFactory,
    make_campaign,
)
from tests.hits.framed_work import published
from tests.hits.rounds import make_campaign as make_rounds

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.one_database,
    pytest.mark.slow,
]

NAMES = ["Dog", "House", "Tree", "Car", "Boat", "Cake"]
OPTIONS = {"seed": 1, "assignments": None, "threads": 2, "returns": 0.0, "abandons": 0.0}


@pytest.fixture
def site(live_server, settings, requester):
    """The requester site at the URL that the marketplace's frames use."""
    settings.SITE_URL = live_server.url
    settings.ALLOWED_HOSTS = ["*"]
    return live_server


def pictured(campaign: Campaign, settings) -> Campaign:
    """Give each image of the campaign a file and two objects."""
    classes = [ObjectClass.objects.get_or_create(label=f"/m/{n}", name=n)[0] for n in NAMES]
    edges = {"x_min": 0.1, "x_max": 0.5, "y_min": 0.1, "y_max": 0.5}
    for number, task in enumerate(with_files(campaign, settings)):
        for each in (classes[number % 6], classes[(number + 1) % 6]):
            Box.objects.get_or_create(image=task.image, object_class=each, **edges)
    return campaign


def with_files(campaign: Campaign, settings) -> list[Task]:
    """The campaign's tasks; each image has a file."""
    tasks = list(campaign.tasks.select_related("image").order_by("number"))
    for task in tasks:
        path = settings.MEDIA_ROOT / f"images/{task.image.key}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Picture.new("RGB", (64, 48), (90, 140, 200)).save(path)
        task.image.file = f"images/{task.image.key}.jpg"
        task.image.save()
    return tasks


def crowd_of(
    marketplace, names: list[str], campaign: Campaign, careless: int = 0, errors: float = 0.2
) -> tuple[list[Member], dict[str, str]]:
    """The crowd, and the kind of each member by the marketplace's worker id."""
    workers = marketplace.fresh_workers(len(names))
    hands = hands_for(campaign, Crew(len(names), careless, errors, seed=1))
    browsers = [WorkerBrowser(worker.sign_in_url) for worker in workers]
    kinds = {each.worker_id: hand.kind for each, hand in zip(workers, hands, strict=True)}
    return members(names=names, browsers=browsers, hands=hands, seed=1), kinds


def rounds(campaign: Campaign, crowd: list[Member], plan: Plan) -> tuple[list[Outcome], list[Sync]]:
    """Let the crowd and the reconciler take turns until the campaign is complete."""
    outcomes, syncs = [], []
    for _ in range(8):
        outcomes.append(Crowd(crowd, plan).work())
        syncs.append(reconcile(campaign))
        if progress(campaign).complete == campaign.tasks.count():
            break
    return outcomes, syncs


def test_a_crowd_completes_a_campaign_and_does_what_others_returned(marketplace, site, settings):
    campaign = pictured(make_campaign(tasks=3), settings)
    reconcile(campaign)
    plan = plan_of(campaign, {**OPTIONS, "returns": 0.3, "threads": 1})
    crowd, _ = crowd_of(marketplace, [f"c{number}" for number in range(7)], campaign)

    outcomes, syncs = rounds(campaign, crowd, plan)

    assert not any(outcome.errors for outcome in outcomes)
    assert sum(outcome.returned for outcome in outcomes) > 0
    # Nine slots are enough for nine answers: a returned task goes to the next worker of its HIT.
    # In some crowds one more is needed, because the last worker has done the task that is left.
    submitted = sum(outcome.total for outcome in outcomes)
    assert submitted == 9
    assert sum(sync.ingested for sync in syncs) == submitted
    assert progress(campaign).complete == 3
    assert len(set(Caption.objects.values_list("text", flat=True))) >= 8


def test_a_crowd_links_the_words_of_captions(marketplace, site, settings):
    review = {"share": 0, "first": 0, "approve_after_hours": 0}
    campaign = LinkCampaignFactory(
        status="RUNNING", config={"review": review, "responses": 2, "hit": {"images": 2}}
    )
    for _ in range(2):
        LinkTaskFactory(campaign=campaign, boxes=["Man", "Dog", "Car"])
    with_files(campaign, settings)
    reconcile(campaign)
    plan = plan_of(campaign, OPTIONS)
    crowd, _ = crowd_of(marketplace, ["l1", "l2"], campaign, errors=0)

    outcomes, _ = rounds(campaign, crowd, plan)

    assert not any(outcome.errors for outcome in outcomes)
    assert sum(outcome.total for outcome in outcomes) == 2
    answers = Correspondence.objects.select_related("response__task__image")
    assert len(answers) == 4
    for answer in answers:
        boxes = answer.response.task.image.boxes
        keys = dict(boxes.values_list("object_class__name", "pk"))
        # A man feeds a dog in front of a red car.
        assert answer.words == {"1": [keys["Man"]], "4": [keys["Dog"]], "10": [keys["Car"]]}


def test_a_crowd_describes_regions_whose_class_it_is_not_told(marketplace, site, settings):
    images = ImageFactory.create_batch(2)
    # Of two dogs, a worker may happen to write the same sentence.
    for image, names in zip(images, (("Dog", "Boat"), ("Car", "Cake")), strict=True):
        for name, left in zip(names, (0.0, 0.5), strict=True):
            object_class, _ = ObjectClass.objects.get_or_create(label=f"/m/{name}", name=name)
            BoxFactory(image=image, object_class=object_class, x_min=left, x_max=left + 0.4)
    file = {
        "name": "regions",
        "kind": "region",
        "selection": SelectionFactory(images=images).name,
        "budget": "50.00",
        "references": 2,
        "priming": {"by": "none"},
        "hit": {"images": 2},
        "review": {"share": 0, "first": 0, "approve_after_hours": 0},
    }
    campaign = create_campaign(config=parse_config(file), endpoint="local", at=timezone.now())
    with_files(campaign, settings)
    Campaign.objects.update(status="RUNNING")
    campaign.refresh_from_db()
    reconcile(campaign)
    crowd, _ = crowd_of(marketplace, ["r1", "r2", "r3"], campaign)

    outcomes, _ = rounds(campaign, crowd, plan_of(campaign, {**OPTIONS, "threads": 1}))

    judge = judge_of(campaign)
    responses = Response.objects.select_related("task", "caption")
    assert not any(outcome.errors for outcome in outcomes)
    assert len(responses) == 8
    assert [judge(each) for each in responses] == [""] * 8
    Caption.objects.update(text="A small boat lies next to a friendly dog.")
    assert {judge(each) for each in responses.all()} == {"the same sentence as on another image"}


def test_a_crowd_stops_after_the_assignments_asked_for(marketplace, site, settings):
    campaign = pictured(make_campaign(tasks=3), settings)
    reconcile(campaign)
    plan = plan_of(campaign, {**OPTIONS, "assignments": 4})
    told = []

    crowd, _ = crowd_of(marketplace, ["s1", "s2"], campaign)
    outcome = Crowd(crowd, plan, lambda: told.append(1)).work()

    assert outcome.total == len(told) == 4
    assert reconcile(campaign).ingested == 4


def test_careless_workers_are_found_by_what_they_wrote_and_excluded(marketplace, site, settings):
    campaign = make_campaign(
        tasks=8, review={"share": 0.5, "first": 2, "approve_after_hours": 0}, seed=3
    )
    pictured(campaign, settings)
    reconcile(campaign)
    plan = plan_of(campaign, {**OPTIONS, "threads": 1})
    crowd, kinds = crowd_of(marketplace, [f"x{n}" for n in range(4)], campaign, careless=2)
    reviewer = get_user_model().objects.create_user("reviewer")

    for _ in range(2):
        Crowd(crowd, plan).work()
        reconcile(campaign)
        review(campaign=campaign, reviewer=reviewer, at=timezone.now())

    excluded = set(campaign.exclusions.values_list("worker__account__marketplace_id", flat=True))
    assert excluded
    assert {kinds[worker] for worker in excluded} <= set(CARELESS_WRITERS)
    counting = Response.objects.of(campaign).counting()
    assert not counting.filter(worker__account__marketplace_id__in=excluded).exists()


def test_careful_workers_pass_a_practice_and_the_others_are_excluded(marketplace, site, settings):
    campaign = pictured(make_campaign(tasks=3), settings)
    shown, practised = campaign.tasks.order_by("number")[:2], campaign.tasks.last()
    image = practised.image
    practised.delete()
    other = NAMES[5]
    captions = [
        {"image": image.key, "text": f"A photograph of {text}.", "good": good, "why": "Look."}
        for text, good in [("a tree and a car", True), (f"a {other.lower()}", False)]
    ]
    campaign.config_json["practice"] = {"captions": captions, "pass_mark": 1, "paid": True}
    campaign.save()
    campaign = Campaign.objects.get()
    campaign.practice_images.add(image)
    reconcile(campaign)
    plan = plan_of(campaign, {**OPTIONS, "threads": 1})
    crowd, kinds = crowd_of(marketplace, [f"p{n}" for n in range(5)], campaign, careless=2)

    outcomes, _ = rounds(campaign, crowd, plan)

    assert not any(outcome.errors for outcome in outcomes)
    excluded = set(campaign.exclusions.values_list("worker__account__marketplace_id", flat=True))
    assert {kinds[worker] for worker in excluded} == set(CARELESS_WRITERS[:2])
    assert len(shown) == 2
    assert progress(campaign).complete == 2


def test_workers_confirm_the_sentence_and_count_the_dots(marketplace, site, settings):
    campaign = pictured(make_campaign(tasks=2), settings)
    campaign.config_json["writing"] |= {"confirm": "I wrote this myself.", "question": True}
    campaign.save()
    campaign = Campaign.objects.get()
    reconcile(campaign)
    crowd, _ = crowd_of(marketplace, [f"e{n}" for n in range(4)], campaign, careless=1)

    outcomes, _ = rounds(campaign, crowd, plan_of(campaign, OPTIONS))

    assert not any(outcome.errors for outcome in outcomes)
    assert progress(campaign).complete == 2


def test_the_command_makes_workers_and_tells_what_they_did(
    marketplace, site, settings, monkeypatch
):
    campaign = pictured(make_campaign(tasks=2), settings)
    reconcile(campaign)
    for name in ("MARKETPLACE_DATABASE_URL", "MARKETPLACE_URL"):
        monkeypatch.setenv(name, marketplace.environment[name])
    out = StringIO()

    call_command("simulate_workers", campaign.slug, workers=4, assignments=3, stdout=out)

    assert "\n3 HITs submitted" in out.getvalue()
    assert reconcile(campaign).ingested == 3
    ids = WorkerAccount.objects.values_list("marketplace_id", flat=True)
    assert not [each for each in ids if each in out.getvalue()]


@pytest.mark.parametrize("endpoint", ["production", "sandbox"])
def test_no_crowd_works_at_amazons_marketplaces(endpoint):
    campaign = CampaignFactory(endpoint=endpoint, status="RUNNING")

    with pytest.raises(CommandError, match="only people may work"):
        plan_of(campaign, OPTIONS)


def test_a_crowd_needs_links_at_a_marketplace_elsewhere(settings):
    settings.MTURK_ENDPOINT = "http://127.0.0.1:9"
    campaign = CampaignFactory(endpoint="http://127.0.0.1:9", status="RUNNING")
    campaign.hit_types.create(
        hit_type_id="GROUP", exclusion_type_id="EXCLUDED", created_at=timezone.now()
    )

    with pytest.raises(CommandError, match="--sign-in-urls"):
        call_command("simulate_workers", campaign.slug)


@pytest.mark.parametrize("option", ["--workers", "--threads", "--assignments"])
def test_a_crowd_of_nobody_is_refused(option):
    with pytest.raises(CommandError, match="0 is not from 1"):
        call_command("simulate_workers", "pilot", option, "0")


def test_fewer_than_no_careless_workers_are_refused():
    with pytest.raises(CommandError, match="-1 is not from 0"):
        call_command("simulate_workers", "pilot", "--careless", "-1")


def test_a_group_that_is_not_offered_is_said_so(marketplace, requester):
    [worker] = marketplace.fresh_workers(1)
    browser = WorkerBrowser(worker.sign_in_url)
    browser.sign_in()

    assert not browser.offers("NOSUCHGROUP")
    with pytest.raises((NotOffered, SiteError)):
        browser.accept("NOSUCHGROUP")


def test_an_absent_site_is_an_error_and_not_an_end(marketplace, requester, settings):
    settings.SITE_URL = "http://127.0.0.1:9"
    campaign = published(tasks=2)
    plan = plan_of(campaign, OPTIONS)

    outcome = Crowd(crowd_of(marketplace, ["e1"], campaign)[0], plan).work()

    assert outcome.total == 0
    # The preview, then each HIT that it could accept.
    assert sum(outcome.errors.values()) == 3
    assert "ConnectionError" in next(iter(outcome.errors))


class OneSlot:
    """A group with one free slot, and browsers that know only this group."""

    def __init__(self) -> None:
        self.holder: SlotBrowser | None = None
        self.is_open = True

    def browser(self, *, has_work: bool = True) -> "SlotBrowser":
        return SlotBrowser(self, has_work)


class SlotBrowser:
    """A worker's browser; `has_work` tells whether the task page shows a task."""

    def __init__(self, slot: OneSlot, has_work: bool) -> None:
        self.slot = slot
        self.has_work = has_work
        self.has_token = False
        # Called once this browser was refused the slot.
        self.refused = lambda: None

    def sign_in(self) -> None:
        pass

    def offers(self, group: str) -> bool:
        self.has_token = self.slot.is_open
        return self.has_token

    def preview(self, group: str) -> None:
        pass

    def accept(self, group: str) -> Accepted:
        if not self.has_token or not self.slot.is_open or self.slot.holder:
            self.refused()
            raise NotOffered
        self.slot.holder = self
        return Accepted("page", "frame")

    def open_task(self, accepted: Accepted) -> TaskForm:
        if not self.has_work:
            raise NothingLeft
        return TaskForm("", {}, [], [])

    def give_back(self, accepted: Accepted) -> None:
        self.slot.holder = None

    def send(self, task: TaskForm, answers: object) -> None:
        self.slot.is_open = False


class Hands:
    def fill(self, *_: object, **__: object) -> dict[str, str]:
        return {}


def slot_crowd(*browsers: SlotBrowser) -> list[Member]:
    hand = Hand("honest", Hands())
    return [Member(f"w{n}", browser, hand, weight=1.0) for n, browser in enumerate(browsers)]


def test_a_simulated_worker_without_a_hit_looks_again_once_one_is_returned():
    slot = OneSlot()
    able, unable = slot.browser(), slot.browser(has_work=False)
    was_refused = threading.Event()
    able.refused = was_refused.set
    slot.holder = unable
    # The slot is held in vain while the one who could do the task is turned away.
    unable.accept = lambda group: was_refused.wait() and Accepted("page", "frame")

    outcome = Crowd(slot_crowd(able, unable), Plan("GROUP", seed=1, threads=2)).work()

    assert (outcome.total, outcome.found_nothing) == (1, 1)


def test_a_simulated_worker_who_came_too_early_works_when_a_hit_is_offered():
    slot = OneSlot()
    crowd = slot_crowd(slot.browser())
    slot.is_open = False
    plan = Plan("GROUP", seed=1, threads=1)

    before = Crowd(crowd, plan).work()
    slot.is_open = True
    after = Crowd(crowd, plan).work()

    assert (before.total, after.total) == (0, 1)


def test_few_workers_do_most_of_the_work():
    browser, hand = WorkerBrowser("http://127.0.0.1/"), Hand("honest", Linker(frozenset(), 0.0))
    names = [f"w{number}" for number in range(60)]

    crowd = members(names=names, browsers=[browser] * 60, hands=[hand] * 60, seed=2)

    weights = sorted((member.weight for member in crowd), reverse=True)
    assert sum(weights[:15]) > 0.4 * sum(weights)


def test_a_crowd_edits_texts_in_rounds(marketplace, site, settings):
    campaign = pictured(make_rounds(images=3, captions={"least_words": 6}), settings)
    reconcile(campaign)
    crowd, kinds = crowd_of(marketplace, ["r1", "r2", "r3", "r4"], campaign, careless=1)

    outcomes, _ = rounds(campaign, crowd, plan_of(campaign, OPTIONS))

    assert not any(outcome.errors for outcome in outcomes)
    assert progress(campaign).complete == 3
    judge = judge_of(campaign)
    for response in campaign.responses.select_related("worker__account", "answer", "task"):
        is_careless = kinds[response.worker.account.marketplace_id] != "honest"
        assert bool(judge(response)) == is_careless, response
