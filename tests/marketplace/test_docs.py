"""The marketplace's commands in the docs, as they are written there."""

import pytest

from tests.docs.written import check_arguments, commands

APPS = {"marketplace", "marketplace.panels"}


@pytest.mark.parametrize("words", [*commands(APPS)])
def test_a_command_takes_the_arguments_that_the_docs_give_it(words):
    check_arguments(words)


def test_the_docs_have_commands_of_the_marketplace():
    assert len([*commands(APPS)]) > 10
