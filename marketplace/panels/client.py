"""Prolific's API, by the kept library for HTTP.

Only requests that read are repeated here. Whether one that changes something may be repeated is
known to its caller.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import requests
from django.conf import settings
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from marketplace.panels import panel
from marketplace.panels.models import PanelStudy
from marketplace.panels.panel import (
    LONGEST_PROBLEM,
    BonusesSetUp,
    CodeKind,
    PanelNotFound,
    PanelRefused,
    PanelUnclear,
    Spent,
    StudyAction,
    StudyThere,
    SubmissionStatus,
    SubmissionThere,
    Subscription,
)

# Seconds to connect, and between two parts of an answer.
TIMEOUT = (5, 30)
READ_AGAIN = Retry(
    total=3,
    backoff_factor=0.5,
    status_forcelist=(429, 500, 502, 503, 504),
    allowed_methods=("GET",),
    raise_on_status=False,
)
# The reference recommends these as the most of one request.
MOST_APPROVALS = 1000
MOST_BONUSES = 200
PAGE_SIZE = 100
# A place that was taken, and maybe given back, before the participant opened the study.
NOT_BEGUN = frozenset(
    {SubmissionStatus.RESERVED, SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT}
)
# Keys of "Show study cost", in the order of the fields of Spent.
SPENT_ON, SPENT_AS = ("rewards", "bonuses"), ("rewards", "fees", "tax")
# With these the request may or may not have had its effect.
UNCLEAR = frozenset({408, 425, 429})


def new_session() -> requests.Session:
    """A session that repeats reads; tests put a stand-in in its place."""
    session = requests.Session()
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=READ_AGAIN))
    return session


@dataclass
class Prolific:
    """Prolific's API for one token. Each method raises PanelRefused or PanelUnclear."""

    url: str
    token: str = field(repr=False)
    session: requests.Session = field(repr=False)
    workspace: str = ""
    project: str = ""

    def find_study(self, reference: str) -> StudyThere | None:
        """The study with this internal name."""
        path = f"projects/{self.project}/studies/" if self.project else "studies/"
        for row in self._listed(path, page_size=PAGE_SIZE, ordering="-date_created"):
            if row.get("internal_name") == reference:
                return self.study(row["id"])
        return None

    def create_draft(
        self, panel_study: PanelStudy, *, url: str, codes: Mapping[CodeKind, str]
    ) -> StudyThere:
        body = study_body(panel_study, url=url, codes=codes, project=self.project)
        return panel.study_there(self._send("POST", "studies/", body))

    def study(self, study_id: str) -> StudyThere:
        return panel.study_there(self._get(f"studies/{study_id}/"))

    def transition(self, study_id: str, action: StudyAction) -> StudyThere:
        body = {"action": str(action)}
        return panel.study_there(self._send("POST", f"studies/{study_id}/transition/", body))

    def set_places(self, study_id: str, places: int) -> StudyThere:
        body = {"total_available_places": places}
        return panel.study_there(self._send("PATCH", f"studies/{study_id}/", body))

    def balance(self) -> tuple[str, Decimal]:
        """The workspace's currency, and the amount in it that can be spent."""
        row = self._get(f"workspaces/{self.workspace}/balance/")
        return row["currency_code"], panel.amount(row["available_balance"])

    def cost(self, *, reward: Decimal, places: int) -> Decimal:
        body = {"reward": panel.cents(reward), "total_available_places": places}
        return panel.amount(self._send("POST", "study-cost-calculator/", body)["total_cost"])

    def spent(self, study_id: str) -> Spent:
        row = self._get(f"studies/{study_id}/cost/")
        parts = ((row.get(of) or {}).get(part) or {} for of in SPENT_ON for part in SPENT_AS)
        return Spent(*(panel.amount(part.get("amount")) for part in parts))

    def submissions(self, study_id: str) -> tuple[list[SubmissionThere], list[str]]:
        """The study's submissions, and the ids of those that cannot be read."""
        # The reference mentions no pages here. Links to further ones are followed.
        rows = self._listed(f"studies/{study_id}/submissions/", has_pages=False)
        read, unreadable = [], []
        for row in rows:
            if not row.get("started_at") and row.get("status") in NOT_BEGUN:
                continue
            try:
                read.append(panel.submission_there(row))
            except (AttributeError, KeyError, TypeError, ValueError):
                unreadable.append(str(row["id"]))
        return read, unreadable

    def bonuses_of(self, submission_id: str) -> list[Decimal]:
        row = self._get(f"submissions/{submission_id}/")
        return [panel.amount(payment) for payment in row.get("bonus_payments") or []]

    def approve(self, submission_ids: Sequence[str]) -> None:
        self._send("POST", "submissions/bulk-approve/", {"submission_ids": list(submission_ids)})

    def ask_to_return(self, submission_id: str, reason: str) -> None:
        body = {"request_return_reasons": [reason]}
        self._send("POST", f"submissions/{submission_id}/request-return/", body)

    def reject(self, submission_id: str, *, category: str, reason: str) -> None:
        body = {"action": "REJECT", "rejection_category": category, "message": reason}
        self._send("POST", f"submissions/{submission_id}/transition/", body)

    def set_up_bonuses(self, study_id: str, amounts: Mapping[str, Decimal]) -> BonusesSetUp:
        # Decimal amounts here, never cents.
        lines = [f"{submission},{amount:.2f}" for submission, amount in amounts.items()]
        body = {"study_id": study_id, "csv_bonuses": "\n".join(lines)}
        row = self._send("POST", "submissions/bonus-payments/", body)
        charges = (panel.amount(row.get(name)) for name in ("amount", "fees", "vat"))
        return BonusesSetUp(row["id"], *charges)

    def pay_bonuses(self, bonuses_id: str) -> None:
        """Not idempotent there: each request pays."""
        self._send("POST", f"bulk-bonus-payments/{bonuses_id}/pay/")

    def hook_secret(self) -> str:
        """The secret with which hooks are signed; empty if the workspace has none."""
        rows = self._get(f"hooks/secrets/?workspace_id={self.workspace}")["results"]
        return str(rows[-1]["value"]) if rows else ""

    def make_hook_secret(self) -> str:
        """Replaces the secret of the whole workspace."""
        row = self._send("POST", "hooks/secrets/", {"workspace_id": self.workspace})
        return str(row["value"])

    def subscriptions(self) -> list[Subscription]:
        """The workspace's subscriptions, also those that Prolific has disabled."""
        subscriptions = {
            row["id"]: panel.subscription_there(row)
            for state in ("true", "false")
            for row in self._listed(
                "hooks/subscriptions/", workspace_id=self.workspace, is_enabled=state
            )
        }
        return list(subscriptions.values())

    def subscribe(self, event: str, address: str) -> Subscription:
        """Create a subscription and confirm it, as the reference requires."""
        body = {"workspace_id": self.workspace, "event_type": event, "target_url": address}
        answer, content = self._request("POST", "hooks/subscriptions/", body)
        made = panel.subscription_made(content, event=event, address=address)
        secret = {"secret": answer.headers.get("X-Hook-Secret", "")}
        return panel.subscription_there(
            self._send("POST", f"hooks/subscriptions/{made.id}/", secret)
        )

    def unsubscribe(self, subscription_id: str) -> None:
        self._send("DELETE", f"hooks/subscriptions/{subscription_id}/")

    def _get(self, path: str) -> Any:
        return self._send("GET", path)

    def _listed(self, path: str, *, has_pages: bool = True, **query: Any) -> Iterator[Any]:
        """The rows of all pages of a list, by its links to the next page or else by number."""
        number, seen, is_guess = 1, set[str](), False
        target = f"{path}?{urlencode({**query, 'page': number})}" if has_pages else path
        while target:
            try:
                answer = self._get(target)
            except PanelRefused:
                # Without following the link, the rest of the list would be missing.
                if not is_guess:
                    raise
                return  # there is no such page
            rows = [row for row in answer["results"] if row["id"] not in seen]
            yield from rows
            seen.update(row["id"] for row in rows)
            number, target, is_guess = number + 1, "", False
            links = answer.get("_links") or {}
            if not rows:
                return
            if "next" in links:
                target = ((links["next"] or {}).get("href") or "").partition("/api/v1/")[2]
            elif has_pages:
                target, is_guess = f"{path}?{urlencode({**query, 'page': number})}", True

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        return self._request(method, path, body)[1]

    def _request(self, method: str, path: str, body: Any) -> tuple[requests.Response, Any]:
        """The answer and its JSON.

        Only a status of 4xx is a refusal; the rest leaves the effect open.
        """
        headers = {"Authorization": f"Token {self.token}"}
        address = f"{self.url}/api/v1/{path}"
        try:
            answer = self.session.request(
                method, address, json=body, headers=headers, timeout=TIMEOUT, allow_redirects=False
            )
            content = answer.json() if answer.content else None
        except requests.RequestException as error:
            # Not the error's text: it contains the address, and with it ids.
            raise PanelUnclear(f"Prolific gave no answer ({type(error).__name__}).") from None
        if answer.ok and answer.status_code < 300:
            return answer, content
        problem = panel.problem_of(content, status=answer.status_code)[:LONGEST_PROBLEM]
        if answer.status_code == HTTPStatus.NOT_FOUND:
            raise PanelNotFound(f"Prolific refused: {problem}")
        if 400 <= answer.status_code < 500 and answer.status_code not in UNCLEAR:
            raise PanelRefused(f"Prolific refused: {problem}")
        raise PanelUnclear(f"Prolific answered with status {answer.status_code}: {problem}")


