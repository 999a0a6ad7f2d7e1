"""The API's schema, and pages that show it and send requests."""

from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core import exceptions
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotAuthenticated, PermissionDenied
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.settings import api_settings

from accounts.api.schema import written


class SchemaView(SpectacularAPIView):
    """The API's schema, which holds no data: generators of clients read it without an account."""

    permission_classes: Any = [AllowAny]
    authentication_classes: Any = []

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        renderer = type(request.accepted_renderer)
        return HttpResponse(written(renderer), content_type=renderer.media_type)


class DocumentationView(SpectacularSwaggerSplitView):
    """The API's documentation, made from its schema. All its files come from this site."""

    permission_classes: Any = api_settings.DEFAULT_PERMISSION_CLASSES
    url_name = "api-schema"
    template_name = "annotate/api_documentation.html"

    def handle_exception(self, error: Exception) -> Any:
        """Answer like the other pages, because people open this one."""
        if isinstance(error, NotAuthenticated):
            return redirect_to_login(self.request.get_full_path())
        if isinstance(error, PermissionDenied):
            raise exceptions.PermissionDenied from error
        return super().handle_exception(error)


TAGS = {
    "campaigns": "Campaigns: progress, responses, workers, checks, decisions and payments.",
    "challenges": "The evaluation server: challenges, submissions and boards.",
    "images": "Images: upload and list them.",
    "imports": "Imports of photographs and datasets by jobs.",
    "jobs": "Work in the background.",
    "releases": "Releases and their files.",
    "selections": "Chosen images, on which campaigns work.",
    "token": "Tokens for programs.",
}
# Of a path parameter, by the tag of its operation; or by its name alone.
PARAMETERS = {
    "releases.name": "name of the release",
    "selections.name": "name of the selection",
    "challenges.name": "name of the challenge",
    "slug": "name of the campaign",
    "pseudonym": "pseudonym of the worker",
    "id": "id of the row, as its list has it",
    "key": "key or id of the row, as its list has it",
    "file": "name of the file",
    "file_format": "name of the format",
    "track": "the board of this track",
}
FIELDS = {
    "answer": "what was answered; empty before",
    "answered_at": "when it was answered; null before",
    "answers_missing": "responses that are still missing",
    "act": "what was done",
    "cannot_describe": "why the image cannot be described, if the worker says so; or empty",
    "amount": "US dollars, without the fee",
    "asked_at": "when it was requested",
    "assignments": "assignments at the marketplace",
    "at": "when",
    "bonuses": "bonuses, in US dollars",
    "boxes": "boxes on the image",
    "budget": "the most that the campaign may spend",
    "campaign": "name of the campaign",
    "caption_set": "name of the set of captions that it works on",
    "cause": "why it is held, for programs",
    "closes_at": "when submissions end",
    "committed": "paid, owed and open together",
    "complete": "tasks with all their responses",
    "confirmed": "true: real money may be spent",
    "count": "how many",
    "created_at": "when it was made",
    "description": "in full, for people",
    "discarded": "responses that do not count",
    "dollars_per_hour": "expected pay for an hour of work, in US dollars",
    "done": "how far it is, of `total`",
    "drawn_at": "when it was drawn for review",
    "effect": "how much it changes the risk; above 0 it raises it",
    "ended_at": "when it ended; null before",
    "endpoint": "the marketplace that it was made for",
    "error": "what went wrong; empty if nothing did",
    "expires_at": "when it ends",
    "family": "the campaigns in several languages that were made of one file; empty for one",
    "fee": "the marketplace's fee, in US dollars",
    "fees": "fees together, in US dollars",
    "finished_at": "when it ended; null before",
    "height": "in pixels",
    "held_at": "since when it is held",
    "hits": "HITs at the marketplace",
    "hits_created": "HITs that were created",
    "hits_retired": "HITs that were closed",
    "hours_of_work": "expected hours of work together",
    "id": "names it in addresses",
    "image": "key of the image",
    "image_url": "where the image can be seen",
    "images": "how many images it has",
    "in_total": "submissions that are allowed together",
    "ingested": "submissions that were read",
    "is_being_cancelled": "whether somebody has cancelled it and it has not stopped yet",
    "is_granted": "whether the worker was reinstated; null before the answer",
    "is_on": "whether it gets notices",
    "is_partial": "whether it may lack images or verdicts",
    "is_waiting": "whether a sync waits or runs",
    "judged_at": "when it was judged; null before",
    "keywords": "words that workers saw beside the image",
    "kind": "type of the job, campaign or notice",
    "last": "the latest one; null before the first",
    "least_per_hour": "the panel's minimum for an hour, in US dollars",
    "left": "what is left of the budget",
    "limits": "your limits, and how much of them is used",
    "log": "what was said while it ran",
    "median_seconds": "median time of a response, in seconds",
    "method": "name of the method",
    "name": "its name: letters, digits, hyphens and underscores",
    "next": "address of the next page; null on the last",
    "open": "what open assignments can still cost",
    "opens_at": "when submissions begin",
    "open_spot_checks": "checks that would be closed",
    "owed": "what submitted work still costs",
    "paid": "what was paid",
    "password": "the account's password",
    "pay": "pay by the measured times; null if your role sees no money",
    "per_day": "submissions that are allowed in a day",
    "per_hour": "US dollars for an hour",
    "planned_at": "when it was planned",
    "previous": "address of the previous page; null on the first",
    "problems": "how many HITs or replies were not read",
    "procedure": "how the images are chosen",
    "progress": "how far it is",
    "pseudonym": "names the worker in the campaign's team",
    "question": "what the reviewer asks",
    "reason": "the reason, in words",
    "reasons": "reasons for the risk, the strongest first",
    "received_at": "when it was received",
    "recipients": "workers to whom it is sent",
    "refusal": "why it is not paid, in the marketplace's words; empty if it was not refused",
    "rejected": "assignments that were rejected",
    "approved": "assignments that were approved",
    "response": "id of the response",
    "result_text": "what it did, in words",
    "result_url": "where the result is; empty if there is none",
    "results": "the rows of this page",
    "reward": "reward of one assignment, in US dollars",
    "rewards": "rewards together, in US dollars",
    "scopes": "what the token may do",
    "seconds": "seconds from opening the page to submitting; null if it is not known",
    "seed": "makes random choices repeatable",
    "selection": "name of the selection that it works on",
    "sent": "workers who have got it",
    "sent_at": "when it was sent; null before",
    "sentence": "the reason, in words",
    "sha256": "of the file that was submitted",
    "shows_keywords": "whether the task shows keywords",
    "slug": "name of the campaign, in addresses",
    "source": "the sort of dataset that it came from",
    "spend": "money, with fees; null if your role sees no money",
    "split": "the group of images that it belongs to",
    "started_at": "when it started; null before",
    "state": "what the campaign does with the worker",
    "status": "the state that it is in",
    "subject": "the subject of the message",
    "submitted": "responses that were submitted and count",
    "submitted_at": "when it was submitted",
    "tasks": "how many tasks there are",
    "tasks_reopened": "tasks that would need responses again",
    "tax": "tax on the fee, in US dollars",
    "team": "who submitted it",
    "text": "the text",
    "title": "in words",
    "token": "the token's text",
    "tokeniser": "how captions are divided into words",
    "total": "all of it together",
    "track": "whether only the given data was used (PLAIN) or more (EXTRA)",
    "tracks": "the tracks that it has",
    "training_data": "the data that the method was trained on",
    "url": "its address",
    "used": "submissions so far",
    "used_today": "submissions of the last day",
    "username": "the account's name",
    "verdict": "GOOD, BAD, or empty before it is judged",
    "wanted": "responses that are wanted",
    "why": "why it is held, in words",
    "width": "in pixels",
    "withdrawn_because": "why it was withdrawn; empty if it was not",
    "worker": "pseudonym of the worker",
}


def describe(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A hook of drf-spectacular: add the descriptions that are missing."""
    for operations in result["paths"].values():
        for operation in operations.values():
            operation.setdefault("description", f"{operation.get('summary', '')}.")
            for parameter in operation.get("parameters", []):
                name = parameter["name"]
                of_tag = PARAMETERS.get(f"{operation['tags'][0]}.{name}")
                description = of_tag or PARAMETERS.get(name)
                if description is not None:
                    parameter.setdefault("description", description)
    for schema in result["components"]["schemas"].values():
        properties = schema.get("properties", {})
        for name, value in properties.items():
            if name in FIELDS and "description" not in value:
                whole = {"allOf": [value]} if "$ref" in value else value
                properties[name] = {**whole, "description": FIELDS[name]}
    result["tags"] = [{"name": name, "description": about} for name, about in TAGS.items()]
    return result
