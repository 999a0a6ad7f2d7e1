"""QuestionForms: parsing, answers, and requesters' regular expressions."""

import contextlib
import time

import pytest
import requests
from bs4 import BeautifulSoup
from django.http import QueryDict
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.errors import QuestionRefused
from marketplace.pages.frames import form_rows
from marketplace.questions import answers
from marketplace.questions.documents import check_question, parse_question
from marketplace.questions.forms import fill, formatted, pattern_check
from tests.marketplace.driver import create_hit, create_hit_type, new_hit
from tests.marketplace.questions.forms import CHOICE, KEY, PERCENTAGE, form, question


def showing(content: str) -> str:
    """A question with this content."""
    return question("shown", "<FreeTextAnswer/>").replace("<Text>What is it?</Text>", content)


TEXT = question(
    "text",
    '<FreeTextAnswer><Constraints><Length minLength="3" maxLength="10"/></Constraints>'
    "<NumberOfLinesSuggestion>3</NumberOfLinesSuggestion></FreeTextAnswer>",
)


@pytest.mark.parametrize("version", ["2005-10-01", "2017-11-06"])
def test_both_versions_are_known(version):
    parse_question(form(TEXT + CHOICE, version))


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "<Question/>",
        question("x", "<FreeTextAnswer><Nonsense/></FreeTextAnswer>"),
        question(
            "x",
            "<FileUploadAnswer><MaxFileSizeInBytes>9</MaxFileSizeInBytes>"
            "<MinFileSizeInBytes>0</MinFileSizeInBytes></FileUploadAnswer>",
        ),
        question(
            "x",
            '<FreeTextAnswer><Constraints><AnswerFormatRegex regex="("/></Constraints>'
            "</FreeTextAnswer>",
        ),
        question(
            "x",
            "<FreeTextAnswer><Constraints>"
            + '<AnswerFormatRegex regex="a"/>' * 51
            + "</Constraints></FreeTextAnswer>",
        ),
        question(
            "x",
            f'<FreeTextAnswer><Constraints><AnswerFormatRegex regex="{"a" * 1001}"/></Constraints>'
            "</FreeTextAnswer>",
        ),
        TEXT + TEXT,
        "<Overview><Text>Nothing to answer</Text></Overview>",
        question(
            "x",
            f"<FreeTextAnswer><NumberOfLinesSuggestion>{'9' * 5000}</NumberOfLinesSuggestion>"
            "</FreeTextAnswer>",
        ),
        question(
            "x",
            f'<FreeTextAnswer><Constraints><IsNumeric minValue="{"9" * 5000}"/></Constraints>'
            "</FreeTextAnswer>",
        ),
        showing(
            "<Binary><MimeType><Type>image</Type></MimeType><DataURL>javascript:x()</DataURL>"
            "<AltText>x</AltText></Binary>"
        ),
    ],
)
def test_a_form_that_cannot_be_drawn_is_refused(broken):
    text = form(broken).replace("<Overview><Title>Two questions</Title></Overview>", "")

    with pytest.raises(QuestionRefused):
        parse_question(text)


@pytest.mark.parametrize(
    ("counts", "is_possible"),
    [("", True), ("<MinSelectionCount>2</MinSelectionCount>", False),
     ("<MinSelectionCount>5</MinSelectionCount><MaxSelectionCount>9</MaxSelectionCount>", False)],
)  # fmt: skip
def test_a_form_that_nobody_can_fill_in_is_refused(counts, is_possible):
    few = form(CHOICE.replace("<SelectionAnswer><MinSelectionCount>1</MinSelectionCount>"
                              "<MaxSelectionCount>2</MaxSelectionCount>",
                              f"<SelectionAnswer>{counts}"))  # fmt: skip

    with (
        contextlib.nullcontext() if is_possible else pytest.raises(QuestionRefused, match="animal")
    ):
        check_question(few)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (TEXT.replace('minLength="3"', 'minLength="11"'), "A minLength is 11"),
        (TEXT.replace("<Length minLength", "<IsNumeric minValue").replace("maxLength", "maxValue")
             .replace('"3"', '"11"'), "A minValue is 11"),
        (question(" ", "<FreeTextAnswer/>"), "blank"),
        (question("assignmentId", "<FreeTextAnswer/>"), "assignmentId"),
        (CHOICE.replace("owl", "dog"), "SelectionIdentifier of the question animal"),
    ],
)  # fmt: skip
def test_a_new_form_whose_answers_are_refused_or_not_told_apart_is_refused(fault, named):
    with pytest.raises(QuestionRefused, match=named):
        check_question(form(fault))


