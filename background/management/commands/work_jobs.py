import signal
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from accounts.management.base import DomainCommand
from background import clock
from background.jobs.runner import run_waiting
from background.jobs.work import WorkerStopped, stopping
from background.tasks import EXPECTED
from corpora.language import english
from corpora.wording import counted
from shared.metrics import serve_metrics
from shared.number_fields import duration
from shared.repeater import Repeater

# Time for the threads to give their jobs back, or to end what they do.
PATIENCE = 10.0


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
            type=duration,
            metavar="SECONDS",
            help="look for jobs every SECONDS, until a signal ends the command. A job that is "
            "running then is given back for another process",
        )
        parser.add_argument(
            "--clock",
            action="store_true",
            help="with --watch, also do in threads what Celery beat starts otherwise: syncs, "
            "notices, scores, copies of images, and once a day what `tidy` does",
        )

    def handle(self, *, watch: float | None, clock: bool, **_: Any) -> None:
        if clock and not watch:
            raise CommandError("--clock goes with --watch.")
        try:
            if watch:
                self._watch(watch, has_clock=clock)
            self.stdout.write(f"{counted(self._work(), 'job')} ended.")
        except WorkerStopped:
            self.stdout.write("Stopped.")

    def _watch(self, seconds: float, *, has_clock: bool) -> None:
        for signal_number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(signal_number, _stop)
        threads = _started_clock() if has_clock else []
        try:
            Repeater("jobs", self._work, every=seconds, known=EXPECTED).run()
        finally:
            stopping.set()
            for thread in threads:
                thread.stopped.set()
            for thread in threads:
                thread.join(PATIENCE / len(threads))
            stopping.clear()

    def _work(self) -> int:
        """Work until no job is due; return the number of jobs."""
        jobs = 0
        for job in run_waiting():
            jobs += 1
            self.stdout.write(f"{job}: {job.get_status_display().lower()}")
            self.stdout.flush()
        return jobs


def _started_clock() -> list[Repeater]:
    serve_metrics(settings.METRICS_ADDRESS)
    english.load()
    threads = clock.entries()
    for thread in threads:
        thread.start()
    return threads


def _stop(*_: object) -> None:
    raise WorkerStopped
