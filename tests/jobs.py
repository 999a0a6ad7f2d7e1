"""Run the jobs that wait, as a worker process does."""

from background.jobs.runner import run_waiting
from background.models import Job


def run_jobs() -> list[Job]:
    """Run all jobs that wait, in this process and its database connection."""
    return list(run_waiting())
