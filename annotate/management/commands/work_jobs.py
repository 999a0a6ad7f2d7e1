import signal
import time
from typing import Any, NoReturn

from django.core.management.base import CommandParser

from annotate.jobs.runner import WorkerStopped, run_waiting
from annotate.management.base import DomainCommand
from annotate.management.retry import Retry
from annotate.models import Job
from annotate.wording import counted


class Command(DomainCommand):
    help = (
        "Run the jobs that wait: publications, syncs, releases, reports, exports and imports that "
        "were requested on a page or through the API. Several of these commands can run at the "
        "same time. A job whose process was killed is started again by another process after about "
        "a minute."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--watch",
            type=float,
            metavar="SECONDS",
            help="look for jobs every SECONDS, until a signal ends the command. A job that is "
            "running then is given back for another process",
        )

    def handle(self, *, watch: float | None, **_: Any) -> None:
        try:
            if watch:
                self._watch(watch)
            self.stdout.write(f"{counted(self._work(), 'job')} ended.")
        except WorkerStopped:
            self.stdout.write("Stopped.")

    def _watch(self, seconds: float) -> NoReturn:
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(each, _stop)
        retry = Retry()
        while True:
            retry.attempt(self._work)
            time.sleep(seconds)

    def _work(self) -> int:
        """Work until no job is due; return the number of jobs."""
        jobs = 0
        for job in run_waiting():
            jobs += 1
            self.stdout.write(_line(job))
            self.stdout.flush()
        return jobs


def _stop(*_: object) -> None:
    raise WorkerStopped


def _line(job: Job) -> str:
    return f"{job}: {job.get_status_display().lower()}"
