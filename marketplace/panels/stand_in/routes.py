"""The stand-in's answers: a function from a request to a status and JSON."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from . import schemas
from .state import Refused, World


class Answer(NamedTuple):
    status: int
    content: Any = None
    headers: Mapping[str, str] = {}


Handler = Callable[..., Answer]
Schema = dict[str, Any]
PREFIX = "/api/v1"
SUBSCRIPTIONS = r"/hooks/subscriptions/\?workspace_id=ID&is_enabled=(true|false)"


class Routes:
    """The API over a world. Requests are checked against their schemas first."""

    def __init__(self, world: World, *, token: str) -> None:
        self.world, self.token = world, token
        found: list[tuple[str, str, Handler, Schema | None]] = [
            ("GET", "/studies/", self.studies, None),
            ("GET", "/projects/ID/studies/", self.studies_of_project, None),
            ("POST", "/studies/", self.create_study, schemas.CREATE_STUDY),
            ("GET", "/studies/ID/", self.study, None),
            ("PATCH", "/studies/ID/", self.update_study, schemas.UPDATE_STUDY),
            ("POST", "/studies/ID/transition/", self.move_study, schemas.STUDY_TRANSITION),
            ("GET", "/studies/ID/submissions/", self.submissions, None),
            ("GET", "/studies/ID/cost/", self.spent, None),
            ("POST", "/study-cost-calculator/", self.cost, schemas.COST),
            ("GET", "/workspaces/ID/balance/", self.balance, None),
            ("GET", "/submissions/ID/", self.submission, None),
            ("POST", "/submissions/ID/transition/", self.move, schemas.SUBMISSION_TRANSITION),
            ("POST", "/submissions/ID/request-return/", self.ask, schemas.REQUEST_RETURN),
            ("POST", "/submissions/bulk-approve/", self.bulk_approve, schemas.BULK_APPROVE),
            ("POST", "/submissions/bonus-payments/", self.set_up, schemas.SET_UP_BONUSES),
            ("POST", "/bulk-bonus-payments/ID/pay/", self.pay, None),
            ("GET", r"/hooks/secrets/\?workspace_id=ID", self.secrets, None),
            ("POST", "/hooks/secrets/", self.make_secret, schemas.CREATE_SECRET),
            ("GET", SUBSCRIPTIONS, self.subscriptions, None),
            ("POST", "/hooks/subscriptions/", self.subscribe, schemas.SUBSCRIBE),
            ("POST", "/hooks/subscriptions/ID/", self.confirm, schemas.CONFIRM),
            ("DELETE", "/hooks/subscriptions/ID/", self.unsubscribe, None),
        ]
        self.table = [
            (method, re.compile(PREFIX + path.replace("ID", "([0-9a-f]{24})")), handler, schema)
            for method, path, handler, schema in found
        ]

    def answer(self, method: str, path: str, authorization: str, body: Any) -> Answer:
        """The answer to a request of the API. The path includes the query string."""
        try:
            if authorization != f"Token {self.token}":
                raise Refused(401, "No valid token was provided.")
            for verb, pattern, handler, schema in self.table:
                match = pattern.fullmatch(path)
                if match and verb == method:
                    problem = schemas.problem_in(body, schema) if schema else ""
                    if problem:
                        raise Refused(400, problem)
                    return handler(*match.groups(), *([body] if schema else []))
            raise Refused(404, "There is no such resource.")
        except Refused as error:
            detail = {"status": error.status, "error_code": 140000, "title": "Bad request",
                      "detail": str(error)}  # fmt: skip
            return Answer(error.status, {"error": detail})

    def studies(self) -> Answer:
        return Answer(200, {"results": [each.shown() for each in self.world.studies.values()]})

    def studies_of_project(self, _project: str) -> Answer:
        return self.studies()

    def create_study(self, body: dict[str, Any]) -> Answer:
        return Answer(201, self.world.create(dict(body)).shown())

    def study(self, study_id: str) -> Answer:
        return Answer(200, self.world.study(study_id).shown())

    def update_study(self, study_id: str, body: dict[str, Any]) -> Answer:
        study = self.world.study(study_id)
        if "total_available_places" in body:
            self.world.set_places(study, int(body["total_available_places"]))
        return Answer(200, study.shown())

    def move_study(self, study_id: str, body: dict[str, Any]) -> Answer:
        study = self.world.study(study_id)
        self.world.move_study(study, body["action"])
        return Answer(200, study.shown())

    def submissions(self, study_id: str) -> Answer:
        rows = self.world.of_study(self.world.study(study_id))
        return Answer(200, {"results": [each.shown() for each in rows]})

    def spent(self, study_id: str) -> Answer:
        cents = self.world.spent(self.world.study(study_id))

        def amounts(rewards: str, fees: str, tax: str) -> dict[str, Any]:
            parts = {"rewards": rewards, "fees": fees, "tax": tax}
            return {name: {"amount": cents[key], "currency": "USD"} for name, key in parts.items()}

        content = {
            "rewards": amounts("rewards", "reward_fees", "reward_tax"),
            "bonuses": amounts("bonuses", "bonus_fees", "bonus_tax"),
        }
        return Answer(200, content)

    def cost(self, body: dict[str, Any]) -> Answer:
        total = self.world.cost(int(body["reward"]), int(body["total_available_places"]))
        return Answer(200, {"total_cost": total})

    def balance(self, workspace: str) -> Answer:
        self.world.check_workspace(workspace)
        balance = self.world.balance
        return Answer(
            200,
            {"currency_code": "USD", "total_balance": balance, "available_balance": balance},
        )

    def submission(self, submission_id: str) -> Answer:
        return Answer(200, self.world.submission(submission_id).shown_alone())

    def move(self, submission_id: str, body: dict[str, Any]) -> Answer:
        submission = self.world.submission(submission_id)
        if body["action"] == "APPROVE":
            self.world.approve(submission)
        elif body["action"] == "REJECT":
            self.world.reject(submission, body["message"])
        else:
            raise Refused(400, f"{body['action']} is not possible for this submission.")
        return Answer(200, submission.shown_alone())

    def ask(self, submission_id: str, body: dict[str, Any]) -> Answer:
        submission = self.world.submission(submission_id)
        self.world.request_return(submission, " ".join(body["request_return_reasons"]))
        return Answer(200, {"id": submission.id, "status": submission.status})

    def bulk_approve(self, body: dict[str, Any]) -> Answer:
        found = [self.world.submission(each) for each in body["submission_ids"]]
        for submission in found:
            if submission.status not in ("AWAITING REVIEW", "APPROVED"):
                raise Refused(400, f"A submission is {submission.status}.")
        for submission in found:
            self.world.approve(submission)
        return Answer(200, "The request to bulk approve has been made successfully.")

    def set_up(self, body: dict[str, Any]) -> Answer:
        lines = [line.split(",") for line in body["csv_bonuses"].split("\n")]
        amounts = [(each, int(Decimal(text) * 100)) for each, text in lines]
        study = self.world.study(body["study_id"])
        bulk = self.world.set_up_bonuses(study, amounts)
        amount = sum(bulk.amounts.values())
        content = {
            "id": bulk.id,
            "study": study.id,
            "amount": amount,
            "fees": bulk.fees,
            "vat": bulk.vat,
            "total_amount": amount + bulk.fees + bulk.vat,
        }
        return Answer(201, content)

    def pay(self, bulk_id: str) -> Answer:
        self.world.pay_bonuses(bulk_id)
        return Answer(202, "The bonuses are being paid.")

    def secrets(self, workspace: str) -> Answer:
        self.world.check_workspace(workspace)
        secret = self.world.hooks.secret
        return Answer(200, {"results": [_secret(workspace, secret)] if secret else []})

    def make_secret(self, body: dict[str, Any]) -> Answer:
        workspace = body["workspace_id"]
        return Answer(201, _secret(workspace, self.world.make_secret(workspace)))

    def subscriptions(self, workspace: str, is_enabled: str) -> Answer:
        self.world.check_workspace(workspace)
        rows = [each.shown() for each in self.world.hooks.subscriptions.values()]
        wanted = is_enabled == "true"
        return Answer(200, {"results": [row for row in rows if row["is_enabled"] == wanted]})

    def subscribe(self, body: dict[str, Any]) -> Answer:
        made = self.world.subscribe(body["event_type"], body["target_url"], body["workspace_id"])
        return Answer(201, {"results": [made.shown()]}, {"X-Hook-Secret": made.secret})

    def confirm(self, subscription_id: str, body: dict[str, Any]) -> Answer:
        return Answer(200, self.world.confirm(subscription_id, body["secret"]).shown())

    def unsubscribe(self, subscription_id: str) -> Answer:
        self.world.unsubscribe(subscription_id)
        return Answer(204)


def _secret(workspace: str, value: str) -> dict[str, str]:
    return {"id": workspace, "value": value, "workspace_id": workspace}
