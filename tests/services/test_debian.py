"""deploy/debian.sh installs the product, as far as a machine whose first process is not systemd can
show it: in a mount namespace, so that nothing of it stays, and with PostgreSQL's own server.

Units and their files are checked in tests/docs/test_deployment_files.py.
"""

import os
import re
import shutil
import subprocess

import psycopg2
import pytest

from tests.hits.marketplace_process import ROOT
from tests.services.installation import SERVER

pytestmark = pytest.mark.services

SITES = "https://captions.example.org https://work.example.org"
DATABASES = ("captions", "marketplace", "restored", "restored_marketplace")
# What the script writes to is laid over the machine's own folders. The interpreter may be in a
# folder of root's.
OVERLAYS = ("/etc", "/usr/local/bin", "/var/backups", "/root")
USERS = "from django.contrib.auth.models import User; print(User.objects.get())"
BACKUP = (ROOT / "deploy/systemd/captions-backup.service").read_text()
BACKUPS = re.findall(r"^ExecStart=\S+ manage\.py (.+)$", BACKUP, flags=re.MULTILINE)


def install_and_back_up(folder):
    """The script of the test, in bash."""
    overlays = [(name, name) for name in OVERLAYS] + [(str(ROOT), "/opt/captions")]
    yield "set -euo pipefail; mount -t tmpfs none /opt; mkdir /opt/captions; cd /"
    for number, (lower, there) in enumerate(overlays):
        upper, work = folder / f"upper{number}", folder / f"work{number}"
        for each in (upper, work):
            each.mkdir()
            each.chmod(0o755)
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        yield f"mount -t overlay overlay -o {options} {there}"
    yield "chmod 755 /root; rm -rf /opt/captions/var /etc/captions.env; mkdir -p /etc/caddy"
    # Packages are not installed here, and no unit is started: the calls are noted.
    yield f"mkdir {folder}/programs; export PATH={folder}/programs:/usr/local/bin:$PATH"
    for name in ("apt-get", "systemctl"):
        yield f"echo 'echo {name} $@' >{folder}/programs/{name}; chmod +x {folder}/programs/{name}"
    yield f"sh /opt/captions/deploy/debian.sh {SITES}"
    yield "cp /etc/captions.env /etc/first.env"
    yield f"sh /opt/captions/deploy/debian.sh {SITES}; cmp /etc/captions.env /etc/first.env"
    yield "stat --format '%a %n' /etc/captions.env /var/backups/captions /opt/captions/var"
    yield "export DJANGO_SUPERUSER_PASSWORD=a-long-pass-phrase"
    yield "captions-manage createsuperuser --no-input --username ada --email ada@example.org"
    yield from (f"captions-manage {command}" for command in BACKUPS)
    for name in ("restored", "restored_marketplace"):
        yield f"runuser --user postgres -- createdb --owner captions {name}"
    changes = "s#5432/captions#5432/restored#; s#5432/market#5432/restored_market#"
    yield f"sed -i '{changes}' /etc/captions.env"
    yield "mv /opt/captions/var/media /opt/captions/var/lost 2>/dev/null || true"
    yield "captions-manage restore /var/backups/captions/site/*"
    yield "captions-manage marketplace_restore /var/backups/captions/marketplace/*"
    yield f"captions-manage shell --no-imports --command '{USERS}'"
    yield "captions-manage check --deploy --fail-level WARNING"


@pytest.fixture
def databases():
    """The server's connection, without the databases and the role that the script makes."""
    try:
        connection = psycopg2.connect(SERVER)
    except psycopg2.OperationalError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = 'captions'")
            if cursor.fetchone():
                pytest.fail("This server has a role `captions`: the script is not tried on it.")
            yield cursor
            for name in DATABASES:
                cursor.execute(f"DROP DATABASE IF EXISTS {name}")
            cursor.execute("DROP ROLE IF EXISTS captions")
    finally:
        connection.close()


def test_the_script_installs_both_sites_whose_backups_can_be_restored(tmp_path, databases):
    if os.geteuid() or not (shutil.which("unshare") and shutil.which("runuser")):
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("only root can try it, with unshare and runuser")
    script = "\n".join(install_and_back_up(tmp_path))

    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", script],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": "/tmp"},
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    assert "600 /etc/captions.env\n700 /var/backups/captions\n700 /opt/captions/var" in done.stdout
    assert done.stdout.count("It was read back without errors.") == 2
    assert done.stdout.count("Restored the backup") == 2
    assert re.search(r"^ada$", done.stdout, flags=re.MULTILINE)
    assert "systemctl enable captions-marketplace" in done.stdout
