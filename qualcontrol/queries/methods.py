"""The text on the methods of a release, for a paper's appendix: each figure is from the data."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import median, quantiles

from django.db.models import Count, Max, Min, Q

from annotate.exports.files import HTML, named_pages
from annotate.kinds import KINDS
from annotate.kinds.base import TaskKind
from annotate.models import Behaviour, Campaign, Release, Response, ResponseStatus
from annotate.models.responses import ResponseQuerySet
from corpora.language.languages import language_of
from corpora.language.text import CaptionRules
from corpora.wording import counted, exact_percent
from qualcontrol.models import Act, Appeal, Judgement, SpotCheck, Verdict
from qualcontrol.models.decisions import OF_THE_CAMPAIGN
from qualcontrol.queries.quality_report import quality_report

CHANGES = {Act.REWARD, Act.SHARE}


def methods_text(release: Release, campaigns: Sequence[Campaign]) -> str:
    """`methods.md`: who collected what, how many, for which pay, by which rules and checks, who was
    excluded, and when. A section for each campaign."""
    lines = [
        f"# Methods of {release.name}",
        "",
        "Computed from the data when the release was made, on "
        f"{_day(release.created_at)}. Imported responses are counted and not otherwise described.",
    ]
    for campaign in campaigns:
        lines += ["", f"## {campaign.slug}", ""]
        for title, sentences in _parts(campaign):
            items = [f"- {sentence}" for sentence in sentences if sentence]
            lines += [f"### {title}", "", *(items or ["- Nothing is recorded."]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _parts(campaign: Campaign) -> Iterator[tuple[str, Iterator[str]]]:
    yield "What was collected", _collected(campaign)
    if _here(campaign).exists():
        # Otherwise nobody was asked, paid, or shown a page.
        yield "Who worked", _workers(campaign)
        yield "Pay", _pay(campaign)
        yield "Rules", _rules(campaign)
    yield "Checks", _checks(campaign)
    yield "Exclusions", _exclusions(campaign)
    yield "Dates", _dates(campaign)


def _collected(campaign: Campaign) -> Iterator[str]:
    kind, config = KINDS[campaign.kind], campaign.config
    total = Response.objects.of(campaign).aggregate(
        all=Count("pk"),
        discarded=Count("pk", filter=Q(status=ResponseStatus.DISCARDED)),
        imported=Count("pk", filter=Q(imported_from__isnull=False)),
        withdrawn=Count("pk", filter=Q(withdrawn_at__isnull=False)),
        reasons=Count("pk", filter=~Q(cannot_describe="")),
    )
    preset = f", preset {config.preset}" if config.preset else ""
    yield f"Task type {config.kind}{preset}, in {language_of(config.language).name}."
    tasks = counted(campaign.tasks.count(), kind.subject_name)
    yield f"{tasks} of {campaign.material}; {kind.answers_name} wanted for each: {config.wanted}."
    yield from kind.methods(campaign)
    yield f"{kind.answers_name.capitalize()}: {total['all']:,}. Discarded: {total['discarded']:,}."
    if config.captions.cannot_describe:
        yield f"Of these, reasons why an image cannot be described: {total['reasons']:,}."
    if total["imported"]:
        yield f"Collected elsewhere and imported: {total['imported']:,}."
    if total["withdrawn"]:
        yield f"Withdrawn by those who wrote them: {total['withdrawn']:,}."


def _workers(campaign: Campaign) -> Iterator[str]:
    workers, here = campaign.config.workers, _here(campaign)
    numbers = list(here.order_by().values_list("worker").annotate(n=Count("pk")))
    answers = [number for _, number in numbers]
    if answers:
        yield (
            f"Workers: {len(answers):,}. Answers of a worker: {median(answers):g} (median), "
            f"at most {max(answers):,}."
        )
    wanted = [
        f"country {' or '.join(workers.countries)}" if workers.countries else "",
        f"{workers.approved_hits:,} approved HITs" if workers.approved_hits else "",
        f"an approval rate above {workers.approval_rate}%" if workers.approval_rate else "",
        "the Masters qualification" if workers.masters else "",
    ]
    sources = {"own": "own people", "panel": "people of a panel"}
    yield (
        f"Admitted: {sources.get(workers.who, 'workers of the marketplace')}; requirements: "
        f"{', '.join(filter(None, wanted)) or 'none'}."
    )
    devices = Behaviour.objects.filter(response__in=here).exclude(device="").order_by()
    by_device = devices.values_list("device").annotate(n=Count("pk")).order_by("-n", "device")
    if named := ", ".join(f"{device.lower()} {number:,}" for device, number in by_device):
        yield f"Answers by device, where it is known: {named}."


def _pay(campaign: Campaign) -> Iterator[str]:
    hit = campaign.config.hit
    yield (
        f"${hit.reward} for an assignment of {counted(hit.images, 'task')}, for which workers had "
        f"{counted(hit.minutes, 'minute')}."
    )
    if campaign.decisions.filter(act=Act.REWARD).exists():
        yield "The reward was changed (see Dates): this is the last one, also in what follows."
    timed = _here(campaign).counting().filter(seconds__gt=0)
    seconds = [float(duration) for duration in timed.values_list("seconds", flat=True) if duration]
    if seconds and hit.reward:
        # Of fewer than three values, `quantiles` takes ones beyond them, which may be 0.
        fast, middle, slow = quantiles([*seconds, *seconds] if len(seconds) < 3 else seconds, n=4)
        rates = [float(hit.reward) * 3600 / (time * hit.images) for time in (middle, slow, fast)]
        yield (
            f"One answer took {middle:.0f} s (median; the middle half {fast:.0f} to {slow:.0f} s). "
            f"This is ${rates[0]:,.2f} an hour (${rates[1]:,.2f} to "
            f"${rates[2]:,.2f}), without bonuses and fees."
        )


def _rules(campaign: Campaign) -> Iterator[str]:
    kind, config = KINDS[campaign.kind], campaign.config
    if kind.has_references or kind.builds_on_answers:
        yield from _rules_of_texts(config.captions, kind)
    asked_first = {
        f"to confirm “{config.writing.confirm}”": config.writing.confirm,
        "to count the dots in a picture": config.writing.question,
    }
    if named := " and ".join(name for name, is_asked in asked_first.items() if is_asked):
        yield f"On their first page, workers were asked {named}."
    if config.writing.refuse_paste:
        yield "The page refused pasted and dropped text."
    if asked := config.practice.items:
        paid = "a paid" if config.practice.paid else "an unpaid"
        yield (
            f"New workers did {paid} practice with {counted(len(asked), 'question')}; right "
            f"answers needed: {config.practice.least_right}."
        )
    for name, page in named_pages(campaign):
        yield f"From {_day(page.first_shown_at)} on, workers read `{name}{HTML}`."


def _rules_of_texts(rules: CaptionRules, kind: TaskKind) -> Iterator[str]:
    target = f", about {rules.target_words} asked for" if rules.target_words else ""
    yield (
        f"A {rules.style} of {rules.least_words} to {counted(rules.most_words, 'word')}{target}, "
        f"at most {counted(rules.most_characters, 'character')}."
    )
    refused = {
        "“There is” at the start": rules.forbid_there_is,
        "several lines": rules.forbid_line_breaks,
        "web addresses": rules.forbid_urls,
        "lists of keywords": rules.forbid_keyword_lists and kind.has_references,
    }
    named = ", ".join(name for name, is_refused in refused.items() if is_refused)
    yield f"The page refused: {named or 'nothing else'}."
    if rules.cannot_describe:
        yield (
            "In place of it, workers could choose why the image cannot be described: "
            f"{', '.join(f'“{reason}”' for reason in rules.cannot_describe)}. Images were closed "
            f"at {counted(rules.cannot_describe_quorum, 'such answer')}."
        )
    if rules.show_context:
        yield "The page showed the text around each image."
    if rules.rate_first:
        number = counted(rules.rate_first_captions, "caption")
        yield f"Workers first rated at most {number} of each image, of the set {rules.rate_first}."


def _checks(campaign: Campaign) -> Iterator[str]:
    review, report = campaign.config.review, quality_report(campaign)
    yield (
        f"Required checks: a random {exact_percent(review.share)} of the answers, and first "
        f"answers of each worker: {review.first}. Judgements of an answer: {review.reviewers}."
    )
    if review.trial:
        number = counted(review.trial, "answer")
        yield f"New workers could submit {number} before the first were checked."
    judges = Judgement.objects.filter(spot_check__campaign=campaign).order_by()
    people = judges.values("reviewer").distinct().count()
    if review.tells_workers:
        yield "Workers read why their answers were discarded, and could appeal there."
    if report.judged:
        yield (
            f"{counted(people, 'reviewer')} judged {counted(report.judged, 'answer')}: "
            f"{report.good:,} good, {report.bad:,} bad."
        )
    if report.bad:
        bad = SpotCheck.objects.of(campaign).filter(verdict=Verdict.BAD)
        # A reviewer's own words may name a person.
        faults = map(KINDS[campaign.kind].fault_in, bad.values_list("reason", flat=True))
        numbers = Counter(fault or "another reason" for fault in faults)
        # Databases read rows in orders of their own: equal numbers are by the reason.
        reasons = sorted(numbers.items(), key=lambda each: (-each[1], each[0]))
        yield "Reasons: " + ", ".join(f"{why} {number:,}" for why, number in reasons) + "."
    if report.agreement.kappa is not None:
        yield (
            f"Agreement of two reviewers: kappa {report.agreement.kappa:.2f} on "
            f"{counted(report.agreement.pairs, 'answer')}."
        )
    estimate = report.estimate
    if estimate.checks:
        yield (
            f"Estimated share of bad answers among those kept: {estimate.share:.1%} "
            f"(95% interval {estimate.low:.1%} to {estimate.high:.1%}, "
            f"{counted(estimate.checks, 'random check')})."
        )


def _exclusions(campaign: Campaign) -> Iterator[str]:
    review = campaign.config.review
    decides = "the campaign" if review.policy == "decide" else "a person, on a proposal,"
    yield (
        f"{decides[:1].upper()}{decides[1:]} excluded workers who were, with a probability of "
        f"{exact_percent(review.certainty)}, above {exact_percent(review.limit)} bad answers."
    )
    rows = campaign.exclusions.all()
    theirs = Response.objects.of(campaign).filter(
        status=ResponseStatus.DISCARDED, worker__in=rows.in_force().values("worker")
    )
    yield (
        f"Workers excluded: {rows.in_force().count():,}. Answers of them that were discarded: "
        f"{theirs.count():,}. Exclusions lifted: {rows.exclude(lifted_at=None).count():,}."
    )
    appeals = Appeal.objects.filter(exclusion__campaign=campaign)
    yield f"Appeals: {appeals.count():,}, granted: {appeals.filter(is_granted=True).count():,}."
    rejected = campaign.decisions.filter(act=Act.REJECT).count()
    yield f"Assignments that a person decided not to pay: {rejected:,}."


def _dates(campaign: Campaign) -> Iterator[str]:
    answers = _here(campaign).aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    if answers["first"]:
        yield f"Answers: {_day(answers['first'])} to {_day(answers['last'])}."
    judged = Judgement.objects.filter(spot_check__campaign=campaign)
    checks = judged.aggregate(first=Min("at"), last=Max("at"))
    if checks["first"]:
        yield f"Checks: {_day(checks['first'])} to {_day(checks['last'])}."
    for decision in campaign.decisions.filter(act__in=OF_THE_CAMPAIGN).order_by("at", "pk"):
        # The text after the change is a person's, and not for publication.
        change = decision.reason.partition(". ")[0] if decision.act in CHANGES else ""
        text = f"{_day(decision.at)}: {decision.get_act_display()} {change}"
        yield text.strip().removesuffix(".") + "."


def _here(campaign: Campaign) -> ResponseQuerySet:
    """The responses that were collected here, discarded ones included."""
    return Response.objects.of(campaign).filter(imported_from=None)


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