@pytest.mark.parametrize(
    ("content", "kind"),
    [("<Text>A cat</Text>", "select"),
     ("<FormattedContent><![CDATA[<b>A cat</b>]]></FormattedContent>", "radio")],
)  # fmt: skip
def test_a_menu_offers_texts_alone(content, kind):
    choice = question(
        "animal",
        "<SelectionAnswer><StyleSuggestion>dropdown</StyleSuggestion><Selections><Selection>"
        f"<SelectionIdentifier>cat</SelectionIdentifier>{content}</Selection></Selections>"
        "</SelectionAnswer>",
    )

    assert parse_question(form(choice)).parts[1].kind == kind


def test_a_form_is_drawn_checked_and_submitted(marketplace):
    client = marketplace.requester()
    hit_type_id, _ = new_hit(client, Question=form(TEXT + CHOICE))
    worker, assignment_id = marketplace.at_work(hit_type_id)
    page = requests.get(marketplace.url + worker.frame(f"/assignments/{assignment_id}")["src"])
    soup = BeautifulSoup(page.text, "lxml")
    assert {each.get("name") for each in soup.find_all(["input", "textarea"])} == {
        "assignmentId", "text", "animal", "animal.other",
    }  # fmt: skip
    assert "sandbox allow-forms" in page.headers["Content-Security-Policy"]

    refused = worker.try_submit(assignment_id, text="ab", animal=["cat", "dog", "owl"])

    assert refused.status_code == 400
    assert "at least 3" in refused.text
    assert "Choose at most 2." in refused.text

    worker.submit(
        assignment_id, **{"text": "a <dog>", "animal": ["dog", "horse"], "animal.other": "fox"}
    )

    document = client.get_assignment(AssignmentId=assignment_id)["Assignment"]["Answer"]
    assert answers.read(document) == {"text": ["a <dog>"], "animal": ["dog", "fox"]}
    assert "<SelectionIdentifier>dog</SelectionIdentifier>" in document
    assert "<OtherSelectionText>fox</OtherSelectionText>" in document


def test_a_form_in_preview_has_no_button(marketplace):
    client = marketplace.requester()
    hit_type_id, _ = new_hit(client, Question=form(TEXT))

    src = marketplace.worker().frame(f"/groups/{hit_type_id}/preview")["src"]

    assert "<button" not in requests.get(marketplace.url + src).text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("<b>bold</b> text", "<b>bold</b> text"),
        ("<script>alert(1)</script>", "alert(1)"),
        ('<b onclick="x()">b</b>', "<b>b</b>"),
        ('<a href="javascript:x()">x</a>', '<a target="_blank" rel="noopener noreferrer">x</a>'),
        ("<!-- no -->a &lt;b&gt;", "a &lt;b&gt;"),
        ('<img src="https://a.example/&quot;.png" alt="&quot;"/>',
         '<img src="https://a.example/&quot;.png" alt="&quot;">'),
        ('<img src="http://a.example/b.png"/>', '<img src="http://a.example/b.png" alt="">'),
        ('<table><tr><td colspan="2" style="x">&nbsp;&copy;&amp;</td></tr></table>',
         '<table><tbody><tr><td colspan="2">&nbsp;©&amp;</td></tr></tbody></table>'),
        ('<a href="/own">x</a>', '<a target="_blank" rel="noopener noreferrer">x</a>'),
        ("<textarea>a &lt;b&gt;</textarea><style>p</style>", "a &lt;b&gt;p"),
    ],
)  # fmt: skip
def test_formatted_text_keeps_what_is_harmless(given, shown):
    # The order of attributes does not matter.
    assert BeautifulSoup(formatted(given), "lxml") == BeautifulSoup(shown, "lxml")


@pytest.mark.parametrize("text", ["<b>open", "&unheardof;", "a < b"])
def test_formatted_text_that_is_not_xhtml_has_an_error_code_of_its_own(text):
    with pytest.raises(QuestionRefused) as error:
        formatted(text)

    assert error.value.code == "XHTMLParseError"


def test_media_are_shown_by_their_kind():
    """As in Amazon's schema: http URLs, sizes in any format, parameters of a player."""
    media = "".join(
        f"<EmbeddedBinary><EmbeddedMimeType><Type>{kind}</Type><SubType>x</SubType>"
        "</EmbeddedMimeType><DataURL>http://example.org/a</DataURL><AltText>A</AltText>"
        "<Width>100%</Width><Height>50</Height><ApplicationParameter><Name>loop</Name>"
        "<Value>1</Value></ApplicationParameter></EmbeddedBinary>"
        for kind in ("image", "audio", "video", "application")
    )

    [_title, field] = parse_question(form(showing(media))).parts

    assert [block.kind for block in field.content] == ["image", "audio", "video", "link"]
    assert {block.url for block in field.content} == {"http://example.org/a"}


