"""Names of the licences of images, from their URLs."""

import re
from typing import NamedTuple

CREATIVE_COMMONS = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)(?:/(\d\.\d))?",
    re.IGNORECASE,
)
DEDICATIONS = {"zero": "CC0", "mark": "Public Domain Mark", "publicdomain": "Public Domain"}
# Further licences of COCO's images, as COCO's files name them.
OTHERS = {
    "flickr.com/commons/usage": "No known copyright restrictions",
    "www.usa.gov/copyright.shtml": "United States Government Work",
}
# Identifiers of licences in dataset cards; others are called `other` there.
IDENTIFIERS = {
    "CC0 1.0": "cc0-1.0",
    "CC BY 2.0": "cc-by-2.0",
    "CC BY 2.5": "cc-by-2.5",
    "CC BY 3.0": "cc-by-3.0",
    "CC BY 4.0": "cc-by-4.0",
    "CC BY-SA 3.0": "cc-by-sa-3.0",
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "CC BY-NC 2.0": "cc-by-nc-2.0",
    "CC BY-NC 3.0": "cc-by-nc-3.0",
    "CC BY-NC 4.0": "cc-by-nc-4.0",
    "CC BY-ND 4.0": "cc-by-nd-4.0",
    "CC BY-NC-ND 3.0": "cc-by-nc-nd-3.0",
    "CC BY-NC-ND 4.0": "cc-by-nc-nd-4.0",
    "CC BY-NC-SA 2.0": "cc-by-nc-sa-2.0",
    "CC BY-NC-SA 3.0": "cc-by-nc-sa-3.0",
    "CC BY-NC-SA 4.0": "cc-by-nc-sa-4.0",
}


class Licence(NamedTuple):
    """A licence's URL, its name, and its identifier in dataset cards."""

    url: str
    name: str
    identifier: str


def licence(url: str) -> Licence:
    """The licence at a URL; an unknown one has its URL as name."""
    name = license_name(url)
    return Licence(url, name, IDENTIFIERS.get(name, "other"))


def license_name(url: str) -> str:
    """`CC BY 2.0`, `CC0 1.0` and the like; the URL if the licence is not known."""
    if found := CREATIVE_COMMONS.match(url):
        code, version = found[1].lower(), found[2] or ""
        return f"{DEDICATIONS.get(code) or f'CC {code.upper()}'} {version}".strip()
    return OTHERS.get(url.split("://")[-1].strip("/"), url)
