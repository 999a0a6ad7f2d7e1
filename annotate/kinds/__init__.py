"""The registry of task types. Each task type is one folder in this package; the modules beside the
folders ask the task type of a campaign, and know none of them."""

from annotate.kinds.base import AnswerMissing, AnswerRefused, CampaignNotPossible, TaskKind
from annotate.kinds.caption.kind import CaptionKind
from annotate.kinds.correspondence.kind import CorrespondenceKind
from annotate.kinds.preference.kind import PreferenceKind
from annotate.kinds.rating.kind import RatingKind
from annotate.kinds.refine.kind import RefineKind
from annotate.kinds.region.kind import RegionKind

_all: list[TaskKind] = [
    CaptionKind(),
    CorrespondenceKind(),
    RatingKind(),
    PreferenceKind(),
    RefineKind(),
    RegionKind(),
]
KINDS = {kind.name: kind for kind in _all}
# The task type of campaign files that name none.
DEFAULT_KIND = _all[0].name
