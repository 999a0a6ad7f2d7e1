"""Redirecting programs written for Amazon to the marketplace, with real child processes."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from django.core.management import ManagementUtility

from marketplace.redirect import redirected
from marketplace.redirect.hook.marketplace_redirect import redirected_url
from tests.servers import PATIENCE

pytestmark = [pytest.mark.one_database, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[4]
LAB = "http://127.0.0.1:8001"

ASK_BALANCE = """
import boto3, json, sys
for address in sys.argv[1:] or [""]:
    client = boto3.client("mturk", region_name="us-east-1", endpoint_url=address or None)
    print(json.dumps(client.get_account_balance()["AvailableBalance"]))
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py marketplace_run ARGUMENTS` as a process."""
    return subprocess.run(
        [sys.executable, "manage.py", "marketplace_run", *arguments],
        cwd=ROOT,
        env={
            **{name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def run_script(tmp_path: Path, script: str, *arguments: str, endpoint: str = LAB, **environment):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(script))
    return run("--endpoint", endpoint, "--", sys.executable, str(path), *arguments, **environment)


def keys_of(marketplace) -> dict[str, str]:
    keys = marketplace.keys(balance="12.34")
    return {
        "AWS_ACCESS_KEY_ID": keys["access_key"],
        "AWS_SECRET_ACCESS_KEY": keys["secret_key"],
    }


def test_a_program_reaches_the_marketplace_whatever_address_it_names(marketplace, tmp_path):
    addresses = [
        "",
        "https://mturk-requester.us-east-1.amazonaws.com",
        "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
        "https://mturk-requester-sandbox.us-east-1.amazonaws.com/",
    ]

    done = run_script(
        tmp_path, ASK_BALANCE, *addresses, endpoint=marketplace.url, **keys_of(marketplace)
    )

    assert (done.stdout, done.returncode) == ('"12.34"\n' * 4, 0), done.stderr


def test_programs_that_the_program_starts_are_led_as_well(marketplace, tmp_path):
    (tmp_path / "child.py").write_text(ASK_BALANCE)
    script = f"""
    import subprocess, sys
    sys.exit(subprocess.call([sys.executable, {str(tmp_path / "child.py")!r}]))
    """

    done = run_script(tmp_path, script, endpoint=marketplace.url, **keys_of(marketplace))

    assert done.stdout == '"12.34"\n', done.stderr


def test_a_proxy_for_the_rest_of_the_world_is_not_asked(marketplace, tmp_path):
    proxies = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}

    done = run_script(
        tmp_path, ASK_BALANCE, endpoint=marketplace.url, **proxies, **keys_of(marketplace)
    )

    assert done.stdout == '"12.34"\n', done.stderr


def test_other_services_stay_where_they_are(tmp_path):
    script = """
    import boto3
    from botocore.awsrequest import AWSResponse
    seen = []
    def answer(request, **_):
        seen.append(request.url)
        return AWSResponse(request.url, 200, {}, None)
    session = boto3.Session("k", "s", region_name="us-east-1")
    for service, call in (("sqs", "list_queues"), ("mturk", "get_account_balance")):
        client = session.client(service)
        client.meta.events.register("before-send", answer)
        try:
            getattr(client, call)()
        except Exception:
            pass
    print(*sorted(set(seen)))
    """

    done = run_script(tmp_path, script)

    assert done.stdout.split() == [f"{LAB}/", "https://sqs.us-east-1.amazonaws.com/"], done.stderr


def test_the_start_up_hook_that_was_there_before_still_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.was_here = True\n")
    script = "import sitecustomize, sys; print(sys.was_here, sitecustomize.__file__)"

    done = run_script(tmp_path, script, PYTHONPATH=str(tmp_path))

    assert done.stdout == f"True {tmp_path / 'sitecustomize.py'}\n", done.stderr


def test_the_program_gets_its_own_environment_and_arguments(tmp_path):
    script = """
    import json, os, sys
    print(json.dumps([sys.argv[1:], os.environ.get("DJANGO_SETTINGS_MODULE")]))
    """

    done = run_script(tmp_path, script, "--settings", "mine", "--", "-v")

    assert json.loads(done.stdout) == [["--settings", "mine", "--", "-v"], None]


def test_the_exit_status_is_the_programs(tmp_path):
    assert run_script(tmp_path, "raise SystemExit(42)").returncode == 42


def test_a_signal_reaches_the_program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "manage.py", "marketplace_run", "--", sys.executable, str(path)],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)

        assert process.wait(PATIENCE) == 9


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--"], 1, "Name a program"),
        (["--", "no-such-program"], 127, "was not found"),
        (["--", str(ROOT / "README.md")], 126, "cannot be run"),
        (["--endpoint", "lab", "--", "true"], 1, "no address"),
    ],
)
def test_a_program_that_cannot_be_run_is_named_in_one_line(arguments, status, message, capfd):
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", "marketplace_run", *arguments]).execute()

    said = capfd.readouterr().err
    assert (ended.value.code, len(said.splitlines())) == (status, 1), said
    assert message in said


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://mturk-requester.us-east-1.amazonaws.com/", f"{LAB}/mturk/"),
        ("https://mturk-requester-sandbox.us-east-1.amazonaws.com:443/", f"{LAB}/mturk/"),
        ("https://MTURK-requester.us-east-1.AmazonAWS.com/?a=b", f"{LAB}/mturk/?a=b"),
        ("https://mturk-requester-fips.us-west-2.amazonaws.com/", f"{LAB}/mturk/"),
        ("https://mturk-requester.us-east-1.amazonaws.com.example/", None),
        ("https://not-mturk-requester.us-east-1.amazonaws.com/", None),
        ("https://s3.amazonaws.com/mturk-requester.us-east-1.amazonaws.com", None),
        ("http://127.0.0.1:9/", None),
    ],
)
def test_only_amazons_hosts_are_replaced(url, expected):
    assert redirected_url(url, f"{LAB}/mturk/") == (expected or url)


def test_the_environment_keeps_what_it_had():
    before = {"PYTHONPATH": "mine", "no_proxy": "localhost", "OTHER": "1"}

    after = redirected(before, endpoint=LAB)

    assert after["PYTHONPATH"].endswith(f"{os.pathsep}mine")
    assert after["no_proxy"].endswith(",localhost")
    assert (after["OTHER"], "NO_PROXY" in after) == ("1", False)
