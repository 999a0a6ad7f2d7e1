"""Rewrite Amazon's URLs in the pages of HITs, so that they work on this site.

Amazon's sample of an HTMLQuestion, and most pages derived from it, post to `www.mturk.com` and load
a script from Amazon that fills in the assignment's id. The stored question is not changed, only the
page that the worker gets.
"""

import re

from django.conf import settings
from django.templatetags.static import static

_SITE = r"https?://(?:www|worker|workersandbox)\.mturk\.com"
_SUBMIT_ADDRESS = re.compile(f"{_SITE}/mturk/externalSubmit", re.IGNORECASE)
# A string literal in a script, which appends the rest of the URL to it.
_SITE_ALONE = re.compile(f"(?<=[\"'`]){_SITE}(?=/?[\"'`])", re.IGNORECASE)
_SCRIPT_ADDRESS = re.compile(
    r"(?:https?:)?//(?:s3\.amazonaws\.com/mturk-public|mturk-public\.s3\.amazonaws\.com)"
    r"/externalHIT_v1\.js",
    re.IGNORECASE,
)


def led_here(html: str, *, submit_address: str) -> str:
    """The page with this site's submit URL and script in place of Amazon's."""
    html = _SUBMIT_ADDRESS.sub(lambda _: submit_address, html)
    html = _SITE_ALONE.sub(lambda _: settings.MARKETPLACE_URL, html)
    return _SCRIPT_ADDRESS.sub(lambda _: static("marketplace/external_hit.js"), html)
