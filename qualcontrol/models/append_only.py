"""The triggers of the decision log."""

from annotate.site.append_only import AppendOnly

DECISIONS = AppendOnly(
    "qualcontrol_decision",
    "decision",
    "decisions are only appended, never changed or deleted",
)
install, remove = DECISIONS.install, DECISIONS.remove
