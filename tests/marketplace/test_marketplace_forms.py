"""QuestionForm: checked, drawn, answered."""

import pytest
import requests
from bs4 import BeautifulSoup

from marketplace.errors import QuestionRefused
from marketplace.questions import answer_keys, answers, check_question
from marketplace.questions.forms import formatted
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
    ],
)  # fmt: skip
def test_formatted_text_keeps_what_is_harmless(given, shown):
    assert formatted(given) == shown


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

    assert answer_keys.score(KEY.replace("{mapping}", mapping), document) == score