@pytest.mark.parametrize(
    "constraint", ['<Length maxLength="3"/>', '<AnswerFormatRegex regex="^[a-z]$" flags="m"/>']
)
def test_a_line_break_is_one_character_whatever_the_browser_sends(constraint):
    lines = f"<FreeTextAnswer><Constraints>{constraint}</Constraints></FreeTextAnswer>"
    field = parse_question(form(question("text", lines))).parts[1]

    answer, problem = field.answer(lambda _name: ["a\r\nb"])

    assert problem == ""
    assert answer == [("FreeText", "a\r\nb")]


OTHER = CHOICE.replace(
    "<OtherSelection/>",
    '<OtherSelection><Constraints><Length minLength="3"/></Constraints>'
    "<DefaultText>bird</DefaultText><NumberOfLinesSuggestion>2</NumberOfLinesSuggestion>"
    "</OtherSelection>",
)


@pytest.mark.parametrize(
    ("entered", "problem"),
    [
        ({"animal.other": ["fox"]}, ""),
        ({"animal.other": ["ox"]}, "length is at least 3"),
        ({"animal": ["cat"], "animal.other": ["fox"]}, ""),
        ({"animal": ["cat", "dog"], "animal.other": ["fox"]}, "at most 2"),
        ({"animal": [""]}, "at least 1"),
    ],
)
def test_another_answer_is_checked_as_a_text_is(entered, problem):
    field = parse_question(form(OTHER)).parts[1]

    _answer, told = field.answer(lambda name: entered.get(name, []))

    assert (problem in told) if problem else not told


@pytest.mark.parametrize("name", ["animal.other", "assignmentId", "form_key"])
def test_a_question_with_the_name_of_another_field_of_the_page_is_refused(name):
    text = question(name, "<FreeTextAnswer/>")

    with pytest.raises(QuestionRefused, match=f'"{name}" is the name of another field'):
        parse_question(form(OTHER + text))


@pytest.mark.parametrize(
    ("entered", "chosen"),
    [("bird", [("SelectionIdentifier", "cat")]), ("fox", None)],
)
def test_the_text_that_another_answer_begins_with_does_not_stand_beside_a_choice(entered, chosen):
    one = OTHER.replace("<MaxSelectionCount>2", "<MaxSelectionCount>1")
    field = parse_question(form(one)).parts[1]
    values = {"animal": ["cat"], "animal.other": [entered]}

    answer, problem = field.answer(lambda name: values.get(name, []))

    assert problem == ("" if chosen else "Choose at most 1.")
    assert chosen in (None, answer)


@pytest.mark.parametrize(("sent", "selected"), [("animal=cat&", "cat"), ("animal=&", ""), ("", "")])
def test_a_form_that_is_shown_again_keeps_what_was_selected(sent, selected):
    one = parse_question(form(OTHER.replace("<MaxSelectionCount>2", "<MaxSelectionCount>1") + TEXT))
    sent = QueryDict(f"{sent}animal.other=bird&text=x")
    rows = form_rows(one, sent, fill(one.parts, sent.getlist))

    page = BeautifulSoup(render_to_string("marketplace/form_fields.html", {"rows": rows}), "lxml")

    # Of several that are checked, a browser selects the last.
    assert [each["value"] for each in page.select("input[checked]")] == [selected]


@pytest.mark.parametrize(
    ("text", "is_number"),
    [("5", True), (" -3.5 ", True), ("1e2", True), (".5", True), ("1_0", False), ("nan", False),
     ("inf", False), ("٣", False), ("9" * 6000, True), ("five", False)],
)  # fmt: skip
def test_texts_that_are_numbers(text, is_number):
    numeric = "<FreeTextAnswer><Constraints><IsNumeric/></Constraints></FreeTextAnswer>"
    field = parse_question(form(question("n", numeric))).parts[1]

    _answer, told = field.answer(lambda name: [text])

    assert (not told) is is_number


