import json
import sys
from pathlib import Path
from typing import Any

from accounts.management.base import DomainCommand
from corpora.errors import DomainError
from hits.queries.worker_data import data_of
from hits.services.accounts import worker_named


class Command(DomainCommand):
    help = "Write everything that is stored about one worker, in all campaigns, as JSON."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "worker",
            help="pseudonym, or the worker's id at the marketplace; - reads it from a line",
        )
        parser.add_argument(
            "--out", type=Path, metavar="FILE", help="file to create (default: standard output)"
        )

    def handle(self, *, worker: str, out: Path | None, **_: Any) -> None:
        data = data_of(worker_named(sys.stdin.readline() if worker == "-" else worker))
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        if out is None:
            self.stdout.write(text, ending="")
            return
        try:
            # Nobody else on this machine can read the file.
            out.touch(mode=0o600, exist_ok=False)
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise DomainError(f"{out}: {error.strerror}") from error
        self.stdout.write(f"{out} has the data of {data['pseudonym']}.")
