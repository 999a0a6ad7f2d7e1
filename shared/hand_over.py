"""One sign-in for both sites: the requester site tells the marketplace's admin pages who is signed
in there.

The marketplace keeps a random `state` in the visitor's session and sends the browser to the
requester site, which sends it back with a signed text. The text is good for a minute, for the
marketplace at one address, and for the session with this state, which forgets it at once. Both
sites sign with HAND_OVER_SECRET; without one nothing is handed over.
"""

from dataclasses import astuple, dataclass
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.utils.crypto import constant_time_compare, get_random_string

GOOD_FOR = timedelta(minutes=1)
STATE_LENGTH = 32


@dataclass(frozen=True)
class SignedIn:
    """A user of the requester site: whether they are an operator there, and whether they sign in
    with a second factor."""

    name: str
    is_operator: bool
    has_second_factor: bool


def new_state() -> str:
    return get_random_string(STATE_LENGTH)


def signed(user: SignedIn, *, to: str, state: str) -> str:
    """The text about the user for the site at the address `to`."""
    return signing.dumps([state, *astuple(user)], key=settings.HAND_OVER_SECRET, salt=_salt(to))


def read(text: str, *, to: str, state: str) -> SignedIn:
    """The text's content; raises BadSignature if it is forged, old, for another site or for another
    session."""
    if not settings.HAND_OVER_SECRET or not state:
        raise signing.BadSignature("Nothing was asked for.")
    given, *user = signing.loads(
        text, key=settings.HAND_OVER_SECRET, salt=_salt(to), max_age=GOOD_FOR, fallback_keys=[]
    )
    if not constant_time_compare(given, state):
        raise signing.BadSignature("This is for another session.")
    return SignedIn(*user)


def _salt(to: str) -> str:
    return f"shared.hand_over:{to}"
