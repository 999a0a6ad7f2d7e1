"""Leads a HIT's own page here, where it was written for Amazon's hosts.

Amazon's documented sample of an HTMLQuestion, and nearly every page made after it, posts to
`www.mturk.com` and takes a script from Amazon that fills in the assignment's id. The question
itself stays as the requester sent it; only the page that a worker gets is changed.
"""

import re

from django.conf import settings
from django.templatetags.static import static

_SITE = r"https?://(?:www|worker|workersandbox)\.mturk\.com"
_SUBMIT_ADDRESS = re.compile(f"{_SITE}/mturk/externalSubmit", re.IGNORECASE)
# A text of its own in a script, which puts the rest of the address behind it.
_SITE_ALONE = re.compile(f"(?<=[\"'`]){_SITE}(?=/?[\"'`])", re.IGNORECASE)
_SCRIPT_ADDRESS = re.compile(
    r"(?:https?:)?//(?:s3\.amazonaws\.com/mturk-public|mturk-public\.s3\.amazonaws\.com)"
    r"/externalHIT_v1\.js",
    re.IGNORECASE,
)


def led_here(html: str, *, submit_address: str) -> str:
    """The page with this site's submit address and script in place of Amazon's."""
    html = _SUBMIT_ADDRESS.sub(lambda _: submit_address, html)
    html = _SITE_ALONE.sub(lambda _: settings.MARKETPLACE_URL, html)
    return _SCRIPT_ADDRESS.sub(lambda _: static("marketplace/external_hit.js"), html)