def test_a_question_is_headed_by_its_display_name_and_takes_another_answer(marketplace):
    client = marketplace.requester()
    hit_type_id = create_hit_type(client)
    named = OTHER.replace("<IsRequired>", "<DisplayName>The animal</DisplayName><IsRequired>")
    one = named.replace("<MaxSelectionCount>2", "<MaxSelectionCount>1")
    create_hit(client, hit_type_id, Question=form(one))
    worker, assignment_id = marketplace.at_work(hit_type_id)
    src = worker.frame(f"/assignments/{assignment_id}")["src"]
    soup = BeautifulSoup(requests.get(marketplace.url + src).text, "lxml")

    assert "The animal" in soup.find("legend").text
    assert soup.find("textarea", {"name": "animal.other"}).text == "bird"
    # With a way back from an option to the text, which radio buttons alone have not.
    assert [each["value"] for each in soup.find_all("input", {"type": "radio"})][-1] == ""


@pytest.mark.parametrize(
    ("chosen", "mapping", "score"),
    [
        (["cat", "dog"], "", 10),
        (["dog"], "", 5),
        (["owl"], "", 1),
        ([], "", 1),
        (["dog"], PERCENTAGE, 50),
    ],
)
def test_answer_keys_score_selections(chosen, mapping, score):
    document = answers.build_for_form(
        [("animal", [("SelectionIdentifier", each) for each in chosen])]
    )

    assert answers.score_by_key(KEY.replace("{mapping}", mapping), document) == score


def test_an_answer_key_may_be_written_over_several_lines():
    document = answers.build_for_form([("animal", [("SelectionIdentifier", "dog")])])
    key = KEY.replace("<SelectionIdentifier>dog<", "<SelectionIdentifier>\n  dog\n<")

    assert answers.score_by_key(key.replace("{mapping}", ""), document) == 5


SCALE = (
    "<QualificationValueMapping><ScaleMapping><SummedScoreMultiplier>{factor}"
    "</SummedScoreMultiplier></ScaleMapping></QualificationValueMapping>"
)


@pytest.mark.parametrize(
    ("factor", "score"), [("0.5", 3), ("1e2", 500), ("1e300", 2**31 - 1), ("-1e300", -(2**31))]
)
def test_a_scaled_score_stays_within_what_a_qualification_can_have(factor, score):
    document = answers.build_for_form([("animal", [("SelectionIdentifier", "dog")])])
    key = KEY.replace("{mapping}", SCALE.format(factor=factor))

    assert answers.score_by_key(key, document) == score


@pytest.mark.parametrize("factor", ["INF", "NaN", "many"])
def test_a_score_cannot_be_scaled_without_bounds(factor):
    with pytest.raises(QuestionRefused):
        answers.parse_key(KEY.replace("{mapping}", SCALE.format(factor=factor)))


@pytest.mark.parametrize(
    ("pattern", "flags", "text", "matches"),
    [
        ("^[0-9]{5}$", "", "12345", True),
        ("^[0-9]{5}$", "", "1234", False),
        ("dog", "", "a brown dog", True),
        ("DOG", "i", "a brown dog", True),
        ("a.b", "s", "a\nb", True),
        (r"(\w)\1", "", "book", True),
        (r"^(?!.*cat)", "", "a cat", False),
    ],
)
def test_a_pattern_is_looked_for(pattern, flags, text, matches):
    assert pattern_check(pattern, flags)(text) is matches


TEXTS = [
    "a" * 1999 + "!", "ab" * 1000, "aA1! " * 400, "ä" * 2000, "\n" * 2000, "x" * 1000 + " " * 1000,
    "\U0001f469\u200d\U0001f467" * 600,
]  # fmt: skip
EVIL = [
    "^(a+)+$", "^(a|a)*$", "^(([a-z])+.)+[A-Z]([a-z])+$", r"(\w+\s?)+$", "(x+x+)+y", "(.*)*=",
    "(?:a?){900}a{900}b", r"(.*)\1\1b", r"^(?:(a+)(?!\1b))*$", r"(?:.|\n)*?(?:.|\n)*?b!",
    "(a|aa|aaa|aaaa)*[^a!]", r"(?:(?=\X*+){50}x|\X)*\d", r"(?:(?=\p{L}*+){50}x|\p{L})*\d",
    "(?=a*+)" * 140 + "9", r"(?:[a-z]*+(?<=[a-z]{250})x|.)*\d", "(?:(?<=a{1,255})x|a)*9",
    r"(?=(a{900}))(?:(?=\1){30}x|a)*9", "(?R)?a9", "((?:a(?1)*)*)9", "(?:(?:a*)*)*9",
    "(a?" * 90 + ")" * 90 + "9", "a*" * 400 + "9", "(?>a*)*9", "(?i)(ä|Ä|ää)*9",
    "(?(?=a)a|b)*9", "(a(*SKIP)|aa)*9", "(a(*COMMIT)|aa)*9", "(*NO_AUTO_POSSESS)a*a*a*a*9",
]  # fmt: skip
# Without the optimization that sees at once what a text lacks, searches begin everywhere.
EVIL += [f"(*NO_START_OPT){pattern}" for pattern in EVIL]
# What the operations above take at most, and much less than anybody waits.
BOUND = 1.0


