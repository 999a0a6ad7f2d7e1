"""The kinds of jobs of this app, one module each. Each module registers its kinds."""

from annotate.job_kinds import exports, reports, selections

__all__ = ["exports", "reports", "selections"]
