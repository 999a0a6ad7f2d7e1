"""The commands `spot_checks`, `judge` and `quality`, as used by scripts."""

import io
import json
import re

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from annotate.models import Box, Response
from qualcontrol.models import Act, Decision, Exclusion, Judgement, SpotCheck
from qualcontrol.review import judging
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.intake import review_submitted
from tests.factories import (
    NOON,
    BoxFactory,
    CampaignFactory,
    LinkCampaignFactory,
    LinkResponseFactory,
    LinkTaskFactory,
    ResponseFactory,
    UserFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory(config={"review": NO_REQUIRED_CHECKS})


def run(command, *arguments, **options):
    out = io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def answer_of(command, *arguments):
    return json.loads(run(command, *arguments, "--json"))


def verdicts_file(tmp_path, *lines):
    path = tmp_path / "verdicts.jsonl"
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return str(path)


def test_spot_checks_gives_what_a_script_needs(campaign):
    worker = WorkerFactory()
    [response] = write(campaign, worker, text="Dog, ball, grass.")

    [item] = answer_of("spot_checks", campaign.slug, "--next=3")

    assert item["response"] == response.pk
    assert item["image"] == response.task.image.key
    assert item["worker"] == worker.pseudonym
    assert item["caption"] == "Dog, ball, grass."
    assert 0 < item["risk"] <= 1
    assert item["is_random"] is False
    [short] = [flag for flag in item["flags"] if flag["code"] == "too_short"]
    assert set(short) == {"code", "value", "threshold", "sentence"}
    assert (short["value"], short["threshold"]) == (3, 8)


@pytest.fixture
def linked():
    """A worker's links: `dog` to one box, `man` to two, one of which is not in the image."""
    campaign = LinkCampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    task = LinkTaskFactory(campaign=campaign, boxes=["Dog", "Man"])
    dog, man = Box.objects.filter(image=task.image).order_by("object_class__name")
    words = {"1": [man.pk, BoxFactory().pk], "4": [dog.pk], "6": "not-visual"}
    response = LinkResponseFactory(task=task, words=words)
    review_submitted(campaign=campaign, responses=[response], at=NOON)
    return response


def test_spot_checks_of_links_has_the_caption_and_what_was_linked(linked):
    [item] = answer_of("spot_checks", linked.task.campaign.slug)

    image = linked.task.image.key
    assert item["response"] == linked.pk
    assert item["caption"] == "A man feeds a dog in front of a red car."
    answer = item["answer"]
    assert answer["brackets"] == "A [man]2 feeds a [dog]1 in front of a red car."
    assert answer["links"] == {"1": [f"{image}-2"], "4": [f"{image}-1"]}
    assert answer["kinds"] == {"6": "not-visual"}
    assert answer["tokens"][4] == {"text": "dog", "start": 14, "end": 17}
    assert {key: (box["number"], box["label"]) for key, box in answer["boxes"].items()} == {
        f"{image}-1": (1, "Dog"),
        f"{image}-2": (2, "Man"),
    }
    assert answer["boxes"][f"{image}-2"]["fractions"][::2] == pytest.approx([0.1, 0.2])


def test_spot_checks_of_links_without_json_shows_them_in_brackets(linked):
    said = run("spot_checks", linked.task.campaign.slug)

    assert "A [man]2 feeds a [dog]1 in front of a red car." in said


def test_judge_takes_what_spot_checks_gave_with_a_verdict_added(campaign, linked, tmp_path):
    write(campaign, WorkerFactory())
    for slug in (campaign.slug, linked.task.campaign.slug):
        [item] = answer_of("spot_checks", slug)
        path = verdicts_file(tmp_path, {**item, "verdict": "bad", "reason": "wrong box"})

        said = run("judge", slug, path)

        assert "1 verdict imported (0 good, 1 bad)" in said
        assert answer_of("spot_checks", slug) == []
    assert {check.reason for check in SpotCheck.objects.all()} == {"wrong box"}


def test_spot_checks_without_json_reads_as_text(campaign):
    write(campaign, WorkerFactory(), text="Dog, ball, grass.")

    said = run("spot_checks", campaign.slug)

    assert "Dog, ball, grass." in said
    assert "the minimum is 8" in said


def test_spot_checks_of_a_campaign_without_responses_is_an_empty_array(campaign):
    assert answer_of("spot_checks", campaign.slug) == []
    assert run("spot_checks", campaign.slug) == "No responses to judge.\n"


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("estimate", "--seconds=nan"),
        ("release", f"--seed={2**63}"),
        ("spot_checks", "--next=10001"),
        ("sync", "--watch=-1"),
    ],
)
def test_a_number_that_no_command_can_use_is_refused(campaign, command, option):
    name = ["--name=v1"] if command == "release" else []

    with pytest.raises(CommandError, match=option.partition("=")[0]):
        call_command(command, campaign.slug, option, *name)


