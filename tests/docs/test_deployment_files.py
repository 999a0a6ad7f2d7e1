"""The files in deploy/: as far as a machine without Docker can check them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
PRODUCT = {name: service for name, service in SERVICES.items() if service["image"] == "captions"}
UNITS = sorted((DEPLOY / "systemd").iterdir())
INSTALLED = "/opt/captions"
PROGRAMS = Path(sys.executable).parent


def run(*command: str, **options) -> None:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def program(name: str) -> str:
    """The program's path. Without it the test is skipped, but fails in CI, which installs it."""
    path = shutil.which(name)
    if path is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"there is no {name} on the PATH")
    return path


def template() -> dict[str, str]:
    """The variables of environment.example, those in comments too."""
    text = (DEPLOY / "environment.example").read_text()
    return dict(re.findall(r"^#?([A-Z_]+)=(.*)$", text, flags=re.MULTILINE))


@pytest.mark.slow
def test_hadolint_finds_nothing_in_the_dockerfile():
    run(str(PROGRAMS / "hadolint"), str(DEPLOY / "Dockerfile"))


@pytest.mark.slow
def test_docker_compose_reads_the_file(tmp_path):
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "compose", "version"], capture_output=True).returncode
    ):
        pytest.skip("docker has no plugin `compose`")
    for file in DEPLOY.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    values = {**template(), "POSTGRES_PASSWORD": "x"}
    (tmp_path / ".env").write_text("".join(f"{k}={v}\n" for k, v in values.items()))

    run(docker, "compose", "--file", str(tmp_path / "compose.yaml"), "config", "--quiet")


@pytest.mark.slow
def test_caddy_reads_its_file():
    caddy = program("caddy")
    variables = {name: "x:80" for name in SERVICES["proxy"]["environment"]}

    run(
        *(caddy, "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")),
        env={**variables, "SITE_URL": "https://a.test", "MARKETPLACE_URL": "https://b.test"},
    )


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_accepts_each_unit(unit, tmp_path):
    """The programs of this environment stand for those of the installation."""
    systemd = program("systemd-analyze")
    name = unit.name.replace("@.", "@1.")
    text = unit.read_text().replace(f"{INSTALLED}/.venv/bin", str(PROGRAMS))
    (tmp_path / name).write_text(text)

    run(systemd, "verify", "--man=no", str(tmp_path / name))


def test_the_units_run_the_commands_of_the_containers():
    def bare(words):
        """A command without paths, addresses and the name of the instance."""
        text = (
            " ".join(words).replace(f"{INSTALLED}/.venv/bin/", "").replace("0.0.0.0", "127.0.0.1")
        )
        return re.sub(r" --hostname \S+| --schedule \S+", "", text)

    commands = {bare(service["command"]) for name, service in PRODUCT.items() if name != "backup"}
    started = {
        bare(line.split())
        for unit in UNITS
        for line in re.findall(r"^ExecStart(?:Pre)?=(.+)$", unit.read_text(), flags=re.MULTILINE)
    }

    backups = {command for command in started if "backup" in command}
    folder = "/var/backups/captions"
    assert commands == started - backups
    assert all(
        each.replace(folder, "/app/backups") in PRODUCT["backup"]["command"][-1] for each in backups
    )


def test_each_variable_of_the_files_is_in_the_operators_table():
    set_by_compose = {name for service in PRODUCT.values() for name in service["environment"]}
    known = "".join((ROOT / "docs" / name).read_text() for name in ("operator.md", "settings.md"))
    # The proxy and the database of compose.yaml have these, and the worker's is Prometheus's.
    names = (template().keys() | set_by_compose) - {"POSTGRES_PASSWORD"}

    assert [name for name in sorted(names) if f"`{name}`" not in known] == []


def test_the_template_names_each_variable_that_compose_needs():
    text = (DEPLOY / "compose.yaml").read_text()

    assert set(re.findall(r"\$\{([A-Z_]+)", text)) <= template().keys()


def test_the_template_has_no_secret():
    assert [k for k, v in template().items() if re.search("KEY|PASSWORD$|TOKEN", k) and v] == []


def test_no_container_of_the_product_can_change_itself_or_gain_rights():
    for name, service in PRODUCT.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
    assert re.search(r"^USER \d+$", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)


def test_only_the_proxy_can_be_reached_from_outside():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]


def test_each_service_that_others_wait_for_has_a_check_of_health():
    waited_for = {
        other
        for service in SERVICES.values()
        for other, how in service.get("depends_on", {}).items()
        if how["condition"] == "service_healthy"
    }

    assert [name for name in waited_for if "healthcheck" not in SERVICES[name]] == []


def test_named_volumes_are_declared():
    used = {
        volume.partition(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", [])
    }

    assert {name for name in used if not name.startswith(".")} == COMPOSE["volumes"].keys()


def test_the_image_has_each_package():
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())

    packages = config["tool"]["importlinter"]["root_packages"]
    assert [name for name in packages if f"!{name}" not in rules] == []
