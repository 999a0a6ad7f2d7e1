"""Captions: one sentence for an image, with or without priming keywords."""

from collections.abc import Mapping
from typing import Any

from annotate.config import CampaignConfig
from annotate.image_files import display_url
from annotate.kinds.base import AnswerMissing, AnswerRefused
from annotate.models import Caption, Response, Task
from annotate.services.priming import keywords
from annotate.text import normalise, problems


class CaptionKind:
    name = "caption"
    template_name = "hits/kinds/caption.html"
    instructions_template_name = "hits/kinds/caption_instructions.html"

    def context(self, task: Task, config: CampaignConfig) -> dict[str, Any]:
        return {
            "field": self._field(task),
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
            raise AnswerMissing(f"The answer holds no caption of image {task.number}.")
        return text

    def store(self, response: Response, answer: str) -> None:
        Caption.objects.update_or_create(response=response, defaults={"text": answer})

    def fields_of(self, response: Response) -> dict[str, str]:
        return {self._field(response.task): response.caption.text}

    def _field(self, task: Task) -> str:
        return f"caption-{task.number}"

    def _shown_keywords(self, task: Task) -> list[str]:
        return keywords(task.image) if task.shows_keywords else []
