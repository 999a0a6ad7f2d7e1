"""Licences by their addresses."""

import pytest

from annotate.exports.provenance import licence, license_name

CC_BY = "https://creativecommons.org/licenses/by/2.0/"
CC0 = "https://creativecommons.org/publicdomain/zero/1.0/"


@pytest.mark.parametrize(
    ("url", "name", "identifier"),
    [
        (CC_BY, "CC BY 2.0", "cc-by-2.0"),
        ("http://creativecommons.org/licenses/by-nc-sa/2.0/", "CC BY-NC-SA 2.0", "cc-by-nc-sa-2.0"),
        ("https://www.creativecommons.org/licenses/by-nd/2.0/deed.de", "CC BY-ND 2.0", "other"),
        (CC0, "CC0 1.0", "cc0-1.0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "Public Domain Mark 1.0", "other"),
        ("http://flickr.com/commons/usage/", "No known copyright restrictions", "other"),
        ("https://example.org/terms", "https://example.org/terms", "other"),
        ("", "", "other"),
    ],
)
def test_licences_have_names(url, name, identifier):
    assert license_name(url) == name
    assert licence(url).identifier == identifier
