"""Django's sessions in the database, read with a query that is compiled once."""

from typing import Any

from django.contrib.sessions.backends import db
from django.utils import timezone

from marketplace import queries


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Any:
        found = queries.sessions(key=self.session_key, at=timezone.now())
        if found:
            return found[0]
        # Ends the session, and logs what is suspicious.
        return super()._get_session_from_db()  # type: ignore[misc]
