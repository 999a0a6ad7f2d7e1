"""psiTurk 3.3, unmodified, posts HITs, lists, approves and pays a bonus at the marketplace.

psiTurk passes Amazon's host names to boto3, so both ways of redirecting are tested.
"""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hits.marketplace_process import ROOT, MarketplaceProcess, running_marketplace
from tests.psiturk.installation import PsiTurk, make_experiment
from tests.servers import PATIENCE, free_port

pytestmark = pytest.mark.services

# In place of the hosts entry, and of a port that only administrators may have.
HOSTS_ENTRY = """
import socket
original = socket.getaddrinfo
def getaddrinfo(host, port, *args, **kwargs):
    if str(host).startswith("mturk-requester"):
        host, port = "127.0.0.1", {port}
    return original(host, port, *args, **kwargs)
socket.getaddrinfo = getaddrinfo
"""
BALANCE = "100.00"


@contextmanager
def under_marketplace_run(folder: Path) -> Iterator[tuple[MarketplaceProcess, PsiTurk]]:
    with running_marketplace(folder) as marketplace:
        prefix = [sys.executable, str(ROOT / "manage.py"), "marketplace_run"]
        prefix += ["--endpoint", marketplace.url, "--"]
        keys = marketplace.requester("lab", BALANCE)
        yield marketplace, make_experiment(folder, keys, prefix=prefix)


@contextmanager
def over_tls(folder: Path) -> Iterator[tuple[MarketplaceProcess, PsiTurk]]:
    port = free_port()
    certificates = folder / "certificates"
    options = ["--tls", "--tls-port", str(port), "--certificates", str(certificates)]
    with running_marketplace(folder, options=options) as marketplace:
        hosts = folder / "hosts"
        hosts.mkdir()
        (hosts / "sitecustomize.py").write_text(HOSTS_ENTRY.format(port=port))
        environment = {
            "AWS_CA_BUNDLE": str(certificates / "authority.pem"),
            "PYTHONPATH": str(hosts),
        }
        keys = marketplace.requester("lab", BALANCE)
        yield marketplace, make_experiment(folder, keys, mode="live", environment=environment)


@pytest.mark.parametrize("way", [under_marketplace_run, over_tls])
def test_psiturk_posts_lists_approves_and_pays_a_bonus(tmp_path, way):
    with way(tmp_path) as (marketplace, psiturk):
        assert BALANCE in psiturk.shell("amt_balance")
        hit_id = _post(psiturk)
        _work(marketplace, psiturk, hit_id)

        (listed,) = json.loads(psiturk.shell("worker list --submitted --all-studies"))
        approved = psiturk.shell(f"worker approve --hit {hit_id}")
        bonus = psiturk.shell(f"worker bonus --amount 0.25 --reason=Thanks --hit {hit_id}")

        assert (listed["hitId"], listed["status"]) == (hit_id, "Submitted")
        assert "success" in approved
        assert "success" in bonus
        (listed,) = json.loads(psiturk.shell("worker list --approved --all-studies"))
        assert (listed["hitId"], listed["status"]) == (hit_id, "Approved")
        psiturk.shell("hit expire --all")
        psiturk.shell("hit delete --all")
        # One reward of 0.50 with its fee of 0.10, and a bonus of 0.25 with its fee of 0.05.
        assert "99.10" in psiturk.shell("amt_balance")


def _post(psiturk: PsiTurk) -> str:
    created = psiturk.shell("hit create 3 0.50 1.0")
    found = re.search(r"HITid: ([A-Z0-9]+)", created)
    assert found, created
    listed = psiturk.shell("hit list --active")
    assert "max:3/pending:0/complete:0/remain:3" in listed, listed
    return found[1]


def _work(marketplace: MarketplaceProcess, psiturk: PsiTurk, hit_id: str) -> None:
    (worker,) = marketplace.fresh_workers(1)
    groups = worker.http.get(marketplace.url + "/", timeout=PATIENCE).text
    hit_type_id = re.search(r"/groups/([A-Z0-9]+)/", groups)
    assert hit_type_id, groups
    with psiturk.server():
        frame = worker.accept(hit_type_id[1])
        assert f"hitId={hit_id}" in frame.src
        psiturk.take_part(worker, frame)
    # What the form on psiTurk's last page sends.
    done = worker.submit(frame.assignment_id, hitId=hit_id, workerId=worker.worker_id)
    assert done.ok, done.text
