"""Question forms with few questions, and a key to their answers."""

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
