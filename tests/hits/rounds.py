"""Campaigns of captions in rounds, and a worker who writes in them."""

from annotate.kinds.campaign_files import parse_config
from annotate.models import Response, ResponseStatus
from annotate.services.campaigns import create_campaign
from tests.factories import (
    NOON,
    CaptionSetFactory,
    GivenCaptionFactory,
    HitFactory,
    HitTypeFactory,
    SelectionFactory,
    WorkerAccountFactory,
)
from tests.hits.opened_pages import form_fields, listed, open_page
from tests.submitted import take_submission

DRAFT = "A dog lies on the grass."
FIRST = "A brown dog lies on the grass."
SECOND = "A brown dog lies on the green grass near a tree."
THIRD = "A brown dog with a red collar lies on the green grass near a tree."


def make_campaign(*, draft=DRAFT, images=1, review=None, captions=None, language="en", **rules):
    selection, drafts = SelectionFactory(images=images), CaptionSetFactory()
    if draft:
        for image in selection.images.all():
            GivenCaptionFactory(caption_set=drafts, image=image, text=draft)
        rules["draft_set"] = drafts.name
    values = {
        "name": f"rounds-{selection.pk}",
        "kind": "refine",
        "selection": selection.name,
        "budget": "50",
        "language": language,
        "captions": captions or {"least_words": 3},
        "review": {"first": 0, "share": 0, "approve_after_hours": 0} | (review or {}),
        "refine": {"rounds": 3, **rules},
    }
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    campaign.status = "RUNNING"
    campaign.save()
    return campaign


class Writer:
    """A worker with a page of their own, in a HIT of their own."""

    assignment = "A1"

    def __init__(self, client, campaign):
        self.client, self.campaign = client, campaign
        self.account = WorkerAccountFactory()
        self.hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))

    @property
    def worker(self):
        return self.account.worker

    def open(self):
        self.page = open_page(self.client, self.hit, self.assignment, self.account.marketplace_id)
        return self.page

    def send(self, text):
        [number] = {name.rsplit("-", 1)[1] for name in form_fields(self.page) if "-" in name}
        fields = form_fields(self.page) | {f"text-{number}": text}
        address = f"/task/{self.campaign.slug}/"
        sent = self.client.post(address, fields, headers={"accept": "application/json"})
        self.fields = sent.json()["fields"]

    def ingest(self, **fields):
        take_submission(
            campaign=self.campaign,
            hit=self.hit,
            listed=listed(self.assignment, self.account.marketplace_id, **(fields or self.fields)),
            at=NOON,
        )
        return Response.objects.filter(worker=self.worker).latest("pk")

    def write(self, text):
        self.open()
        self.send(text)
        return self.ingest()


def states(*responses):
    keys = [response.pk for response in responses]
    found = dict(Response.objects.filter(pk__in=keys).values_list("pk", "status"))
    return [found[key] == ResponseStatus.SUBMITTED for key in keys]