def test_spot_checks_gives_at_least_one(campaign):
    with pytest.raises(CommandError, match="--next: 0 is not from 1"):
        run("spot_checks", campaign.slug, "--next=0")


def test_judge_takes_verdicts_in_any_case_and_gives_a_bad_one_a_reason(campaign, tmp_path):
    one, other, third = write(campaign, WorkerFactory(), 3)
    path = verdicts_file(
        tmp_path,
        {"response": one.pk, "verdict": "good"},
        {"response": other.pk, "verdict": "BAD"},
        {"response": str(third.pk), "verdict": "Bad", "reason": "a list of words"},
    )

    said = run("judge", campaign.slug, path)

    assert "3 verdicts imported (1 good, 2 bad)" in said
    assert list(SpotCheck.objects.order_by("response").values_list("verdict", "reason")) == [
        ("GOOD", ""),
        ("BAD", "judged by file"),
        ("BAD", "a list of words"),
    ]
    assert list(Response.objects.counting()) == [one]
    discards = Decision.objects.filter(act=Act.DISCARD).order_by("response")
    assert [(entry.response, entry.decided_by, entry.reason) for entry in discards] == [
        (other, "command", "judged by file"),
        (third, "command", "judged by file: a list of words"),
    ]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "not valid JSON"),
        ("[1]", "a JSON object is expected"),
        ({"response": 1}, "verdict is None, not good or bad"),
        ({"response": 1, "verdict": "fine"}, "verdict is 'fine', not good or bad"),
        ({"verdict": "good"}, "response is None, not a response's number"),
        ({"response": True, "verdict": "good"}, "response is True, not a response's number"),
        ({"response": 10**30, "verdict": "good"}, "not a response's number"),
        ({"response": 10**9, "verdict": "good"}, "has no submitted response 1000000000"),
        ({"response": 1, "verdict": "bad", "reason": 3}, "reason is 3, not a text"),
    ],
)
def test_judge_names_a_faulty_line_and_takes_the_others(campaign, tmp_path, line, fault):
    [response] = write(campaign, WorkerFactory())
    if isinstance(line, dict) and line.get("reason"):
        line = line | {"response": response.pk}
    path = verdicts_file(tmp_path, line, "", {"response": response.pk, "verdict": "good"})
    out = io.StringIO()

    with pytest.raises(CommandError, match="1 line could not be imported"):
        call_command("judge", campaign.slug, path, stdout=out, stderr=out)

    assert "line 1: " in out.getvalue()
    assert fault in out.getvalue()
    assert SpotCheck.objects.get().verdict == "GOOD"


def test_judge_takes_no_response_of_another_campaign(campaign, tmp_path):
    elsewhere = ResponseFactory()
    path = verdicts_file(tmp_path, {"response": elsewhere.pk, "verdict": "good"})

    with pytest.raises(CommandError):
        run("judge", campaign.slug, path)

    assert not SpotCheck.objects.exists()


def test_judging_twice_is_told_and_no_error(campaign, tmp_path):
    [response] = write(campaign, WorkerFactory())
    path = verdicts_file(tmp_path, {"response": response.pk, "verdict": "good"})
    run("judge", campaign.slug, path)

    said = run("judge", campaign.slug, path)

    assert "0 verdicts imported (0 good, 0 bad), 1 skipped" in said
    assert "line 1: You have already judged this response." in said


def test_judge_reads_standard_input(campaign, monkeypatch):
    [response] = write(campaign, WorkerFactory())
    line = json.dumps({"response": response.pk, "verdict": "good"})
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(line.encode())))

    assert "1 verdict imported" in run("judge", campaign.slug, "-")


@pytest.mark.parametrize(
    "encode",
    [
        lambda pk: f'\ufeffresponse;verdict;reason\r\n{pk};bad;"a list;\r\nof words"\r\n'.encode(),
        lambda pk: f"verdict\treason\tresponse\nbad\ta list\t {pk} \n".encode("utf-16"),
        lambda pk: json.dumps([{"response": pk, "verdict": "bad", "reason": "a list"}]).encode(),
        lambda pk: f'[\n{{"response":{pk},\n"verdict":"bad","reason":"a list"}}\n]'.encode(),
    ],
)
def test_judge_reads_tables_arrays_and_other_encodings(campaign, tmp_path, encode):
    [response] = write(campaign, WorkerFactory())
    path = tmp_path / "verdicts"
    path.write_bytes(encode(response.pk))

    said = run("judge", campaign.slug, str(path))

    assert "1 verdict imported (0 good, 1 bad)" in said
    assert SpotCheck.objects.get().reason.startswith("a list")


