"""The installer uses pip's configuration."""

import pytest

from tools.install import uv_settings


def test_without_a_configuration_nothing_is_set():
    assert dict(uv_settings([])) == {}


@pytest.mark.parametrize("section", ["global", "install", ":env:"])
def test_the_index_is_the_one_that_pip_uses(section):
    listed = [f"{section}.index-url='https://packages.example.org/simple'"]

    assert dict(uv_settings(listed)) == {"UV_DEFAULT_INDEX": "https://packages.example.org/simple"}


def test_several_values_are_separated_as_uv_reads_them():
    listed = [
        r"global.extra-index-url='\nhttps://one.example.org\nhttps://two.example.org'",
        "global.find-links='/wheels /more-wheels'",
    ]

    assert dict(uv_settings(listed)) == {
        "UV_INDEX": "https://one.example.org https://two.example.org",
        "UV_FIND_LINKS": "/wheels,/more-wheels",
    }


def test_the_environment_is_stronger_than_a_file():
    listed = [
        ":env:.index-url='https://environment.example.org'",
        "global.index-url='https://file.example.org'",
        "install.index-url='https://section.example.org'",
    ]

    assert dict(uv_settings(listed)) == {"UV_DEFAULT_INDEX": "https://environment.example.org"}


def test_options_that_uv_does_not_have_are_left_out():
    assert dict(uv_settings([":env:.disable-pip-version-check='1'", "global.user='true'"])) == {}
