"""The stand-in's answers: a function from a request to a status and JSON."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from . import schemas
from .state import Refused, Study, World, new_id


class Answer(NamedTuple):
    status: int
    content: Any = None
    headers: Mapping[str, str] = {}


Handler = Callable[..., Answer]
Schema = dict[str, Any]
PREFIX = "/api/v1"
Row = dict[str, Any]
Query = dict[str, str]
# Rows of a page, if the request names no number.
PAGE_SIZE = 20


class Routes:
    """The API over a world. Requests are checked against their schemas first."""

    def __init__(self, world: World, *, token: str) -> None:
        self.world, self.token = world, token
        routes: list[tuple[str, str, Handler, Schema | None]] = [
            ("GET", "/users/me/", self.me, None),
            ("POST", "/workspaces/ID/projects/", self.create_project, schemas.CREATE_PROJECT),
            ("POST", "/studies/", self.create_study, schemas.CREATE_STUDY),
            ("GET", "/studies/ID/", self.study, None),
            ("PATCH", "/studies/ID/", self.update_study, schemas.UPDATE_STUDY),
            ("DELETE", "/studies/ID/", self.delete_study, None),
            ("POST", "/studies/ID/transition/", self.move_study, schemas.STUDY_TRANSITION),
            ("GET", "/studies/ID/cost/", self.spent, None),
            ("POST", "/studies/ID/screen-out-submissions/", self.screen_out, schemas.SCREEN_OUT),
            ("POST", "/study-cost-calculator/", self.cost, schemas.COST),
            ("GET", "/workspaces/ID/balance/", self.balance, None),
            ("GET", "/submissions/ID/", self.submission, None),
            ("POST", "/submissions/ID/transition/", self.move, schemas.SUBMISSION_TRANSITION),
            ("POST", "/submissions/ID/request-return/", self.ask, schemas.REQUEST_RETURN),
            ("POST", "/submissions/bulk-approve/", self.bulk_approve, schemas.BULK_APPROVE),
            ("POST", "/submissions/bonus-payments/", self.set_up, schemas.SET_UP_BONUSES),
            ("POST", "/bulk-bonus-payments/ID/pay/", self.pay, None),
            ("POST", "/hooks/secrets/", self.make_secret, schemas.CREATE_SECRET),
            ("POST", "/hooks/subscriptions/", self.subscribe, schemas.SUBSCRIBE),
            ("POST", "/hooks/subscriptions/ID/", self.confirm, schemas.CONFIRM),
            ("DELETE", "/hooks/subscriptions/ID/", self.unsubscribe, None),
        ]
        self.table = [
            (method, _pattern(path), handler, schema) for method, path, handler, schema in routes
        ]
        lists: list[tuple[str, Callable[..., list[Row]]]] = [
            ("/workspaces/", self.workspaces),
            ("/workspaces/ID/projects/", self.projects),
            ("/studies/", self.studies),
            ("/projects/ID/studies/", self.studies_of_project),
            ("/studies/ID/submissions/", self.submissions),
            ("/submissions/", self.all_submissions),
            ("/messages/unread/", lambda _query: []),
            ("/hooks/secrets/", self.secrets),
            ("/hooks/subscriptions/", self.subscriptions),
        ]
        self.lists = [(_pattern(path), rows) for path, rows in lists]

    def answer(self, method: str, path: str, authorization: str, body: Any) -> Answer:
        """The answer to a request of the API. The path includes the query string."""
        try:
            if authorization != f"Token {self.token}":
                raise Refused(401, "No valid token was provided.")
            path, _, text = path.partition("?")
            query = dict(parse_qsl(text))
            for pattern, rows in self.lists if method == "GET" else ():
                if match := pattern.fullmatch(path):
                    return _page(path, query, rows(query, *match.groups()))
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

    def me(self) -> Answer:
        return Answer(200, {"id": self.world.user, "email": "researcher@stand-in.example"})

    def workspaces(self, _query: Query) -> list[Row]:
        user = {"id": self.world.user, "roles": ["WORKSPACE_ADMIN"]}
        workspace = {"id": self.world.workspace, "title": "Stand-in", "owner": self.world.user}
        return [{**workspace, "users": [user]}]

    def projects(self, _query: Query, workspace: str) -> list[Row]:
        self.world.check_workspace(workspace)
        return [self._project(project) for project in self.world.projects]

    def create_project(self, workspace: str, body: dict[str, Any]) -> Answer:
        self.world.check_workspace(workspace)
        made = new_id()
        self.world.projects[made] = body["title"]
        return Answer(201, self._project(made))

    def _project(self, project: str) -> Row:
        title = self.world.projects[project]
        return {"id": project, "title": title, "owner": self.world.user}

    def studies(self, query: Query) -> list[Row]:
        return self._listed(query, list(self.world.studies.values()))

    def _listed(self, query: Query, studies: list[Study]) -> list[Row]:
        rows = [study.shown_in_list() for study in studies]
        if query.get("ordering") == "-date_created":
            rows.reverse()
        return [row for row in rows if query.get("state") in (None, row["status"])]

    def studies_of_project(self, query: Query, project: str) -> list[Row]:
        if project not in self.world.projects:
            raise Refused(404, "There is no such project.")
        first = self.world.project
        studies = self.world.studies.values()
        return self._listed(
            query, [study for study in studies if study.fields.get("project", first) == project]
        )

    def create_study(self, body: dict[str, Any]) -> Answer:
        return Answer(201, self.world.create(dict(body)).shown())

    def study(self, study_id: str) -> Answer:
        return Answer(200, self.world.study(study_id).shown())

    def update_study(self, study_id: str, body: dict[str, Any]) -> Answer:
        study = self.world.study(study_id)
        self.world.change(study, dict(body))
        return Answer(200, study.shown())

    def delete_study(self, study_id: str) -> Answer:
        self.world.delete(self.world.study(study_id))
        return Answer(204)

    def move_study(self, study_id: str, body: dict[str, Any]) -> Answer:
        study = self.world.study(study_id)
        self.world.move_study(study, body["action"])
        return Answer(200, study.shown())

    def submissions(self, _query: Query, study_id: str) -> list[Row]:
        rows = self.world.of_study(self.world.study(study_id))
        return [submission.shown() for submission in rows]

    def all_submissions(self, query: Query) -> list[Row]:
        if "study" in query:
            return self.submissions(query, query["study"])
        return [submission.shown() for submission in self.world.submissions.values()]

    def screen_out(self, study_id: str, body: dict[str, Any]) -> Answer:
        self.world.screen_out(
            self.world.study(study_id),
            [self.world.submission(submission_id) for submission_id in body["submission_ids"]],
            bonus=round(100 * body["bonus_per_submission"]),
            increase=body.get("increase_places", False),
        )
        amount = {"amount": body["bonus_per_submission"], "currency": "USD"}
        message = "The request to bulk screen out has been made successfully."
        return Answer(200, {"message": message, "payment_per_participant": amount})

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
        submissions = [
            self.world.submission(submission_id) for submission_id in body["submission_ids"]
        ]
        for submission in submissions:
            if submission.status not in ("AWAITING REVIEW", "APPROVED"):
                raise Refused(400, f"A submission is {submission.status}.")
        for submission in submissions:
            self.world.approve(submission)
        return Answer(200, "The request to bulk approve has been made successfully.")

    def set_up(self, body: dict[str, Any]) -> Answer:
        lines = [line.split(",") for line in body["csv_bonuses"].split()]
        amounts = [(identifier, int(Decimal(text) * 100)) for identifier, text in lines]
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

    def secrets(self, query: Query) -> list[Row]:
        workspace = query.get("workspace_id", self.world.workspace)
        self.world.check_workspace(workspace)
        secret = self.world.hooks.secret
        return [_secret(workspace, secret)] if secret else []

    def make_secret(self, body: dict[str, Any]) -> Answer:
        workspace = body["workspace_id"]
        return Answer(201, _secret(workspace, self.world.make_secret(workspace)))

    def subscriptions(self, query: Query) -> list[Row]:
        self.world.check_workspace(query.get("workspace_id", self.world.workspace))
        rows = [subscription.shown() for subscription in self.world.hooks.subscriptions.values()]
        wanted = query.get("is_enabled", "true") == "true"
        return [row for row in rows if row["is_enabled"] == wanted]

    def subscribe(self, body: dict[str, Any]) -> Answer:
        made = self.world.subscribe(body["event_type"], body["target_url"], body["workspace_id"])
        return Answer(201, {"results": [made.shown()]}, {"X-Hook-Secret": made.secret})

    def confirm(self, subscription_id: str, body: dict[str, Any]) -> Answer:
        return Answer(200, self.world.confirm(subscription_id, body["secret"]).shown())

    def unsubscribe(self, subscription_id: str) -> Answer:
        self.world.unsubscribe(subscription_id)
        return Answer(204)


def _pattern(path: str) -> re.Pattern[str]:
    """Of a path with or without the last slash, as the service takes both."""
    return re.compile(PREFIX + path.replace("ID", "([0-9a-f]{24})") + "?")


def _page(path: str, query: Query, rows: list[Row]) -> Answer:
    """One page of a list. Lists of studies are paged by number alone, the others with links."""
    numbers = [query.get("page", "1"), query.get("page_size", str(PAGE_SIZE))]
    if not all(number.isdecimal() and int(number) for number in numbers):
        raise Refused(400, "page and page_size are numbers from 1 on.")
    page, size = map(int, numbers)
    page_rows = rows[(page - 1) * size : page * size]
    if page > 1 and not page_rows:
        raise Refused(404, "There is no such page.")
    content: dict[str, Any] = {"results": page_rows}
    if not path.endswith("/studies/"):
        following = urlencode({**query, "page": page + 1}) if page * size < len(rows) else ""
        href = f"https://stand-in.example{path}?{following}" if following else None
        content["_links"] = {"next": {"href": href}}
    return Answer(200, content)


def _secret(workspace: str, value: str) -> dict[str, str]:
    return {"id": workspace, "value": value, "workspace_id": workspace}
