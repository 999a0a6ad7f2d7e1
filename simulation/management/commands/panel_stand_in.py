"""The command that serves a stand-in for Prolific, for trying the marketplace out."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from waitress import serve

from shared.number_fields import PORT
from simulation.prolific.hooks import Faults, Sender
from simulation.prolific.server import StandIn
from simulation.prolific.state import World


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(text)
    return share


class Command(BaseCommand):
    help = (
        "Serve a stand-in for Prolific on this machine, with a balance and its own participants' "
        "pages. Prints the variables that connect the marketplace to it. Everything is in memory. "
        "Stop it with Ctrl-C."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=PORT, default=8010, help="port to listen on (default: 8010)"
        )
        parser.add_argument(
            "--balance",
            type=int,
            metavar="DOLLARS",
            default=1000,
            help="balance of the workspace (default: 1000)",
        )

        parser.add_argument(
            "--faulty-hooks",
            type=_share,
            metavar="SHARE",
            default=0.0,
            help="share of hooks that are lost; as many are repeated, and their order changes "
            "(default: 0)",
        )

    def handle(self, *, port: int, balance: int, faulty_hooks: float, **_options: Any) -> None:
        world = World(balance=100 * balance)
        Sender(world.hooks, Faults(faulty_hooks)).start()
        address = f"http://127.0.0.1:{port}"
        for name, value in {
            "PROLIFIC_API_URL": address,
            "PROLIFIC_API_TOKEN": "stand-in",
            "PROLIFIC_WORKSPACE": world.workspace,
            "PROLIFIC_PROJECT": world.project,
            "PROLIFIC_RETURN_URL": f"{address}/submissions/complete",
            "PROLIFIC_HOOK_SECRET": world.make_secret(world.workspace),
            "PROLIFIC_VAT": str(world.vat),
        }.items():
            self.stdout.write(f"export {name}={value}")
        self.stdout.write(f"# Take part in published studies at {address}/", ending="\n")
        self.stdout.flush()
        serve(StandIn(world, token="stand-in"), host="127.0.0.1", port=port, _quiet=True)
