"""Open and send task pages with Django's client, without a marketplace."""

from urllib.parse import urlencode

from lxml import html

from hits.mturk.replies import ListedAssignment
from tests.factories import NOON

ORIGIN = "http://127.0.0.1:8001"
# Captions so different that none counts as a copy of another.
SENTENCES = (
    "A brown dog jumps over a low wooden fence in a garden.",
    "Two children build a castle of wet sand near the sea.",
    "An old man repairs the front wheel of his bicycle indoors.",
    "Several boats with white sails cross a wide and quiet lake.",
    "A woman in a red coat waits alone for the evening train.",
    "Fresh bread and yellow cheese lie on a round kitchen table.",
    "Three horses graze behind a stone wall on a green hill.",
    "A cook pours hot soup from a pot into small blue bowls.",
    "Snow covers every parked car along this narrow city street.",
)
SENTENCE = SENTENCES[0]


def address(hit, **parameters):
    given = {
        "assignmentId": "ASSIGNMENT1",
        "hitId": hit.hit_id,
        "workerId": "AWORKER1",
        "turkSubmitTo": ORIGIN,
        **parameters,
    }
    query = urlencode({name: value for name, value in given.items() if value is not None})
    return f"/task/{hit.campaign.slug}/?{query}"


def open_page(client, hit, assignment, worker):
    return client.get(address(hit, assignmentId=assignment, workerId=worker, turkSubmitTo=None))


def form_fields(page):
    text = page.content.decode()
    forms = html.fromstring(text).xpath("//form[@data-task]")
    assert forms, text
    fields = forms[0].xpath(".//*[@name][not(@type = 'checkbox')]")
    return {field.get("name"): field.get("value", "") for field in fields}


def send(client, hit, page, text=SENTENCE):
    fields = form_fields(page)
    filled = {n: text if n.startswith("caption-") else value for n, value in fields.items()}
    return client.post(f"/task/{hit.campaign.slug}/", filled)


def listed(assignment, worker, **fields):
    """The assignment as the marketplace lists it after submission."""
    answers = "".join(
        f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier>"
        f"<FreeText>{text}</FreeText></Answer>"
        for name, text in fields.items()
    )
    return ListedAssignment(
        AssignmentId=assignment,
        HITId="HIT",
        WorkerId=worker,
        AssignmentStatus="Submitted",
        SubmitTime=NOON,
        Answer=f"<QuestionFormAnswers>{answers}</QuestionFormAnswers>",
    )
