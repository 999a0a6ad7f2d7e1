"""The cost of a response in a word–box link campaign, compared with a caption: claim, page, ingest
and export.

Both campaigns use the same images in one database, and alternate response by response: thirty
captions of an image, and three answers about each of ten captions of it. Captions have eleven
words; an answer links four of them to boxes. Ingest is the reconciler's own step on listed
assignments, without the marketplace's calls.
"""

import argparse
import tempfile
from collections import defaultdict
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from xml.sax.saxutils import escape

from annotate.kinds import KINDS
from annotate.kinds.reading import parse_config
from annotate.models import Box, Campaign, CaptionSet, GivenCaption, Release, Task
from annotate.services.campaigns import create_campaign
from annotate.services.releases import freeze
from annotate.services.teams import first_team
from benchmarks.campaigns import AT, SENTENCE, make_campaign, settle_down
from benchmarks.harness import Line, Report, main, milliseconds, ratio, scratch_database, seconds
from hits.models import Hit, HitStatus, HitType, Sync
from hits.mturk.client import marketplace_of
from hits.mturk.replies import ListedAssignment, ListedAssignmentStatus
from hits.reconcile.run import Run
from hits.reconcile.storing import ingest_assignments
from hits.services.submissions import Reported
from hits.services.task_pages import FrameParameters, open_page

AIM = 1.2
SUBMITTED_AT = datetime(2020, 1, 1, tzinfo=UTC)
CAPTIONS, ANSWERS = 10, 3  # captions per image, and answers about each as in the preset imageclef
WORKERS = 90
SIZES = {"short": 30, "full": 300}  # images
WARM_UP = 20  # responses before the measurement
REPEATS = 5  # of the export; the fastest counts
LINKED = (1, 4, 8, 9)  # children, umbrellas, stone, bridge
SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd"
)


def measure(options: argparse.Namespace) -> Report:
    size = SIZES["full" if options.full else "short"]
    responses = size * CAPTIONS * ANSWERS
    report = Report(figures={"images": size, "responses_of_each_kind": responses})
    with scratch_database(), tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        captions = make_campaign(name="captions", images=size, wanted=CAPTIONS * ANSWERS)
        campaigns = {"caption": captions, "correspondence": _correspondences(captions)}
        steps_by_kind = {kind: Steps(campaign) for kind, campaign in campaigns.items()}
        for number in range(responses):
            for steps in steps_by_kind.values():
                steps.do_response(worker=number % WORKERS)
        for part in ("claim", "page", "ingest"):
            times = {kind: milliseconds(steps.times[part]) for kind, steps in steps_by_kind.items()}
            _compare(report, part, times)
        _compare(report, "export", _export(campaigns, Path(folder)))
    return report


def _correspondences(captions: Campaign) -> Campaign:
    """A campaign about one caption of each of the images."""
    caption_set = CaptionSet.objects.create(team=first_team(at=AT), name="sentences", created_at=AT)
    GivenCaption.objects.bulk_create(
        GivenCaption(
            caption_set=caption_set,
            image_id=image,
            number=number,
            annotation_id=number,
            text=f"{SENTENCE}number {number}.",
        )
        for number, image in enumerate(
            [*captions.tasks.values_list("image", flat=True)] * CAPTIONS, start=1
        )
    )
    values = {
        "name": "correspondences",
        "preset": "imageclef",
        "caption_set": caption_set.name,
        "responses": ANSWERS,
        "budget": "99999.00",
    }
    return create_campaign(config=parse_config(values), endpoint="local", at=AT)


