"""Preferences as a task type: a worker says which of two captions of an image is better."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.utils.translation import gettext

from annotate.campaign_file import CampaignConfig
from annotate.exports.files import stored_files
from annotate.kinds.base import Sign
from annotate.kinds.preference.pairs import (
    KNOWN,
    LATEST,
    STEPS,
    Pair,
    Preference,
    Standing,
    candidates,
)
from annotate.kinds.preference.release import freeze, tables
from annotate.kinds.rating.answers import Answer, Scales
from annotate.kinds.rating.kind import RatingKind, scales_of, shown_name, shown_question
from annotate.kinds.rating.marks import MARKS, MOST_MISSING
from annotate.kinds.rating.sources import captions_of, captions_to_rate, images_step
from annotate.kinds.steps import StepFields
from annotate.models import Campaign, Release, ReleasedImage, Response, Selection, Task
from corpora.evaluation.bootstrap import RESAMPLES
from corpora.evaluation.comparisons import PRIOR
from corpora.language.text import Problem, gettext_noop

# The criteria of ImageInWords' side-by-side evaluation (Garg et al. 2024).
IMAGE_IN_WORDS = {
    "comprehensiveness": gettext_noop(
        "Which text covers more of the important objects and facts of the image?"
    ),
    "specificity": gettext_noop(
        "Which text describes them in more detail, such as attributes, numbers and positions?"
    ),
    "hallucinations": gettext_noop(
        "Which text has fewer statements that are not true of the image?"
    ),
    "tldr": gettext_noop("Whose first sentence sums up the image better?"),
    "human_likeness": gettext_noop("Which text reads more as if a person had written it?"),
}


class PreferenceKind(RatingKind):
    name = "preference"
    label = "Compare two captions of each image"
    answer_name = "comparison"
    answers_name = "comparisons"
    section = Preference
    defaults: ClassVar[Mapping[str, Any]] = {
        "responses": 3,
        "hit": {
            "title": gettext_noop("Choose the better of two texts about a photograph"),
            "description": gettext_noop(
                "Look at a photograph, read two short texts about it, and say which is better."
            ),
            "keywords": "image, photograph, caption, compare, evaluate, English",
        },
    }
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "iiw-side-by-side": {
            "kind": "preference",
            "preference": {
                "criteria": [
                    {"name": name, "question": text} for name, text in IMAGE_IN_WORDS.items()
                ]
            },
        }
    }
    presets_in_words: ClassVar[Mapping[str, str]] = {
        "iiw-side-by-side": "Side by side as for ImageInWords: five criteria, five steps"
    }
    material_keys = ("selection", "preference.sources")
    steps: ClassVar[Mapping[str, StepFields]] = {"images": images_step("preference")}
    faults: ClassVar[Mapping[str, str]] = {
        "not-looked-at": "choices that do not fit the image",
        "same-side": "always the same side",
        "only-length": "prefers the longer text, whatever it says",
    }
    flags: ClassVar[Mapping[str, str]] = {}
    about_release = "Comparisons of two image captions by crowd workers, and a ranking of sources."
    files = stored_files("preferences.json", "votes.csv", "ranking.csv")
    judgements = "preferences.json"
    freeze = staticmethod(freeze)
    tables = staticmethod(tables)

    def payload(
        self, config: CampaignConfig, image: int, captions: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any] | None:
        """Pairs drawn at random. Images whose captions are all the same make no task."""
        rules: Preference = self.rules(config)
        pairs = candidates(captions, f"{config.seed}/{image}/pairs")
        if not pairs:
            return None
        return {
            "captions": captions,
            "scales": [*self.scales(config).items()],
            "pairs": pairs[: rules.pairs_per_image],
            MARKS: rules.marks,
        }

    def scales(self, config: CampaignConfig) -> Scales:
        return {criterion.name: len(STEPS) for criterion in self.rules(config).criteria}

    def number_of_tasks(self, selection: Selection, config: CampaignConfig) -> int:
        images = list(selection.selected.values_list("image_id", flat=True))
        to_rate = captions_to_rate(
            self.rules(config), images, config.seed, selection.team, config.language
        )
        return sum(bool(candidates(captions, "")) for _, captions in to_rate)

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Choose the pairs of tasks that no page has shown yet, from the votes so far."""
        campaign = tasks[0].campaign
        rules: Preference = self.rules(campaign.config)
        new = [task for task in tasks if task.payload and KNOWN not in task.payload]
        if rules.pairs == "random" or not new:
            return
        standing = Standing(campaign, rules)
        # An answer may come from a form of the worker's own, and says something of the pairs as
        # they are.
        answered = set(Response.objects.filter(task__in=new).values_list("task_id", flat=True))
        for task in new:
            if task.pk in answered:
                continue
            seed = f"{campaign.config.seed}/{task.image_id}/pairs"
            pairs = standing.choose(task, rules.pairs_per_image, seed)
            task.payload = {**(task.payload or {}), "pairs": pairs, KNOWN: standing.known}
            task.save(update_fields=["payload"])

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        rules: Preference = self.rules(config)
        questions = [criterion.as_question for criterion in rules.criteria]
        return {
            **self.image_context(task, config),
            "most_missing": MOST_MISSING,
            "most_options": max(self.scales(config).values()),
            "pairs": [
                {
                    "number": number,
                    "captions": [
                        {
                            **self.shown_caption(task, 2 * number - 2 + place, fields),
                            "letter": letter,
                        }
                        for place, letter in enumerate("AB", start=1)
                    ],
                    "questions": [
                        shown_question(task, number, question, fields) for question in questions
                    ],
                }
                for number in range(1, self.rated(task) + 1)
            ],
        }

    def instructions_context(self, _config: CampaignConfig) -> dict[str, Any]:
        return {}

    def texts(self, task: Task) -> list[str]:
        captions = captions_of(task)
        return [captions[place]["text"] for pair in pairs_of(task) for place in pair["captions"]]

    def rated(self, task: Task) -> int:
        return len(pairs_of(task))

    def unanswered(self, numbers: Sequence[int]) -> Problem:  # noqa: ARG002
        return Problem("unanswered", gettext("Please answer all questions."))

    def signs(self, answer: Answer, _config: CampaignConfig) -> list[Sign]:  # noqa: ARG002
        return []

    def answer_context(self, response: Response) -> dict[str, Any]:
        captions, names = self.marked(response), scales_of(response.task)
        criteria = self.rules(response.task.campaign.config).criteria
        shown = {each.name: shown_name(each.as_question) for each in criteria}
        return {
            "pairs": [
                {
                    "captions": captions[2 * index : 2 * index + 2],
                    "votes": [
                        {
                            "name": shown[name],
                            "label": gettext(STEPS[given[name] - 1])
                            if name in given
                            else gettext("not answered"),
                        }
                        for name in names
                    ],
                }
                for index, given in enumerate(self._votes(response))
            ]
        }

    def summary(self, response: Response) -> str:
        """The steps of each pair, in the order of the criteria: `1 3 · 5 4`."""
        names = scales_of(response.task)
        return " · ".join(
            " ".join(str(given.get(name, "–")) for name in names) for given in self._votes(response)
        )

    def judge_payload(self, response: Response) -> dict[str, Any]:
        captions = self.marked(response)
        return {
            "answer": [
                {"a": captions[2 * index], "b": captions[2 * index + 1], "votes": given}
                for index, given in enumerate(self._votes(response))
            ]
        }

    def _votes(self, response: Response) -> list[Mapping[str, int]]:
        numbers = range(1, self.rated(response.task) + 1)
        return [response.answer.content.get(str(number), {}) for number in numbers]

    def methods(self, campaign: Campaign) -> Iterator[str]:
        rules: Preference = self.rules(campaign.config)
        yield from rules.methods()
        for criterion in rules.criteria:
            steps = ", ".join(STEPS)
            yield f"Criterion {criterion.name}: “{criterion.question}” Answers from 1: {steps}."
        most = f"Pairs of texts to compare, at most {rules.pairs_per_image} of each image"
        if rules.pairs == "random":
            yield f"{most}, were drawn at random (seed {campaign.config.seed})."
        else:
            yield (
                f"{most}, were chosen when a page first showed the image, from the latest "
                f"{LATEST:,} answers at that time: those after which the ranking was expected to "
                "lose least by wrong orders (the linear loss of Chick and Inoue 2001). "
                f"The seed {campaign.config.seed} decided between equals."
            )
        yield (
            "Sources are ranked by the model of Bradley and Terry (1952), with a normal prior of "
            f"precision {PRIOR}. Much and slightly better count alike, and a tie is half a win for "
            "each. 95% intervals and the chances that an order is wrong are from a bootstrap that "
            f"draws images and raters independently, with {RESAMPLES:,} resamples (Owen and "
            "Eckles 2012)."
        )

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        return {
            "comparisons": [
                {
                    "sides": [comparison["a"], comparison["b"]],
                    "votes": " · ".join(
                        f"{name}: {_in_words(steps)}"
                        for name, steps in _steps(comparison["votes"]).items()
                    ),
                }
                for comparison in image.record["comparisons"]
            ]
        }

    def released_figures(self, release: Release) -> dict[str, Any]:
        figures: dict[str, Any] = release.figures
        return figures


def pairs_of(task: Task) -> Sequence[Pair]:
    payload: dict[str, Any] = task.payload or {}
    pairs: Sequence[Pair] = payload["pairs"]
    return pairs


def _steps(votes: Iterable[Mapping[str, int]]) -> dict[str, list[int]]:
    """The steps that workers chose for each criterion."""
    steps: dict[str, list[int]] = {}
    for vote in votes:
        for name in vote.keys() - {"worker"}:
            steps.setdefault(name, []).append(vote[name])
    return dict(sorted(steps.items()))


def _in_words(steps: Iterable[int]) -> str:
    """How many workers chose each step: `A is much better (2), no difference (1)`."""
    return ", ".join(f"{STEPS[step - 1]} ({n})" for step, n in sorted(Counter(steps).items()))
