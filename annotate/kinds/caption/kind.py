"""Captions: one sentence for an image, with or without priming keywords."""

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from annotate.campaign_file import CampaignConfig
from annotate.exports.records import class_names, create_in_chunks, image_record
from annotate.images.copies import display_url
from annotate.kinds.base import (
    AnswerMissing,
    AnswerRefused,
    CampaignNotPossible,
    Candidate,
    Drawn,
)
from annotate.kinds.caption.export import CAPTION_FILES
from annotate.language.consensus import mean_similarities
from annotate.language.text import normalise, problems
from annotate.models import (
    Campaign,
    Caption,
    Release,
    ReleasedCaption,
    ReleasedImage,
    Response,
    Role,
    Selection,
    Task,
)
from annotate.queries.keywords import keywords


class CaptionKind:
    name = "caption"
    subject_name = "image"
    answer_name = "caption"
    answers_name = "captions"
    faults: dict[str, str] = {
        "keyword-list": "a list of keywords, not a sentence",
        "wrong-image": "describes another image",
        "vague": "too vague: would fit many images",
        "not-english": "not in English",
        "copy": "the same as other captions",
    }
    template_name = "hits/kinds/caption.html"
    instructions_template_name = "hits/kinds/caption_instructions.html"
    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    facts_template_name = "hits/kinds/caption_facts.html"
    answer_template_name = "annotate/answers/caption.html"
    answer_shows_image = False
    content: tuple[str, ...] = ("caption",)
    content_column = "caption__text"
    is_text = True
    export_command = "export_captions"
    released_files_template_name = "annotate/released/caption_files.html"
    released_template_name = "annotate/released/caption.html"
    released_content: tuple[str, ...] = ("captions",)
    files = CAPTION_FILES

    def material(self, config: CampaignConfig, _at: datetime) -> dict[str, Any]:
        if config.selection is None:
            raise CampaignNotPossible("selection: a caption campaign needs a selection of images.")
        if config.responses is not None:
            raise CampaignNotPossible(
                "responses: a caption campaign uses references and baselines instead."
            )
        selection = Selection.objects.filter(name=config.selection).first()
        if selection is None:
            known = ", ".join(sorted(Selection.objects.values_list("name", flat=True)))
            raise CampaignNotPossible(
                f"selection: there is no selection {config.selection!r}. Existing names: "
                f"{known or 'none'}."
            )
        return {"selection": selection}

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """A task for each selected image; keywords are shown on a seeded share of them."""
        config = campaign.config
        assert campaign.selection is not None, "see material"
        selected = list(campaign.selection.selected.values_list("position", "image_id"))
        rng = random.Random(config.seed)
        primed = set(rng.sample(range(len(selected)), round(config.priming.share * len(selected))))
        for index, (position, image_id) in enumerate(selected):
            yield Task(
                campaign=campaign,
                image_id=image_id,
                number=position,
                wanted=config.wanted,
                answers_missing=config.wanted,
                places_left=config.wanted,
                shows_keywords=index in primed,
            )

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        field = self._field(task)
        return {
            "field": field,
            "value": fields.get(field, ""),
            "image": task.image,
            "image_url": display_url(task.image),
            "keywords": self._shown_keywords(task),
            "rules": config.captions,
        }

    def field_names(self, task: Task) -> list[str]:
        return [self._field(task)]

    def check(self, task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> str:
        raw = fields.get(self._field(task), "")
        found = problems(raw, rules=config.captions, keywords=self._shown_keywords(task))
        if found:
            raise AnswerRefused(found)
        return normalise(raw)

    def read(self, task: Task, fields: Mapping[str, str]) -> str:
        text = normalise(fields.get(self._field(task), ""))
        if not text:
            raise AnswerMissing(f"The answer contains no caption for image {task.number}.")
        return text

    def store(self, answers: Sequence[tuple[Response, str]]) -> None:
        Caption.objects.bulk_create(
            Caption(response=response, text=answer) for response, answer in answers
        )

    def fields_of(self, task: Task, answer: str) -> dict[str, str]:
        return {self._field(task): answer}

    def text(self, response: Response) -> str:
        return response.caption.text

    def told(self, response: Response) -> dict[str, Any]:
        return {"caption": response.caption.text}

    def agreements(self, contents: Mapping[int, Any]) -> dict[int, float]:
        """Each caption's mean similarity to the others."""
        return dict(zip(contents, mean_similarities([*contents.values()]), strict=True))

    def freeze(self, release: Release, drawn: Sequence[Drawn], numbers: Mapping[int, int]) -> None:
        """The first caption drawn is the human baseline, the others are references in the order
        in which they came in."""
        classes = class_names(release.campaign)
        images = ReleasedImage.objects.bulk_create(
            (
                ReleasedImage(
                    release=release,
                    task=task,
                    number=task.number,
                    record=image_record(task.image, classes[task.image_id]),
                )
                for task, _ in drawn
            ),
            batch_size=2000,
        )
        baselines = release.campaign.config.baselines
        rows = (
            ReleasedCaption(
                image=image,
                response_id=response.pk,
                worker_number=numbers[response.worker_id],
                role=role,
                text=response.content,
            )
            for image, (_, responses) in zip(images, drawn, strict=True)
            for response, role in _roles(responses, baselines)
        )
        create_in_chunks(ReleasedCaption, rows)

    def _field(self, task: Task) -> str:
        return f"caption-{task.number}"

    def _shown_keywords(self, task: Task) -> list[str]:
        return keywords(task.image) if task.shows_keywords else []


def _roles(responses: Sequence[Candidate], baselines: int) -> Iterator[tuple[Candidate, Role]]:
    for response in sorted(responses[baselines:], key=lambda response: response.pk):
        yield response, Role.REFERENCE
    for response in responses[:baselines]:
        yield response, Role.BASELINE
