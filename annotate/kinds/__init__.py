"""Each kind of task is one module here; this is the one place that lists them."""

from annotate.kinds.base import AnswerMissing, AnswerRefused, TaskKind
from annotate.kinds.caption import CaptionKind

KINDS: dict[str, TaskKind] = {kind.name: kind for kind in [CaptionKind()]}

__all__ = ["KINDS", "AnswerMissing", "AnswerRefused", "TaskKind"]
