"""Create HITs at the marketplace, and do them on the task page in its frame."""

from typing import Any
from urllib.parse import urlsplit

from lxml import html

from annotate.models import Campaign
from hits.reconcile.reconciler import reconcile
from tests.factories import make_campaign

SENTENCE = "A brown dog jumps over a low wooden fence number {}."


def published(**values: Any) -> Campaign:
    """A campaign of `make_campaign` whose HITs a sync has created."""
    campaign = make_campaign(**values)
    reconcile(campaign)
    return campaign


def accept(worker, campaign):
    return worker.accept(campaign.hit_types.get().hit_type_id)


def open_page(client, frame):
    parts = urlsplit(frame.src)
    return client.get(f"{parts.path}?{parts.query}")


def fields_of(page, mark):
    """The names and values of the fields of the page's form that has the attribute."""
    text = page.content.decode()
    forms = html.fromstring(text).xpath(f"//form[@{mark}]")
    assert forms, text
    return {field.get("name"): field.get("value", "") for field in forms[0].xpath(".//*[@name]")}


def write(client, frame, text):
    """Fill in the task page's form; return the page that submits to the marketplace."""
    page = open_page(client, frame)
    fields = fields_of(page, "data-task")
    answers = {
        name: text if name.startswith("caption-") else value for name, value in fields.items()
    }
    return client.post(urlsplit(frame.src).path, answers)


def work(client, worker, campaign, number=0):
    """Do one assignment: accept, write, submit."""
    frame = accept(worker, campaign)
    fields = fields_of(write(client, frame, SENTENCE.format(number)), "data-forward")
    answer = worker.submit(fields.pop("assignmentId"), **fields)
    assert answer.ok, answer.text
    return frame


def post(worker, campaign, **fields):
    """Accept a HIT and post the fields to the marketplace without opening the task page."""
    frame = accept(worker, campaign)
    answer = worker.submit(frame.assignment_id, **fields)
    assert answer.ok, answer.text
    return frame
