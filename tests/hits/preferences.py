"""Campaigns that compare the captions of three models, and their answers."""

from annotate.kinds import KINDS
from annotate.kinds.campaign_files import parse_config
from annotate.kinds.preference.pairs import candidates
from annotate.models import Response
from annotate.services.campaigns import create_campaign
from tests.factories import (
    NOON,
    CaptionSetFactory,
    GivenCaptionFactory,
    ResponseFactory,
    SelectionFactory,
)

UNCHECKED = {"share": 0, "first": 0, "approve_after_hours": 0}
PREFERENCES = KINDS["preference"]


# From the best to the worst.
MODELS = ["good", "fair", "poor"]


def make_campaign(*, images=6, same_text=(), **preference):
    selection = SelectionFactory(images=images)
    sets = [CaptionSetFactory(name=name) for name in MODELS]
    for image in selection.images.all():
        for given in sets:
            text = "the same words" if given.name in same_text else f"this is text {given.pk} of it"
            GivenCaptionFactory(caption_set=given, image=image, text=text)
    values = {
        "name": "compare",
        "kind": "preference",
        "selection": selection.name,
        "budget": "50.00",
        "responses": 2,
        "review": UNCHECKED,
        "preference": {
            "sources": [{"name": name, "caption_set": name} for name in MODELS],
            **preference,
        },
    }
    campaign = create_campaign(config=parse_config(values), endpoint="local", at=NOON)
    type(campaign).objects.update(status="RUNNING")
    return type(campaign).objects.get(slug="compare")


def respond(task, step):
    """A response in which every comparison has this step for the better source's side."""
    response = Response.objects.create(
        campaign=task.campaign, task=task, worker=ResponseFactory().worker, submitted_at=NOON
    )
    answer = {
        str(number): {"better": step if best_is_a(pair) else 6 - step}
        for number, pair in enumerate(task.payload["pairs"], start=1)
    }
    PREFERENCES.store([(response, answer)])
    return response


def compare(task, number):
    """Compare this one of the three pairs, whichever was drawn."""
    pairs = candidates(task.payload["captions"], "")
    task.payload["pairs"] = [sorted(pairs, key=lambda pair: sorted(pair["sources"]))[number]]
    task.save()


def best_is_a(pair):
    one, other = (MODELS.index(names[0]) for names in pair["sources"])
    return one < other


def shown_pairs(task):
    return {tuple(sorted(names[0] for names in pair["sources"])) for pair in task.payload["pairs"]}
