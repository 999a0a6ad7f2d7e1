"""Reviewing spot checks: the queue, the items that reviewers see, judgements and gold items."""