def study_body(
    panel_study: PanelStudy, *, url: str, codes: Mapping[CodeKind, str], project: str
) -> dict[str, Any]:
    """The body of "Create a draft study"."""
    study = panel_study.study
    body: dict[str, Any] = {
        "name": study.name,
        "internal_name": panel_study.reference,
        "description": panel_study.description,
        "external_study_url": url,
        "prolific_id_option": "url_parameters",
        "completion_codes": [_code(panel_study, *code) for code in codes.items()],
        "total_available_places": panel_study.places,
        "estimated_completion_time": panel_study.minutes,
        "maximum_allowed_time": panel.least_allowed_minutes(panel_study.minutes),
        "reward": panel.cents(panel_study.reward),
        "device_compatibility": list(panel_study.devices),
        "filters": [dict(panel_filter) for panel_filter in panel_study.filters],
    }
    if panel_study.is_signed:
        body["is_external_study_url_secure"] = True
    if project:
        body["project"] = project
    return body


def _code(panel_study: PanelStudy, kind: CodeKind, code: str) -> dict[str, Any]:
    action: dict[str, Any]
    if kind == CodeKind.COMPLETED:
        action = {"action": "MANUALLY_REVIEW"}
    elif kind == CodeKind.SCREENED_OUT and panel_study.screen_out_places:
        action = {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": panel.cents(panel_study.screen_out_reward),
            "slots": panel_study.screen_out_places,
        }
    else:
        action = {"action": "REQUEST_RETURN", "return_reason": panel.RETURN_REASONS[kind]}
    return {
        "code": code,
        "code_type": panel.CODE_TYPES[kind],
        "actions": [action],
        "actor": "participant",
    }


def prolific() -> Prolific:
    """Prolific with the token of the environment; raises PanelRefused without one."""
    if not settings.PROLIFIC_API_TOKEN:
        raise PanelRefused("Set PROLIFIC_API_TOKEN, and start the marketplace again.")
    return Prolific(
        url=settings.PROLIFIC_API_URL,
        token=settings.PROLIFIC_API_TOKEN,
        session=new_session(),
        workspace=settings.PROLIFIC_WORKSPACE,
        project=settings.PROLIFIC_PROJECT,
    )
