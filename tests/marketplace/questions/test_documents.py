"""Questions of each kind as they are read from requesters' XML."""

import pytest

from marketplace.questions.documents import HtmlQuestion, parse_question
from tests.marketplace.questions.forms import NAMESPACE, form, question


def html_question(content: str) -> str:
    return (
        f'<HTMLQuestion xmlns="{NAMESPACE}/2011-11-11/HTMLQuestion.xsd">'
        f"<HTMLContent>{content}</HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
    )


@pytest.mark.parametrize(
    "content",
    [
        "<!-- the page --><![CDATA[<p>One</p><p>Two</p>]]>",
        "<![CDATA[<p>One</p>]]><!-- the rest --><![CDATA[<p>Two</p>]]>",
        "<?template page?><![CDATA[<p>One</p><p>Two</p>]]>",
    ],
)
def test_a_page_goes_on_after_a_comment_in_the_xml(content):
    parsed = parse_question(html_question(content))

    assert parsed == HtmlQuestion(html="<p>One</p><p>Two</p>", frame_height=0)


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "us-ascii", "utf8", "UTF-16", "no-such"])
def test_the_declared_encoding_of_a_text_does_not_matter(encoding):
    asked = form(question("dish", "<FreeTextAnswer/>").replace("What", "Crème brûlée: what"))

    parsed = parse_question(f'<?xml version="1.0" encoding="{encoding}"?>{asked}')

    assert parsed == parse_question(asked)
