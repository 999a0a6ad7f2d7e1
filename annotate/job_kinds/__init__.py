"""The kinds of jobs of this app, one module each. Each module registers its kinds."""

from annotate.job_kinds import exports, images, reports, selections

__all__ = ["exports", "images", "reports", "selections"]
