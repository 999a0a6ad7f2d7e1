"""Store one submission, where the product stores many at once."""

from annotate.services.responses import Submitted, add_all_submitted
from hits.services.submissions import Reported, take_submissions


def add_submitted(*, worker, answers, at, submission=None):
    """Store the answers that a worker submitted; return the new responses."""
    return add_all_submitted(submitted=[Submitted(worker, answers, submission)], at=at)[0]


def take_submission(*, campaign, hit, listed, at):
    """Return the row of an assignment that the marketplace lists, and whether it is new."""
    return take_submissions(campaign=campaign, reported=[Reported(hit, listed)], at=at)[0]