def test_judge_takes_nothing_of_a_file_with_a_bad_byte_and_names_its_line(campaign, tmp_path):
    responses = write(campaign, WorkerFactory(), 5)
    lines = [json.dumps({"response": r.pk, "verdict": "bad", "reason": "odd"}) for r in responses]
    path = tmp_path / "verdicts.jsonl"
    content = "\r\n".join(lines).encode()
    path.write_bytes(content[:-4] + b"\x92" + content[-4:])
    out = io.StringIO()

    with pytest.raises(CommandError) as refused:
        call_command("judge", campaign.slug, path, "--reviewer=anna", stdout=out, stderr=out)

    assert str(refused.value) == (
        f"{path}:5: byte 0x92 at offset {len(content) - 4} is not UTF-8 text (in Windows-1252 it "
        "is '’'); save the file as UTF-8. No verdict was imported."
    )
    assert out.getvalue() == ""
    assert not Judgement.objects.exists()
    assert not get_user_model().objects.filter(username="anna").exists()


def test_a_table_without_the_columns_of_verdicts_is_refused(campaign, tmp_path):
    path = tmp_path / "verdicts.csv"
    path.write_text("number,good\n1,yes\n")

    with pytest.raises(CommandError, match=r"csv:1: .* with the column response; .*number, good"):
        run("judge", campaign.slug, str(path))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("[" * 200_000, "nested too deeply"),
        (
            '{"response": 1000000000, "verdict": "good", "x": ' + "[" * 800 + "]" * 800 + "}",
            "no submitted",
        ),
        ('{"response": ' + "[" * 800 + "]" * 800 + ', "verdict": "good"}', "not a response's"),
        ('{"response": 1, "verdict": "bad", "reason": "\\u0000"}', "a NUL character (U+0000)"),
        ('{"response": 1, "verdict": "bad", "reason": "\\ud83d"}', "half of a surrogate pair"),
        ('{"response": "٣", "verdict": "good"}', "not a response's number"),
        ('{"response": 1, "verdict": ["good"]}', "verdict is ['good'], not good or bad"),
        ('{"response": ' + "9" * 5_000 + ', "verdict": "good"}', "a number has more digits"),
    ],
)
def test_judge_names_a_line_that_is_out_of_the_ordinary(campaign, tmp_path, line, fault):
    [response] = write(campaign, WorkerFactory())
    path = verdicts_file(tmp_path, {"response": response.pk, "verdict": "good"}, line)
    out = io.StringIO()

    with pytest.raises(CommandError, match="1 line could not be imported"):
        call_command("judge", campaign.slug, path, stdout=out, stderr=out)

    [named] = [one for one in out.getvalue().splitlines() if one.startswith("line 2: ")]
    assert fault in named
    assert SpotCheck.objects.get().verdict == "GOOD"


def test_a_judge_command_that_stops_half_way_keeps_its_verdicts_and_applies_the_policy(
    campaign, tmp_path, monkeypatch
):
    careless = WorkerFactory()
    written = write(campaign, careless, 30, text="dog ball grass")
    for _ in range(5):
        write(campaign, WorkerFactory(), 30)
    path = verdicts_file(
        tmp_path, *({"response": one.pk, "verdict": "bad", "reason": "list"} for one in written)
    )
    keep = judging.keep_judgement

    def stop_at_the_tenth(*, response, **rest):
        if response == written[9]:
            raise KeyboardInterrupt
        keep(response=response, **rest)

    monkeypatch.setattr(judging, "keep_judgement", stop_at_the_tenth)
    out = io.StringIO()

    with pytest.raises(KeyboardInterrupt):
        call_command("judge", campaign.slug, path, stdout=out)

    assert "9 verdicts imported (0 good, 9 bad), 0 skipped. 1 decision by" in out.getvalue()
    assert "stopped after line 9" in out.getvalue()
    assert Exclusion.objects.get().worker == careless


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "--reviewer is empty"),
        ("  ", "--reviewer is empty"),
        ("x" * 300, "--reviewer has 300 characters: a name has 150 at most"),
        ("a\udc80", r"--reviewer 'a\\udc80' has characters that cannot be printed"),
    ],
)
def test_a_reviewer_needs_a_name_that_a_user_can_have(campaign, tmp_path, name, reason):
    [response] = write(campaign, WorkerFactory())
    path = verdicts_file(tmp_path, {"response": response.pk, "verdict": "good"})

    with pytest.raises(CommandError, match=reason):
        run("judge", campaign.slug, path, f"--reviewer={name}")

    assert not Judgement.objects.exists()


