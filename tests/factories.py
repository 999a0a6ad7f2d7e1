"""Factories of valid rows with default values.

The numbers in ids of the marketplace begin with a zero, so that none is an id that a test writes,
such as HIT1.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import factory
from django.contrib.auth import get_user_model

from accounts.models import Membership, Team, TeamRole
from accounts.services.teams import first_team
from annotate.campaign_file import CampaignConfig
from annotate.kinds.campaign_files import parse_config
from annotate.models import (
    Box,
    Campaign,
    Caption,
    CaptionSet,
    Correspondence,
    GivenCaption,
    Image,
    ImageSource,
    ObjectClass,
    Response,
    ResponseStatus,
    SelectedImage,
    Selection,
    Submission,
    Task,
    Worker,
)
from annotate.services.responses import add_to_missing, move_places
from hits.models import Assignment, Claim, Hit, HitStatus, HitType, TaskPage, WorkerAccount
from qualcontrol.models import Exclusion, SpotCheck

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


def config(**values: object) -> CampaignConfig:
    """A checked campaign file with the nocaps preset; keyword arguments are its keys."""
    file = {"name": "scenes", "preset": "nocaps", "selection": "scenes", "budget": "1000.00"}
    return parse_config({**file, **values})


class TeamFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Team

    slug = factory.Sequence("team-{}".format)
    name = factory.LazyAttribute(lambda team: team.slug.capitalize())
    created_at = NOON


class UserFactory(factory.django.DjangoModelFactory):
    """A researcher of the first team.

    `team=other` makes a member of another team, `team__role="VIEWER"` gives another role, and
    `team=False` makes a user without a team.
    """

    class Meta:
        model = get_user_model()
        skip_postgeneration_save = True

    username = factory.Sequence("reviewer{}".format)

    @factory.post_generation
    def team(self, create, extracted, **kwargs):
        if create and extracted is not False:
            role = TeamRole(kwargs.get("role", TeamRole.RESEARCHER))
            team = extracted or first_team(at=NOON)
            Membership.objects.create(team=team, user=self, role=role, joined_at=NOON)


class ClassFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = ObjectClass

    label = factory.Sequence("/m/0{}".format)
    name = factory.Sequence("Class {}".format)


class ImageFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Image

    source = ImageSource.OPEN_IMAGES
    key = factory.Sequence("{:016x}".format)
    split = "validation"
    rotation = 0
    width = 1024
    height = 768
    url = factory.LazyAttribute(lambda image: f"https://images.example/{image.key}.jpg")


class BoxFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Box

    image = factory.SubFactory(ImageFactory)
    object_class = factory.SubFactory(ClassFactory)
    x_min = 0.1
    x_max = 0.4
    y_min = 0.2
    y_max = 0.8


class SelectionFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Selection
        skip_postgeneration_save = True

    team = factory.LazyFunction(lambda: first_team(at=NOON))
    name = factory.Sequence("scenes-{}".format)
    split = "validation"
    count = 0
    sample = 10
    seed = 0
    created_at = NOON

    @factory.post_generation
    def images(self, create, extracted, **kwargs):
        """`images=3` creates and selects three images, `images=[…]` selects these."""
        if not create or not extracted:
            return
        images = ImageFactory.create_batch(extracted) if isinstance(extracted, int) else extracted
        SelectedImage.objects.bulk_create(
            SelectedImage(selection=self, image=image, position=position)
            for position, image in enumerate(images, start=1)
        )


class CampaignFactory(factory.django.DjangoModelFactory):
    """A campaign; `config={…}` sets keys of the campaign file, `tasks=N` creates N tasks.

    Unless `config` says otherwise, no response is drawn for the random sample. Which ones are drawn
    depends on their keys, which no test knows.
    """

    class Meta:
        model = Campaign
        skip_postgeneration_save = True
        exclude = ["config"]

    config: dict = {}
    team = factory.LazyFunction(lambda: first_team(at=NOON))
    slug = factory.Sequence("campaign-{}".format)
    kind = "caption"
    selection = factory.SubFactory(SelectionFactory)
    status = "RUNNING"
    endpoint = "local"
    budget = Decimal("1000.00")
    created_at = NOON
    config_json = factory.LazyAttribute(
        lambda campaign: config(
            name=campaign.slug,
            selection=campaign.selection.name,
            **{**campaign.config, "review": {"share": 0, **campaign.config.get("review", {})}},
        ).model_dump(mode="json")
    )

    @factory.post_generation
    def tasks(self, create, extracted, **kwargs):
        if create and extracted:
            TaskFactory.create_batch(extracted, campaign=self)


class TaskFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Task

    campaign = factory.SubFactory(CampaignFactory)
    image = factory.SubFactory(ImageFactory)
    number = factory.Sequence(lambda n: n + 1)
    wanted = factory.LazyAttribute(lambda task: task.campaign.config.wanted)
    answers_missing = factory.SelfAttribute("wanted")
    places_left = factory.SelfAttribute("answers_missing")


class CaptionSetFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = CaptionSet

    team = factory.LazyFunction(lambda: first_team(at=NOON))
    name = factory.Sequence("sentences-{}".format)
    created_at = NOON


class GivenCaptionFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = GivenCaption

    caption_set = factory.SubFactory(CaptionSetFactory)
    image = factory.SubFactory(ImageFactory)
    number = factory.Sequence(lambda n: n + 1)
    annotation_id = factory.SelfAttribute("number")
    text = "A man feeds a dog in front of a red car."


class LinkCampaignFactory(CampaignFactory):
    """A campaign of word–box links on a caption set."""

    kind = "correspondence"
    selection = None
    caption_set = factory.SubFactory(CaptionSetFactory)
    config_json = factory.LazyAttribute(
        lambda campaign: parse_config(
            {
                "name": campaign.slug,
                "preset": "imageclef",
                "caption_set": campaign.caption_set.name,
                "budget": "1000.00",
                **campaign.config,
            }
        ).model_dump(mode="json")
    )


class LinkTaskFactory(TaskFactory):
    """A task about a caption; `boxes=["Dog", …]` gives its image boxes from left to right."""

    class Meta:
        skip_postgeneration_save = True

    campaign = factory.SubFactory(LinkCampaignFactory)
    subject = factory.SubFactory(
        GivenCaptionFactory, caption_set=factory.SelfAttribute("..campaign.caption_set")
    )
    image = factory.SelfAttribute("subject.image")
    number = factory.SelfAttribute("subject.number")
    shows_keywords = False

    @factory.post_generation
    def boxes(self, create, extracted, **kwargs):
        for place, name in enumerate(extracted or []):
            object_class = ObjectClass.objects.filter(name=name).first() or ClassFactory(name=name)
            left = place / 10
            BoxFactory(image=self.image, object_class=object_class, x_min=left, x_max=left + 0.1)


class WorkerFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Worker


class ResponseFactory(factory.django.DjangoModelFactory):
    """A submitted response with its caption (`text=…`), perhaps of an `assignment`; its task has
    one place less."""

    class Meta:
        model = Response
        skip_postgeneration_save = True

    class Params:
        assignment = None

    task = factory.SubFactory(TaskFactory)
    campaign = factory.SelfAttribute("task.campaign")
    worker = factory.SubFactory(WorkerFactory)
    submission = factory.LazyAttribute(lambda made: made.assignment and made.assignment.submission)
    status = ResponseStatus.SUBMITTED
    submitted_at = NOON
    seconds = 60

    @factory.post_generation
    def text(self, create, extracted, **kwargs):
        if create:
            text = extracted or f"A brown dog runs after a red ball across field {self.pk}."
            Caption.objects.create(response=self, text=text)

    @factory.post_generation
    def place(self, create, extracted, **kwargs):
        if create and self.status == ResponseStatus.SUBMITTED:
            add_to_missing([self.task_id], -1)
            self.task.refresh_from_db(fields=["answers_missing", "places_left"])


class LinkResponseFactory(ResponseFactory):
    """A submitted response of links (`words={"1": [box.pk]}`); its task has one place less."""

    class Meta:
        skip_postgeneration_save = True

    task = factory.SubFactory(LinkTaskFactory)

    @factory.post_generation
    def text(self, create, extracted, **kwargs):
        """No caption."""

    @factory.post_generation
    def words(self, create, extracted, **kwargs):
        if create:
            Correspondence.objects.create(response=self, words=extracted or {"0": "not-visual"})


class SpotCheckFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = SpotCheck

    response = factory.SubFactory(ResponseFactory)
    campaign = factory.SelfAttribute("response.task.campaign")
    drawn_at = NOON


class WorkerAccountFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = WorkerAccount

    worker = factory.SubFactory(WorkerFactory)
    endpoint = "local"
    marketplace_id = factory.Sequence("AWORKER0{}".format)


class HitTypeFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = HitType

    campaign = factory.SubFactory(CampaignFactory)
    hit_type_id = factory.Sequence("TYPE0{}".format)
    exclusion_type_id = factory.Sequence("EXCLUSION{}".format)
    created_at = NOON


class HitFactory(factory.django.DjangoModelFactory):
    """An open HIT with nine free slots."""

    class Meta:
        model = Hit

    hit_type = factory.SubFactory(HitTypeFactory)
    campaign = factory.SelfAttribute("hit_type.campaign")
    token = factory.Sequence("token-{}".format)
    hit_id = factory.Sequence("HIT0{}".format)
    status = HitStatus.OPEN
    slots = 9
    available = factory.SelfAttribute("slots")
    reward = Decimal("0.10")
    fee = Decimal("0.02")
    planned_at = NOON
    expires_at = NOON + timedelta(days=7)


class TaskPageFactory(factory.django.DjangoModelFactory):
    """A page that was opened at noon and is valid for an hour."""

    class Meta:
        model = TaskPage

    hit = factory.SubFactory(HitFactory)
    assignment_id = factory.Sequence("PAGE{}".format)
    marketplace_id = factory.Sequence("APAGE{}".format)
    opened_at = NOON
    expires_at = factory.LazyAttribute(lambda page: page.opened_at + timedelta(hours=1))


class ClaimFactory(factory.django.DjangoModelFactory):
    """A claim by a page of the task's campaign; the task has one place less."""

    class Meta:
        model = Claim
        skip_postgeneration_save = True

    task = factory.SubFactory(TaskFactory)
    page = factory.SubFactory(
        TaskPageFactory, hit__hit_type__campaign=factory.SelfAttribute("....task.campaign")
    )

    @factory.post_generation
    def place(self, create, extracted, **kwargs):
        if create:
            move_places(Counter({self.task_id: -1}))
            self.task.refresh_from_db(fields=["answers_missing", "places_left"])


class AssignmentFactory(factory.django.DjangoModelFactory):
    """A submitted assignment; pass `status` and `decided_at` for a decided one."""

    class Meta:
        model = Assignment

    submission = factory.LazyFunction(Submission.objects.create)
    hit = factory.SubFactory(HitFactory)
    account = factory.SubFactory(WorkerAccountFactory)
    assignment_id = factory.Sequence("ASSIGNMENT0{}".format)
    submitted_at = NOON


class ExclusionFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Exclusion

    campaign = factory.SubFactory(CampaignFactory)
    worker = factory.SubFactory(WorkerFactory)
    reason = "lists of keywords"
    excluded_at = NOON


def make_campaign(*, tasks: int, status: str = "RUNNING", **config: object) -> Campaign:
    """A campaign with three responses per image, which are approved immediately."""
    review = {"share": 0, "first": 0, "approve_after_hours": 0}
    values = {"references": 2, "budget": "50.00", "review": review, **config}
    return CampaignFactory(status=status, tasks=tasks, config=values)
