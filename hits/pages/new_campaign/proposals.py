"""What the step of reward and budget shows before somebody has stored it."""

from typing import Any

from pydantic import ValidationError

from annotate.campaign_file import fair_hit
from annotate.kinds.reading import filled, merged
from annotate.models import CampaignDraft
from annotate.services.drafts import value_at
from corpora.language.text import SENTENCE_WORDS, CaptionRules


def proposed_hit(draft: CampaignDraft) -> dict[str, Any]:
    """The `hit.` keys that the draft does not have yet: a reward and a time that suit long
    captions, and no reward for one's own people. Empty once a step that asks for the reward was
    stored."""
    if {"reward", "short"} & {*draft.visited}:
        return {}
    whole, proposed = filled(draft.file), dict[str, Any]()
    try:
        captions = CaptionRules.model_validate(whole["captions"])
    except ValidationError:
        captions = None
    if captions is not None and captions.usual_words > SENTENCE_WORDS:
        proposed = fair_hit(captions)
    if whole["workers"].get("who") == "own":
        proposed["reward"] = "0.00"
    return {
        key: value
        for key, value in proposed.items()
        if value_at(draft.file, f"hit.{key}") is None and f"hit.{key}" not in draft.unfinished
    }


def file_so_far(draft: CampaignDraft) -> dict[str, Any]:
    """The draft's file with what is proposed."""
    proposed = proposed_hit(draft)
    return merged(draft.file, {"hit": proposed}) if proposed else dict(draft.file)