def test_judge_says_that_a_file_is_not_there(campaign, tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        run("judge", campaign.slug, str(tmp_path / "nothing.jsonl"))


def test_judge_keeps_who_judged(campaign, tmp_path):
    one, two, other = write(campaign, WorkerFactory(), 3)
    anna = UserFactory(username="anna")
    for name, response in (("anna", one), ("Anna", two), ("ben", other)):
        path = verdicts_file(tmp_path, {"response": response.pk, "verdict": "good"})
        run("judge", campaign.slug, path, f"--reviewer={name}")

    ben = get_user_model().objects.get(username="ben")
    assert (ben.is_active, ben.has_usable_password()) == (False, False)
    reviewers = Judgement.objects.values_list("reviewer", flat=True)
    assert list(reviewers) == [anna.pk, anna.pk, ben.pk]


def test_a_script_finds_the_careless_worker_and_has_them_excluded(campaign, tmp_path):
    careless = WorkerFactory()
    write(campaign, careless, 30, text="dog ball grass")
    for _ in range(5):
        write(campaign, WorkerFactory(), 30)
    for _ in range(3):
        items = answer_of("spot_checks", campaign.slug, "--next=4")
        lines = [
            {
                "response": item["response"],
                "verdict": "bad" if item["worker"] == careless.pseudonym else "good",
            }
            for item in items
        ]
        run("judge", campaign.slug, verdicts_file(tmp_path, *lines))

    report = answer_of("quality", campaign.slug)

    excluded = [row["worker"] for row in report["workers"] if row["state"] == "excluded"]
    assert excluded == [careless.pseudonym]


def test_quality_gives_every_figure(campaign):
    worker, idle = WorkerFactory(), WorkerFactory()
    first, second, *_ = write(campaign, worker, 4)
    write(campaign, idle)
    judge(first, "GOOD", UserFactory(username="anna"))
    judge(second, "BAD")

    report = answer_of("quality", campaign.slug)

    assert report["campaign"] == campaign.slug
    assert report["verdicts"] == {"good": 1, "bad": 1, "waiting": 0}
    assert report["estimate"] == {"share": None, "low": 0.0, "high": 1.0, "checks": 0, "of": 4}
    assert report["agreement"] == {"pairs": 0, "kappa": None, "alpha": None}
    assert {one["name"]: (one["judged"], one["bad"]) for one in report["reviewers"]} == {
        "anna": (1, 0),
        "": (1, 1),
    }
    row, _ = report["workers"]
    sentences = row.pop("moved_by")
    assert sentences
    assert 0 < row.pop("risk") < 1
    assert 0 < row.pop("low") <= row.pop("share") <= row.pop("high") < 1
    assert row == {
        "worker": worker.pseudonym,
        "responses": 4,
        "kept": 3,
        "discarded": 1,
        "good": 1,
        "bad": 1,
        "state": "active",
    }


def test_quality_estimates_from_the_random_checks_alone():
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 1, "policy": "propose"}})
    responses = write(campaign, WorkerFactory(), 20)
    by_draw = sorted(responses, key=lambda one: one.spot_check.draw)
    for response in by_draw[:10]:
        judge(response, "GOOD")
    judge(by_draw[15], "BAD")

    estimate = answer_of("quality", campaign.slug)["estimate"]

    # The sixteenth in the random order is judged before the eleventh, and so is not in yet.
    assert (estimate["checks"], estimate["of"]) == (10, 19)


def test_quality_without_json_is_a_table(campaign):
    worker = WorkerFactory()
    write(campaign, worker, 3)

    said = run("quality", campaign.slug)

    assert "3 responses kept; no estimate yet" in said
    assert "No flag is frequent in 3 responses." in said
    head, row = said.splitlines()[-2:]
    assert row.split()[:2] == [worker.pseudonym, "3"]
    ends = [match.end() for match in re.finditer(r"\S+", head)]
    assert ends[1:] == [match.end() for match in re.finditer(r"\S+", row)][1 : len(ends)]


@pytest.mark.parametrize("command", ["spot_checks", "quality"])
def test_a_campaign_that_is_not_there_is_said_in_a_line(command):
    with pytest.raises(CommandError, match="There is no campaign 'nothing'"):
        run(command, "nothing")


def test_a_worker_excluded_by_hand_shows_as_excluded(campaign):
    worker = WorkerFactory()
    write(campaign, worker, 3)
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    [row] = answer_of("quality", campaign.slug)["workers"]

    assert (row["state"], row["kept"], row["discarded"]) == ("excluded", 0, 3)
