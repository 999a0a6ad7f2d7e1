"""The stand-in as a WSGI application: its API, its keys, and pages on which one takes part."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from .routes import Answer, Routes
from .state import Refused, Study, Submission, World

Start = Callable[[str, list[tuple[str, str]]], object]
Page = tuple[int, list[tuple[str, str]], bytes]
HTML = [("Content-Type", "text/html; charset=utf-8")]
TOKEN_PARAMETER = "prolific_token"
ISSUER = "https://www.prolific.com"
TOKEN_LIFE = 120


class StandIn:
    """A WSGI application over one World."""

    def __init__(self, world: World, *, token: str) -> None:
        self.world = world
        self.routes = Routes(world, token=token)
        self.key = RSAKey.generate_key(2048, parameters={"kid": "stand-in", "alg": "RS256"})
        self.lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length) if length else b""
        with self.lock:
            status, headers, content = self._answer(environ, body)
        start(f"{status} -", headers)
        return [content]

    def _answer(self, environ: dict[str, Any], body: bytes) -> Page:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if path.startswith("/api/"):
            authorization = environ.get("HTTP_AUTHORIZATION", "")
            query = environ.get("QUERY_STRING", "")
            target = f"{path}?{query}" if query else path
            return _json(self.routes.answer(method, target, authorization, _read(body)))
        if path == "/.well-known/study/jwks.json":
            return _json(Answer(200, KeySet([self.key]).as_dict(private=False)))
        query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
        try:
            if path == "/submissions/complete":
                return self._complete(query)
            if path == "/take-part":
                return self._take_part(query)
        except Refused as error:
            return _page(error.status, f"<p role='alert'>{escape(str(error))}</p>")
        return self._overview()

    def _overview(self) -> Page:
        rows = "".join(map(self._row, self.world.studies.values())) or "<p>No studies yet.</p>"
        return _page(200, f"<h1>Stand-in for Prolific</h1>{rows}")

    def _row(self, study: Study) -> str:
        submissions = self.world.of_study(study)
        lines = "".join(
            f"<li>{escape(submission.participant)}: {submission.status.lower()}, "
            f"code {escape(submission.code or 'none')}, "
            f"bonuses {sum(submission.bonuses) / 100:.2f}</li>"
            for submission in submissions
        )
        return (
            f"<h2>{escape(study.fields['name'])}</h2><p>{study.status.lower()}, "
            f"{len(submissions)} of {study.places} places</p><ul>{lines}</ul>"
            f"<form action='/take-part'><input type='hidden' name='study' value='{study.id}'>"
            "<label>Participant id <input name='participant' required></label>"
            "<button>Take part</button></form>"
        )

    def _take_part(self, query: dict[str, str]) -> Page:
        study = self.world.study(query.get("study", ""))
        submission = self.world.take_place(study, query.get("participant", ""))
        return 303, [("Location", self.address_for(submission, now=time.time()))], b""

    def address_for(self, submission: Submission, *, now: float) -> str:
        """The study's address for this participant, signed if the study asks for it."""
        study = submission.study
        address = urlsplit(str(study.fields["external_study_url"]))
        marks = {
            "{{%PROLIFIC_PID%}}": submission.participant,
            "{{%STUDY_ID%}}": study.id,
            "{{%SESSION_ID%}}": submission.id,
        }
        values = {name: marks.get(mark, mark) for name, mark in parse_qsl(address.query)}
        if study.fields.get("is_external_study_url_secure"):
            bare = urlunsplit(address._replace(query=""))
            values[TOKEN_PARAMETER] = self.sign(bare, submission.id, values, now=now)
        return urlunsplit(address._replace(query=urlencode(values)))

    def sign(self, audience: str, session: str, values: dict[str, str], *, now: float) -> str:
        """A token as the reference describes it."""
        claims = {
            "iss": ISSUER,
            "iat": int(now),
            "exp": int(now) + TOKEN_LIFE,
            "aud": audience,
            "sub": session,
            "prolific": {**values, "workspace_id": self.world.workspace},
        }
        return str(jwt.encode({"alg": "RS256", "kid": "stand-in", "typ": "JWT"}, claims, self.key))

    def _complete(self, query: dict[str, str]) -> Page:
        """The page to which participants return. A form says who they are: there are no cookies."""
        code = query.get("cc", "")
        active = [
            submission
            for submission in self.world.submissions.values()
            if submission.status == "ACTIVE"
        ]
        mine = [
            submission
            for submission in active
            if submission.participant == query.get("participant")
        ]
        if not mine and len(active) == 1:
            mine = active
        if not mine:
            return _page(200, "<h1>Who are you?</h1>" + _who(code))
        self.world.complete(mine[0], code)
        return _page(200, f"<h1>Thank you</h1><p role='status'>Code {escape(code)} received.</p>")


def _who(code: str) -> str:
    return (
        f"<form><input type='hidden' name='cc' value='{escape(code)}'>"
        "<label>Participant id <input name='participant' required></label>"
        "<button>Complete</button></form>"
    )


def _read(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


def _json(answer: Answer) -> Page:
    headers = [("Content-Type", "application/json"), *answer.headers.items()]
    # A 204 has no body.
    content = b"" if answer.content is None else json.dumps(answer.content).encode()
    return answer.status, headers, content


def _page(status: int, content: str) -> Page:
    text = f"<!doctype html><html lang='en'><title>Stand-in</title><body>{content}</body></html>"
    return status, HTML, text.encode()
