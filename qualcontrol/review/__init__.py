"""Spot checks: the sampling, the queue, the items that reviewers see, and judgements."""
