"""What people may read in the decision log."""

from django.db.models import QuerySet

from qualcontrol.models import Act, Decision


def visible_to_reviewers(log: QuerySet[Decision]) -> QuerySet[Decision]:
    """The log without judgements of checks that wait for a reviewer, who must not see them."""
    hidden = [Act.JUDGE_GOOD, Act.JUDGE_BAD, Act.TAKE_BACK]
    return log.exclude(act__in=hidden, response__spot_check__verdict="")
