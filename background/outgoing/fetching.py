"""Fetch a file from an address that somebody entered."""

import http.client
from urllib.parse import urljoin

from background.outgoing.addresses import AddressRefused
from background.outgoing.exchange import exchange

MOST_REDIRECTS = 3
HEADERS = {"Accept": "image/*,*/*;q=0.5", "User-Agent": "caption-campaigns"}


class NotFetched(Exception):
    """The file could not be fetched; the message says why."""


def fetch(url: str, *, seconds: float, most_bytes: int, allows_private: bool = False) -> bytes:
    """The file at this http or https URL. Raises NotFetched.

    Up to MOST_REDIRECTS redirects are followed; each address is checked like the first one.
    `seconds` is the time for each request, `most_bytes` the largest size.
    """
    asked = url
    for _ in range(MOST_REDIRECTS + 1):
        try:
            answer = exchange(
                url,
                method="GET",
                headers=HEADERS,
                seconds=seconds,
                most_bytes=most_bytes,
                allows_private=allows_private,
            )
        except AddressRefused as error:
            raise NotFetched(str(error)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NotFetched(f"No answer: {(str(error) or type(error).__name__)[:300]}") from error
        if 300 <= answer.status < 400 and answer.location:
            url = urljoin(url, answer.location)
            continue
        if answer.status != 200:
            raise NotFetched(f"The server's answer was {answer.status}.")
        if answer.is_cut:
            raise NotFetched(f"It is larger than {most_bytes / 1_000_000:g} MB.")
        return answer.content
    raise NotFetched(f"{asked} leads to more than {MOST_REDIRECTS} redirects.")