@pytest.mark.parametrize("pattern", EVIL)
def test_no_pattern_takes_long(pattern):
    began = time.thread_time()

    try:
        check = pattern_check(pattern, "s")
    except QuestionRefused:
        return
    finally:
        assert time.thread_time() - began < BOUND
    for text in TEXTS:
        began = time.thread_time()
        assert check(text) in (True, False)
        assert time.thread_time() - began < BOUND


ATOMS = st.sampled_from(
    ["a", "b", ".", r"\w", r"\s", "[a-z]", r"\X", r"\p{L}", r"\1", "(?1)", "(?R)", r"\b", "ä",
     "(?=a)", "^", "$", r"\K", r"\R", "(?<!b)", "(?<=[a-z]{1,200})"]
)  # fmt: skip
REPEATS = st.sampled_from(["", "", "*", "+", "?", "*+", "*?", "{1,100}", "{0,30}", "{5}", "{2,}"])
PATTERNS = st.recursive(
    st.builds("{}{}".format, ATOMS, REPEATS),
    lambda inner: st.one_of(
        st.builds("({}){}".format, inner, REPEATS),
        st.builds("(?:{}|{}){}".format, inner, inner, REPEATS),
        st.builds("(?={})".format, inner),
        st.builds("(?>{}){}".format, inner, REPEATS),
        st.builds("{}{}".format, inner, inner),
    ),
    max_leaves=20,
)


@given(
    pattern=PATTERNS, end=st.sampled_from(["", "!", "9", "$", r"\1"]), text=st.sampled_from(TEXTS)
)
@settings(max_examples=150, deadline=None)
def test_no_pattern_that_somebody_makes_up_takes_long(pattern, end, text):
    began = time.thread_time()

    with contextlib.suppress(QuestionRefused):
        pattern_check(pattern + end)(text)

    assert time.thread_time() - began < BOUND


@pytest.mark.parametrize(
    "pattern",
    [
        "((((a{100}){100}){100}){100})", "(?:a{30000}){30000}", "(a{1,60000}){1,60000}b",
        "(?:(?:a{1,100}){1,100}){1,100}b", "(" * 400 + ")" * 400,
    ],
)  # fmt: skip
def test_a_pattern_that_would_fill_the_memory_is_refused(pattern):
    with pytest.raises(QuestionRefused):
        pattern_check(pattern)


@pytest.mark.parametrize("name", ["LIMIT_MATCH", "LIMIT_DEPTH", "LIMIT_HEAP", "LIMIT_RECURSION"])
def test_a_pattern_cannot_raise_the_limits(name):
    with pytest.raises(QuestionRefused):
        pattern_check(f"(*NO_START_OPT)(*{name}=4000000000)(a|a)*9")


def test_an_answer_that_takes_too_long_to_check_is_let_through(caplog):
    assert pattern_check("^(a|a)*$")("a" * 1900 + "!")

    assert "took too long" in caplog.text


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        (r"^\s*\S+(\s+\S+){4,}\s*$", True),
        (r"^(?!\s*$).+", True),
        (r"(?:\w+\W+){20,}", True),
        (r"^(?:[A-Za-z.,]+\s?)+$", True),
        (r"^https?://\S+$", False),
        (r"\d{4}-\d\d-\d\d", False),
        (r"\b(\w+) \1\b", False),
    ],
)
def test_everyday_patterns_are_decided_on_long_texts(pattern, matches, caplog):
    text = "The quick brown dog runs over a hill and sees the cat. " * 36

    assert pattern_check(pattern)(text) is matches

    assert not caplog.records


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a{2,1}", "x" * 1001, r"\C", "(?<=a+)b", r"(?P<n>a)(?P<n>b)", "*"]
)
def test_an_invalid_pattern_is_refused(pattern):
    with pytest.raises(QuestionRefused):
        pattern_check(pattern)


@pytest.mark.parametrize("text", ["\0", "\ud800", "", "a\0b"])
def test_any_text_can_be_checked(text):
    assert pattern_check("^b")(text) in (True, False)