class Steps:
    """The steps of one campaign from a claim to a submitted response. `times` has the seconds by
    step."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign, self.kind = campaign, KINDS[campaign.kind]
        self.hit = _make_hit(campaign)
        sync = Sync.objects.create(campaign=campaign, started_at=AT)
        self.run = Run(campaign, marketplace_of(campaign), AT, sync)
        self.times: dict[str, list[float]] = defaultdict(list)
        self.numbers = count()

    def do_response(self, worker: int) -> None:
        """Claim, show and ingest one response of the worker."""
        number = next(self.numbers)
        frame = FrameParameters(
            f"{self.hit.hit_id}N{number}", self.hit.hit_id or "", f"AWORKER{worker}", ""
        )
        tasks: list[Task] = []
        took = {
            "claim": seconds(
                lambda: tasks.extend(open_page(campaign=self.campaign, frame=frame, at=AT).tasks)
            )
        }
        task = tasks[0]
        took["page"] = seconds(lambda: self.kind.context(task, self.campaign.config, {}))
        listed = _listed(frame, _answer_xml(_fields(task)))
        took["ingest"] = seconds(lambda: ingest_assignments(self.run, [Reported(self.hit, listed)]))
        if number >= WARM_UP:
            for part, time in took.items():
                self.times[part].append(time)


def _make_hit(campaign: Campaign) -> Hit:
    hit_type = HitType.objects.create(
        campaign=campaign, hit_type_id=f"TYPE{campaign.pk}", created_at=AT
    )
    return Hit.objects.create(
        campaign=campaign,
        hit_type=hit_type,
        hit_id=f"HIT{campaign.pk}",
        token=f"token-{campaign.pk}",
        status=HitStatus.OPEN,
        slots=9,
        available=9,
        reward="0.10",
        fee="0.02",
        planned_at=AT,
    )


def _listed(frame: FrameParameters, answer: str) -> ListedAssignment:
    """An assignment as a marketplace lists it after submission."""
    return ListedAssignment.model_validate(
        {
            "WorkerId": frame.worker_id,
            "AssignmentId": frame.assignment_id,
            "HITId": frame.hit_id,
            "AcceptTime": SUBMITTED_AT,
            "SubmitTime": SUBMITTED_AT,
            "AssignmentStatus": ListedAssignmentStatus.SUBMITTED,
            "Answer": answer,
        }
    )


def _fields(task: Task) -> dict[str, str]:
    """The fields that a worker fills in."""
    if task.subject is None:
        return {f"caption-{task.number}": f"{SENTENCE}seen from side {task.number}."}
    boxes = Box.objects.filter(image=task.image_id).values_list("pk", flat=True)
    return {
        f"word-{word}-{task.number}": f"box:{box}" for word, box in zip(LINKED, boxes, strict=True)
    }


def _answer_xml(fields: dict[str, str]) -> str:
    answers = "".join(
        f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier>"
        f"<FreeText>{escape(value)}</FreeText></Answer>"
        for name, value in fields.items()
    )
    return f'<QuestionFormAnswers xmlns="{SCHEMA}">{answers}</QuestionFormAnswers>'


def _export(campaigns: dict[str, Campaign], folder: Path) -> dict[str, float]:
    """Milliseconds per response of each kind's whole export."""
    releases = {
        kind: freeze(campaign=campaign, name=kind, seed=1, at=AT)
        for kind, campaign in campaigns.items()
    }
    settle_down()
    best = dict.fromkeys(releases, float("inf"))
    for _ in range(REPEATS):
        for kind, release in releases.items():
            best[kind] = min(best[kind], seconds(lambda: _write(release, folder / kind)))  # noqa: B023
    responses = campaigns["correspondence"].tasks.count() * ANSWERS
    return {kind: 1000 * took / responses for kind, took in best.items()}


def _write(release: Release, folder: Path) -> None:
    KINDS[release.campaign.kind].write(release, folder)


def _compare(report: Report, part: str, times: dict[str, float]) -> None:
    caption, correspondence = times["caption"], times["correspondence"]
    growth = ratio(correspondence, caption)
    report.lines.append(
        Line(
            f"{part}, per response",
            f"{correspondence:.3f} ms a correspondence",
            f"{caption:.3f} ms a caption",
            growth,
            None if part == "page" else AIM,
        )
    )
    report.figures[part] = {
        "correspondence_ms": round(correspondence, 4),
        "caption_ms": round(caption, 4),
        "ratio": growth,
    }


if __name__ == "__main__":
    main(measure, name="kinds", description=__doc__)
