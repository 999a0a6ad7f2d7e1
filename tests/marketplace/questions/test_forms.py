"""QuestionForm: validation, rendering and answers."""

import pytest
import requests
from bs4 import BeautifulSoup

from marketplace.errors import QuestionRefused
from marketplace.questions import answers, check_question, parse_question
from marketplace.questions.content import formatted
from tests.marketplace.driver import create_hit, create_hit_type

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"


def form(questions: str, version: str = "2017-11-06") -> str:
    return (
        f'<QuestionForm xmlns="{NAMESPACE}/{version}/QuestionForm.xsd">'
        f"<Overview><Title>Two questions</Title></Overview>{questions}</QuestionForm>"
    )


def question(identifier: str, specification: str, required: str = "true") -> str:
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>"
        f"<IsRequired>{required}</IsRequired>"
        "<QuestionContent><Text>What is it?</Text></QuestionContent>"
        f"<AnswerSpecification>{specification}</AnswerSpecification></Question>"
    )


def showing(content: str) -> str:
    """A question with this content."""
    return question("shown", "<FreeTextAnswer/>").replace("<Text>What is it?</Text>", content)


TEXT = question(
    "text",
    '<FreeTextAnswer><Constraints><Length minLength="3" maxLength="10"/></Constraints>'
    "<NumberOfLinesSuggestion>3</NumberOfLinesSuggestion></FreeTextAnswer>",
)
CHOICE = question(
    "animal",
    "<SelectionAnswer><MinSelectionCount>1</MinSelectionCount>"
    "<MaxSelectionCount>2</MaxSelectionCount><Selections>"
    + "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier><Text>A {name}</Text>"
        "</Selection>"
        for name in ("cat", "dog", "owl")
    )
    + "<OtherSelection/></Selections></SelectionAnswer>",
)


@pytest.mark.parametrize("version", ["2005-10-01", "2017-11-06"])
def test_both_versions_are_known(version):
    check_question(form(TEXT + CHOICE, version))


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
def test_what_cannot_be_drawn_is_refused(broken):
    text = form(broken).replace("<Overview><Title>Two questions</Title></Overview>", "")

    with pytest.raises(QuestionRefused):
        check_question(text)


def test_a_form_is_drawn_checked_and_submitted(marketplace):
    client = marketplace.requester()
    hit_type_id = create_hit_type(client)
    create_hit(client, hit_type_id, Question=form(TEXT + CHOICE))
    worker = marketplace.worker()
    assignment_id = worker.accept(hit_type_id)
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
    hit_type_id = create_hit_type(client)
    create_hit(client, hit_type_id, Question=form(TEXT))

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
def test_formatted_text_that_is_no_xhtml_has_an_error_code_of_its_own(text):
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


@pytest.mark.parametrize(
    ("text", "is_number"),
    [("5", True), (" -3.5 ", True), ("1e2", True), (".5", True), ("1_0", False), ("nan", False),
     ("inf", False), ("٣", False), ("9" * 6000, True), ("five", False)],
)  # fmt: skip
def test_what_counts_as_a_number(text, is_number):
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
    worker = marketplace.worker()
    assignment_id = worker.accept(hit_type_id)
    src = worker.frame(f"/assignments/{assignment_id}")["src"]
    soup = BeautifulSoup(requests.get(marketplace.url + src).text, "lxml")

    assert "The animal" in soup.find("legend").text
    assert soup.find("textarea", {"name": "animal.other"}).text == "bird"
    # With a way back from an option to the text, which radio buttons alone have not.
    assert [each["value"] for each in soup.find_all("input", {"type": "radio"})][-1] == ""


KEY = (
    f'<AnswerKey xmlns="{NAMESPACE}/2005-10-01/AnswerKey.xsd">'
    "<Question><QuestionIdentifier>animal</QuestionIdentifier>"
    "<AnswerOption><SelectionIdentifier>dog</SelectionIdentifier>"
    "<SelectionIdentifier>cat</SelectionIdentifier><AnswerScore>10</AnswerScore></AnswerOption>"
    "<AnswerOption><SelectionIdentifier>dog</SelectionIdentifier><AnswerScore>5</AnswerScore>"
    "</AnswerOption><DefaultScore>1</DefaultScore></Question>{mapping}</AnswerKey>"
)
PERCENTAGE = (
    "<QualificationValueMapping><PercentageMapping><MaximumSummedScore>10</MaximumSummedScore>"
    "</PercentageMapping></QualificationValueMapping>"
)


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
